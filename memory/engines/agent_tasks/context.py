"""What an agent should know of a task, within a token budget."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import islice
from typing import Any, Protocol

from django.utils import timezone
from django.utils.module_loading import import_string

from memory.actors import Actor
from memory.conf import conf
from memory.engines.agent_tasks.completion import list_conflicts
from memory.engines.facts.assessment import attach_belief, searchable_rows
from memory.engines.fields.tasks import BUDGET
from memory.engines.merging.plan import PlanItem
from memory.models import AgentTask, Branch, Fact, TaskAgent
from memory.ranking import count_tokens, prompt_line

MAX_NEWEST, MAX_LEARNED = 30, 10  # facts of the task's branch, and of each agent's
MAX_AGENTS = 20  # of whom facts are shown, the last that joined
MAX_CONFLICTS = 10
MAX_PLANS = 5  # parts whose conflicts are listed: each takes the plan of a merge


@dataclass(frozen=True)
class Learned:
    """An agent's part of a task, and the newest facts that it wrote on its branch."""

    part: TaskAgent
    facts: Sequence[Fact] = ()


@dataclass(frozen=True)
class TaskContext:
    """A task with what its agents learned. ``truncated`` where the budget left facts out; ``archived`` where
    the task's branch is, so that nothing can be merged into it and no conflict is listed.
    """

    task: AgentTask
    agents: Sequence[Learned] = ()
    facts: Sequence[Fact] = ()
    conflicts: Sequence[tuple[TaskAgent, PlanItem]] = ()
    tokens: int = 0
    truncated: bool = False
    archived: bool = False


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
    limit = BUDGET.check("max_tokens", max_tokens)
    budget = Budget(limit // 2)
    shown = {part.pk: list_learned(actor, part.branch) for part in task.parts[-MAX_AGENTS:]}
    agents = [Learned(part, budget.take_fitting(shown.get(part.pk, ()))) for part in task.parts]
    cut, budget.limit, budget.is_over = budget.is_over, limit, False
    facts = budget.take_fitting(list_learned(actor, task.branch, MAX_NEWEST))
    archived = task.branch.archived_at is not None
    conflicts = [] if archived else list_waiting(task, task.parts, actor)
    return TaskContext(task, agents, facts, conflicts, budget.spent, cut or budget.is_over, archived)


def list_learned(actor: Actor, branch: Branch, limit: int = MAX_LEARNED) -> Sequence[Fact]:
    """Return the newest facts that a branch itself wrote, where the actor may read it."""
    if not actor.may_use(branch.name):
        return ()
    lineage = branch.lineage()
    rows = searchable_rows(lineage, timezone.now()).filter(branch=branch)
    return attach_belief(rows.newest(limit), lineage)


def list_waiting(
    task: AgentTask, parts: Iterable[TaskAgent], actor: Actor
) -> list[tuple[TaskAgent, PlanItem]]:
    """Return the first conflicts that merges of parts left and nobody has settled since."""
    waiting = (part for part in parts if is_readable(part, actor) and part.open_conflicts)
    found: list[tuple[TaskAgent, PlanItem]] = []
    for part in islice(waiting, MAX_PLANS):
        part.task = task
        found += [(part, item) for item in list_conflicts(part, actor)]
        if len(found) >= MAX_CONFLICTS:
            break
    return found[:MAX_CONFLICTS]


def is_readable(part: TaskAgent, actor: Actor) -> bool:
    return actor.may_use(part.branch.name) and not part.branch.archived_at


# ---- the template ------------------------------------------------------------------------------------


class TemplateSuggester(Protocol):
    """Interface of the app that knows templates; DAY1["template_suggester"] names the class."""

    def suggest_template(self, *, task_type: str, description: str, actor: Actor) -> str | None:
        """Return the name of a template that the actor may use and that fits, if there is one."""


def suggest_template(values: Mapping[str, Any], actor: Actor) -> str | None:
    """Return the name of a template for a task with these fields. Writes nothing."""
    path = conf().template_suggester
    if not path:
        return None
    description = "\n".join(text for name in ("name", "description") if (text := values.get(name, "")))
    return load_suggester(path).suggest_template(
        task_type=values.get("task_type", ""), description=description, actor=actor
    )


@cache
def load_suggester(path: str) -> TemplateSuggester:
    found: TemplateSuggester = import_string(path)()
    return found
