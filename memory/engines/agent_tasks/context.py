"""What an agent should know of a task, within a token budget."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from django.utils import timezone

from memory.actors import Actor
from memory.engines.agent_tasks.completion import list_conflicts
from memory.engines.facts.assessment import attach_belief, searchable_rows
from memory.engines.merging.plan import PlanItem
from memory.engines.support import validation as c
from memory.models import AgentTask, Branch, Fact, TaskAgent
from memory.ranking import count_tokens, prompt_line

MIN_TOKENS, MAX_TOKENS, MAX_BUDGET = 100, 1500, 16_000
MAX_NEWEST, MAX_LEARNED = 30, 10  # facts of the task's branch, and of each agent's
MAX_AGENTS = 20  # of whom facts are shown, the last that joined
MAX_CONFLICTS = 10


@dataclass(frozen=True)
class Learned:
    """An agent's part of a task, and the newest facts that it wrote on its branch."""

    part: TaskAgent
    facts: Sequence[Fact] = ()


@dataclass(frozen=True)
class TaskContext:
    """A task with what its agents learned. ``truncated`` where the budget left facts out."""

    task: AgentTask
    agents: Sequence[Learned] = ()
    facts: Sequence[Fact] = ()
    conflicts: Sequence[tuple[TaskAgent, PlanItem]] = ()
    tokens: int = 0
    truncated: bool = False


@dataclass
class Budget:
    """Tokens that may still be spent on facts."""

    limit: int
    spent: int = 0
    is_over: bool = False
    seen: set = field(default_factory=set)

    def take_fitting(self, facts: Iterable[Fact]) -> list[Fact]:
        """Return the first facts that fit and were not taken before."""
        taken = []
        for fact in facts:
            cost = count_tokens(prompt_line(fact.essence)) + 1
            if self.is_over or self.spent + cost > self.limit:
                self.is_over = True
                break
            if fact.uid not in self.seen:
                self.seen.add(fact.uid)
                self.spent += cost
                taken.append(fact)
        return taken


def load_context(task: AgentTask, actor: Actor, max_tokens: int) -> TaskContext:
    """Return a task's context: half of the budget is for what agents learned, the rest for its branch."""
    limit = c.integer_check(MIN_TOKENS, MAX_BUDGET)("max_tokens", max_tokens)
    parts = list(task.agents.all())
    budget = Budget(limit // 2)
    shown = {part.pk: list_learned(actor, part.branch) for part in parts[-MAX_AGENTS:]}
    agents = [Learned(part, budget.take_fitting(shown.get(part.pk, ()))) for part in parts]
    cut, budget.limit, budget.is_over = budget.is_over, limit, False
    facts = budget.take_fitting(list_learned(actor, task.branch, MAX_NEWEST))
    conflicts = [(part, item) for part in parts for item in list_waiting(part, task, actor)][:MAX_CONFLICTS]
    return TaskContext(task, agents, facts, conflicts, budget.spent, cut or budget.is_over)


def list_learned(actor: Actor, branch: Branch, limit: int = MAX_LEARNED) -> Sequence[Fact]:
    """Return the newest facts that a branch itself wrote, where the actor may read it."""
    if not actor.may_use(branch.name):
        return ()
    lineage = branch.lineage()
    rows = searchable_rows(lineage, timezone.now()).filter(branch=branch)
    return attach_belief(rows.newest(limit), lineage)


def list_waiting(part: TaskAgent, task: AgentTask, actor: Actor) -> Sequence[PlanItem]:
    """Return conflicts that a part's merge left and nobody has settled since."""
    part.task = task
    is_open = part.open_conflicts and actor.may_use(part.branch.name) and not part.branch.archived_at
    return list_conflicts(part, actor)[:MAX_CONFLICTS] if is_open else ()
