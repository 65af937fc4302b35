"""The end of an agent's part and of a task: hooks, the merge into the task's branch, the merge request."""

from collections.abc import Container, Sequence
from dataclasses import dataclass, replace
from typing import Protocol
from uuid import UUID

from memory.actors import Actor
from memory.conf import conf
from memory.engines.audit.trail import record_entry
from memory.engines.fields.merges import MAX_IDS
from memory.engines.merging.builder import build_plan
from memory.engines.merging.checked_merge import MergeCheck, check_plan, merge_checked
from memory.engines.merging.plan import APPLIED, CONFLICT, IDENTICAL, FullPlan, PlanItem
from memory.engines.merging.requests import MergeRequestEngine
from memory.engines.merging.strategies import CHERRY_PICK, MergeOptions, find_branches
from memory.extensions import load_classes
from memory.models import AgentTask, Branch, Fact, TaskAgent
from memory.models.policies import Gate
from memory.texts import split_names

MIN_DURABLE_CONFIDENCE = 0.8
MAX_CONFLICTS = 20  # that an answer names
MAX_MESSAGE_LENGTH = 500


class TaskHook(Protocol):
    """Interface of another app's part in the end of a task; DAY1["task_hooks"] names the classes.

    It is called before the merge and may be called again after an interruption, so that it writes nothing
    twice. It may run in a caller's transaction: what asks a provider is queued, not done here.
    """

    def complete_agent(self, part: TaskAgent, actor: Actor) -> None:
        """Do what is left to do on an agent's branch before it is merged into the task's."""

    def complete_task(self, task: AgentTask, actor: Actor) -> None:
        """Do what is left to do on a task's branch before its durable facts are offered to the parent."""

    def cancel_task(self, task: AgentTask, actor: Actor) -> None:
        """Do what is left to do of a task that is cancelled, in the transaction that cancels it."""


@dataclass(frozen=True)
class CompletedPart:
    """An agent's part after its merge, with the first conflicts that wait for a decision."""

    part: TaskAgent
    conflicts: Sequence[PlanItem] = ()


@dataclass(frozen=True)
class CompletedTask:
    """A completed task: the facts that its merge request offers, agents that had not completed their part."""

    task: AgentTask
    durable: Sequence[UUID] = ()
    left: Sequence[str] = ()


# ---- hooks -----------------------------------------------------------------------------------------


def run_hooks(name: str, subject: TaskAgent | AgentTask, actor: Actor) -> None:
    """Call a method of every hook, in the order of the setting."""
    for hook in load_classes(tuple(conf().task_hooks)):
        getattr(hook, name)(subject, actor)


def act_for_task(actor: Actor) -> Actor:
    """Return the actor on all branches of a task and its parent, whatever its branch patterns.

    The engine has checked that the actor has a part in the task; the record still names who did it.
    """
    return replace(actor, branch_patterns=())


def plan_return(source: Branch, target: Branch, actor: Actor) -> FullPlan:
    """Return what a merge would do with the changes of a branch of a task."""
    options = make_options(source, target, actor)
    return build_plan(options.points, options.strategy)


def make_options(source: Branch, target: Branch, actor: Actor) -> MergeOptions:
    """Return the options with which the changes of a branch of a task are merged."""
    return MergeOptions(*find_branches(actor, source.name, target.name))


# ---- an agent's part -------------------------------------------------------------------------------


def merge_part(part: TaskAgent, actor: Actor) -> CompletedPart:
    """Merge an agent's branch into its task's; what conflicts stays and is named."""
    message = f"{part.agent_id} completed its part of {part.task.slug}."[:MAX_MESSAGE_LENGTH]
    # No scope merge is asked for: a task's branch is shared work, and only a merge request leads out of it.
    options = make_options(part.branch, part.task.branch, actor)
    merged = merge_checked(options, actor, message, checker=check_part)
    if merged.commit:  # none where an interrupted call has merged already
        part.merge_commit, part.merge_counts = merged.commit.pk, merged.counts
    part.open_conflicts = merged.open_conflicts
    return CompletedPart(part, list_conflicts(part, actor)[:MAX_CONFLICTS])


def check_part(plan: FullPlan, options: MergeOptions) -> MergeCheck:
    """Ask the gates that somebody set for the task's branch, but for conflicts, which stay where they are.

    Without an entry for that branch nothing is asked.
    """
    check = check_plan(plan, options)
    results = () if check.policy.is_default else check.results
    return replace(check, results=tuple(one for one in results if one.name != Gate.CONFLICTS))


def list_conflicts(part: TaskAgent, actor: Actor) -> list[PlanItem]:
    """Return the conflicts that keep a part's changes from the task's branch."""
    return plan_return(part.branch, part.task.branch, actor).open_conflicts if part.open_conflicts else []


def store_part(actor: Actor, done: CompletedPart) -> None:
    """Store what became of an agent's part."""
    part = done.part
    part.state, part.completed_at = TaskAgent.State.COMPLETED, actor.write_time()
    part.save(update_fields=["state", "completed_at", "merge_commit", "merge_counts", "open_conflicts"])
    detail = {"agent": part.agent_id, "branch": part.branch.name, "open_conflicts": part.open_conflicts}
    record_entry(actor, "task.agent_complete", part.task.slug, detail)


def leave_parts(task: AgentTask) -> list[str]:
    """Mark the agents that still work as having left; return them."""
    working = task.agents.filter(state=TaskAgent.State.WORKING)
    agents = list(working.values_list("agent_id", flat=True))
    working.update(state=TaskAgent.State.LEFT)
    return agents


# ---- a task ----------------------------------------------------------------------------------------


def list_durable(task: AgentTask, actor: Actor) -> list[UUID]:
    """Return the facts that the task changed and that outlive it: current, sure enough, and of a category
    that the project keeps.

    One that the parent has already is among them: a key of the task may not read the parent, and shall not
    learn it from what is left out.
    """
    categories = durable_categories(task)
    plan = plan_return(task.branch, task.parent, actor)
    changed = plan.select_items(Fact.KIND.name, (APPLIED, CONFLICT, IDENTICAL))
    return [item.uid for item in changed if is_durable(item.theirs, categories)]


def is_durable(fact: Fact, categories: Container[str]) -> bool:
    """Return whether a fact of a task outlives it."""
    is_current = not fact.deleted and fact.status == Fact.Status.ACTIVE
    is_sure = round(fact.confidence, 6) >= MIN_DURABLE_CONFIDENCE  # 0.7 + 0.1 counts as 0.8
    return is_current and is_sure and fact.category in categories


def durable_categories(task: AgentTask) -> set[str]:
    """Return the categories of facts that outlive a task: the project's own, else those of the server."""
    return set(split_names(task.project.durable_categories) or conf().durable_categories)


def request_merge(task: AgentTask, ids: Sequence[UUID], actor: Actor, text: str) -> UUID:
    """Open the merge request that offers these facts of a task to its parent; return its id."""
    request = MergeRequestEngine().create_request(
        source=task.branch.name,
        target=task.parent.name,
        title=task.name,
        description=text,
        strategy=CHERRY_PICK,
        ids=ids,
        actor=act_for_task(actor),
    )
    return request.pk


def store_task(actor: Actor, task: AgentTask, ids: Sequence[UUID], result: str) -> CompletedTask:
    """Store the end of a task, with the merge request that offers its durable facts."""
    offered, text = ids[:MAX_IDS], result or task.description
    if len(ids) > MAX_IDS:  # the others stay on the task's branch; nobody shall believe that all are here
        text = f"{len(ids) - MAX_IDS} more are on {task.branch.name}. {text}"
    task.merge_request_id = request_merge(task, offered, actor, text) if offered else None
    task.durable = len(offered)
    left = leave_parts(task)
    end_task(task, AgentTask.State.COMPLETED, actor, result)
    record_entry(actor, "task.complete", task.slug, {"durable": task.durable, "left": left})
    return CompletedTask(task, offered, left)


def end_task(task: AgentTask, state: str, actor: Actor, result: str) -> None:
    task.state, task.completed_at, task.result = state, actor.write_time(), result
    task.save(update_fields=["state", "completed_at", "result", "merge_request_id", "durable"])
