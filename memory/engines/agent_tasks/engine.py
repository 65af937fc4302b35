"""Tasks of agents: made with a branch, joined by agents, merged into their branch, offered to the parent."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Annotated, Any, Unpack
from uuid import UUID

from django.db.models import Count

from memory.actors import Actor
from memory.db.raw_select import fetch_instances
from memory.db.transactions import retry_methods, write_transaction
from memory.engines.access.work_handles import WorkEngine, get_owner_name
from memory.engines.agent_tasks import completion
from memory.engines.agent_tasks.context import TaskContext, load_context, suggest_template
from memory.engines.agent_tasks.rules import (
    MAX_AGENTS,
    PREFIX,
    check_move,
    choose_agent,
    choose_slug,
    find_objective,
    find_part,
    find_task,
    has_part,
    name_agent_branch,
    require_active,
    require_part,
    require_working,
)
from memory.engines.audit.trail import record_entry
from memory.engines.branches.distance import annotate_distances
from memory.engines.branches.manager import BranchManager
from memory.engines.fields.base import Use
from memory.engines.fields.filters import make_filter_checks
from memory.engines.fields.orders import TASKS
from memory.engines.fields.tasks import (
    BUDGET,
    JOINING_AGENT,
    MAX_TOKENS,
    OBJECTIVE,
    TASK,
    TASK_FILTERS,
    TaskFields,
)
from memory.engines.support import validation as c
from memory.engines.support.idempotency import Keep, keep_nothing
from memory.engines.support.pagination import Page, Sorting, paginate
from memory.engines.versions.branch_access import filter_allowed_branches
from memory.engines.versions.lookup import MAIN, find_branch
from memory.exceptions import Exists, Invalid
from memory.models import AgentTask, Branch, TaskAgent, TaskObjective

CHECKS = TASK.field_checks(Use.CREATE)
ENDING = TASK.field_checks(Use.UPDATE)
CHANGING = OBJECTIVE.field_checks(Use.UPDATE)
FILTERS = make_filter_checks(TASK_FILTERS)
State = AgentTask.State


@dataclass(frozen=True)
class CreatedTask:
    """New task, with the name of a template that fits it, if there is one."""

    task: AgentTask
    suggested_template: str | None = None


@dataclass(frozen=True)
class JoinedTask:
    """An agent's part of a task, with a work handle; ``created`` is False where it had joined."""

    task: AgentTask
    part: TaskAgent
    work: str
    created: bool


@retry_methods
class TaskEngine:
    def create_task(
        self, *, name: str, actor: Actor, objectives: Sequence[str] = (), **fields: Unpack[TaskFields]
    ) -> CreatedTask:
        """Create a task with its branch ``task/<slug>``, forked from ``parent``, main by default.

        Raises Invalid, UnknownField, Exists, BranchExists, BranchNotFound, BranchArchived, scope and branch
        refusals.
        """
        values = c.validate({"name": name, "objectives": objectives, **fields}, CHECKS)
        slug = choose_slug(values.get("slug", ""), values["name"])
        actor.require_scope("write", PREFIX + slug)
        suggested = suggest_template(values, actor)
        with write_transaction():
            if AgentTask.objects.filter(project=actor.project_id, slug=slug).exists():
                raise Exists(
                    "A task {slug} exists already: join it, or give this one another short name.",
                    slug=slug,
                    field="slug",
                )
            task = _add_task(actor, slug, values)
            record_entry(actor, "task.create", slug, {"branch": task.branch.name})
        return CreatedTask(_load_parts(task), suggested)

    def get_task(self, *, task: UUID | str, actor: Actor) -> AgentTask:
        """Return a task by its id or slug, with steps and agents. Raises NotFound, BranchForbidden."""
        row = find_task(actor, task)
        _load_all_parts([row])
        return row

    def list_tasks(
        self, *, actor: Actor, state: str = "", agent_id: str = "", **paging: Unpack[Sorting]
    ) -> Page[AgentTask]:
        """List the tasks that the actor may see, with objectives and agents, the newest first."""
        actor.require_scope("read")
        filters = c.validate({"state": state, "agent_id": agent_id}, FILTERS)
        rows = every = _list_visible(actor)
        if filters["state"]:
            rows = rows.filter(state=filters["state"])
        if filters["agent_id"]:
            rows = every = rows.filter(agents__agent_id=filters["agent_id"])
        return paginate(rows, TASKS, **paging, of=every, prepare=_load_all_parts)

    def count_tasks(self, *, actor: Actor) -> dict[str, int]:
        """Return how many tasks the actor may see, by state."""
        actor.require_scope("read")
        counts = _list_visible(actor).order_by().values_list("state").annotate(n=Count("pk"))
        return dict.fromkeys(State.values, 0) | dict(counts)

    def may_change(self, *, task: AgentTask, actor: Actor) -> bool:
        """Return whether the actor may change a task now: it made or joined it, or curates."""
        is_open = task.state == State.ACTIVE and actor.has_scope("write")
        return is_open and actor.may_use(task.branch.name) and has_part(actor, task)

    def measure_parts(self, *, parts: Sequence[TaskAgent]) -> None:
        """Set ``ahead`` and ``behind`` of each agent's branch, against the task's."""
        annotate_distances([part.branch for part in parts])

    def get_task_context(
        self, *, task: UUID | str, actor: Actor, max_tokens: Annotated[int, BUDGET] = MAX_TOKENS
    ) -> TaskContext:
        """Return what an agent should know of a task: objectives, agents and what each learned, the newest
        facts of its branch, conflicts that wait. Texts of facts keep within ``max_tokens``.

        Raises NotFound, Invalid, BranchForbidden.
        """
        return load_context(self.get_task(task=task, actor=actor), actor, max_tokens)

    def join_task(
        self, *, task: UUID | str, actor: Actor, agent_id: Annotated[str, JOINING_AGENT] = ""
    ) -> JoinedTask:
        """Give an agent its branch ``task/<slug>/<agent>`` and a work handle on it.

        Who joined already gets the same branch, and works again where its part was completed; with another
        key than before, the part is that key's from now on. Raises NotFound, Invalid, IllegalTransition,
        BranchArchived, AgentForbidden, scope and branch refusals.
        """
        agent = choose_agent(actor, agent_id)
        with write_transaction():
            row = find_task(actor, task, "write", lock=True)
            require_active(row)
            part = row.agents.select_related("branch").filter(agent_id=agent).first()
            created = part is None
            part = _add_part(actor, row, agent) if part is None else _resume_part(actor, row, part)
            _, work = WorkEngine().open_work(branch_name=part.branch.name, actor=actor)
        return JoinedTask(_load_parts(row), part, work, created)

    def update_objective(
        self, *, task: UUID | str, n: int, actor: Actor, keep: Keep = keep_nothing, **fields: str
    ) -> TaskObjective:
        """Change the state of an objective, or what is noted of it.

        ``keep`` is called with the result, in the transaction that stores it. Raises NotFound, Invalid,
        UnknownField, IllegalTransition, Conflict for a step that another agent is at, scope and branch
        refusals.
        """
        values = c.validate(fields, CHANGING)
        if not values:
            raise Invalid("{field} is needed.", field="state")
        with write_transaction():
            row = find_task(actor, task, "write", lock=True)
            require_part(actor, row)
            require_active(row)
            objective = find_objective(row, n)
            check_move(objective, values.get("state", objective.state), actor.agent_id)
            _change_objective(actor, objective, values)
            record_entry(actor, "task.objective", row.slug, {"n": n, "state": objective.state})
            keep(objective)
        return objective

    def complete_agent(
        self, *, task: UUID | str, actor: Actor, agent_id: str = "", keep: Keep = keep_nothing
    ) -> completion.CompletedPart:
        """Complete an agent's part: run the hooks, then merge its branch into the task's with ``auto``.

        Conflicts stay unmerged and are named. Whoever may write on a task may merge into its branch: it is
        shared work, and only a merge request leads out of it. Interrupted, it may be called again; ``keep``
        is called with the result in the last transaction. Raises NotFound, IllegalTransition, AgentForbidden,
        scope and branch refusals.
        """
        agent = choose_agent(actor, agent_id)
        row = find_task(actor, task, "write")
        require_part(actor, row)
        require_active(row)
        part = find_part(row, agent)
        actor.require_scope("read", part.branch.name)
        require_working(part)
        completion.run_hooks("complete_agent", part, actor)
        done = completion.merge_part(part, actor)
        with write_transaction():
            require_active(find_task(actor, row.pk, "write", lock=True))
            require_working(find_part(row, agent))
            completion.store_part(actor, done)
            keep(done)
        return done

    def complete_task(
        self, *, task: UUID | str, actor: Actor, result: str = "", keep: Keep = keep_nothing
    ) -> completion.CompletedTask:
        """Complete a task: run the hooks, then offer its durable facts to the parent in a merge request.

        Agents that still work are named as having left; their branches stay as they are. ``keep`` is called
        with the result in the last transaction. Raises NotFound, Invalid, IllegalTransition, scope and branch
        refusals.
        """
        values = c.validate({"result": result}, ENDING)
        row = find_task(actor, task, "write")
        require_part(actor, row)
        require_active(row)
        completion.run_hooks("complete_task", row, actor)
        ids = completion.list_durable(row, actor)
        with write_transaction():
            row = find_task(actor, row.pk, "write", lock=True)
            require_active(row)
            done = completion.store_task(actor, row, ids, values["result"])
            done = replace(done, task=_load_parts(done.task))
            keep(done)
        return done

    def cancel_task(self, *, task: UUID | str, actor: Actor, result: str = "") -> AgentTask:
        """Cancel a task and archive its branches: nothing is merged, nothing is deleted.

        Raises NotFound, Invalid, IllegalTransition, scope and branch refusals.
        """
        values = c.validate({"result": result}, ENDING)
        with write_transaction():
            row = find_task(actor, task, "write", lock=True, grows=False)
            require_part(actor, row)
            require_active(row)
            parts = list(row.agents.select_related("branch"))
            for branch in (*(part.branch for part in parts), row.branch):
                BranchManager().archive_branch(name=branch.name, actor=completion.act_for_task(actor))
            completion.run_hooks("cancel_task", row, actor)
            completion.leave_parts(row)
            completion.end_task(row, State.CANCELLED, actor, values["result"])
            record_entry(actor, "task.cancel", row.slug)
        return _load_parts(row)


# ---- pieces ----------------------------------------------------------------------------------------


def _list_visible(actor: Actor) -> Any:
    return filter_allowed_branches(AgentTask.objects.filter(project=actor.project_id), actor)


def _load_parts(task: AgentTask) -> AgentTask:
    """Return a task as it is now, with its branches, steps and agents."""
    row = AgentTask.objects.get(pk=task.pk)
    _load_all_parts([row])
    return row


def _load_all_parts(tasks: Sequence[AgentTask]) -> None:
    """Set branches, steps and agents of tasks: few reads by key, where prefetching takes a queryset each."""
    by_id = {task.pk: task for task in tasks}
    steps = fetch_instances(TaskObjective.objects.all(), "task", by_id)
    parts = fetch_instances(TaskAgent.objects.all(), "task", by_id)
    pks = {pk for task in tasks for pk in (task.branch_id, task.parent_id)} | {one.branch_id for one in parts}
    branches = {one.pk: one for one in fetch_instances(Branch.objects.all(), "id", pks)}
    for task in tasks:
        task.branch, task.parent = branches[task.branch_id], branches[task.parent_id]
        task.steps, task.parts = [], []
    for step in sorted(steps, key=attrgetter("n")):
        by_id[step.task_id].steps.append(step)
    for part in sorted(parts, key=attrgetter("pk")):
        part.task, part.branch = by_id[part.task_id], branches[part.branch_id]
        part.task.parts.append(part)


def _add_task(actor: Actor, slug: str, values: dict[str, Any]) -> AgentTask:
    parent, now = values.get("parent") or MAIN, actor.write_time()
    branch = BranchManager().create_branch(
        name=PREFIX + slug, parent=parent, purpose=values["name"], actor=actor
    )
    task = AgentTask.objects.create(
        project_id=actor.project_id,
        slug=slug,
        branch=branch,
        parent=find_branch(actor, parent),
        owner=get_owner_name(actor),
        created_by=actor.label,
        created_at=now,
        **{name: values[name] for name in ("name", "task_type", "description") if name in values},
    )
    steps = enumerate(values["objectives"], 1)
    TaskObjective.objects.bulk_create(
        [TaskObjective(task=task, n=n, text=text, updated_at=now) for n, text in steps]
    )
    return task


def _add_part(actor: Actor, task: AgentTask, agent_id: str) -> TaskAgent:
    if task.agents.count() >= MAX_AGENTS:
        raise Invalid("A task has at most {most} agents.", most=MAX_AGENTS, field="agent_id")
    branch = BranchManager().create_branch(
        name=name_agent_branch(task, agent_id), parent=task.branch.name, purpose=task.name, actor=actor
    )
    part = TaskAgent.objects.create(
        task=task,
        agent_id=agent_id,
        branch=branch,
        owner=get_owner_name(actor),
        joined_at=actor.write_time(),
    )
    record_entry(actor, "task.join", task.slug, {"agent": agent_id, "branch": branch.name})
    return part


def _resume_part(actor: Actor, task: AgentTask, part: TaskAgent) -> TaskAgent:
    """Return the part of an agent that had joined, now the actor's; a completed one is open again."""
    taken_over = part.owner != (owner := get_owner_name(actor))
    if taken_over:
        part.owner = owner
        part.save(update_fields=["owner"])
    again = TaskAgent.objects.filter(pk=part.pk).exclude(state=TaskAgent.State.WORKING)
    reopened = again.update(state=TaskAgent.State.WORKING, completed_at=None)
    if reopened:
        part.state, part.completed_at = TaskAgent.State.WORKING, None
    if taken_over or reopened:
        record_entry(actor, "task.join", task.slug, {"agent": part.agent_id, "branch": part.branch.name})
    return part


def _change_objective(actor: Actor, objective: TaskObjective, values: dict[str, Any]) -> None:
    for name, value in values.items():
        setattr(objective, name, value)
    objective.agent_id = actor.agent_id or actor.label[:200]
    objective.updated_at = actor.write_time()
    objective.save(update_fields=[*values, "agent_id", "updated_at"])
