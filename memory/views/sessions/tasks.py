"""Tasks of agents: the board, and the page of one."""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from memory.actors import Actor
from memory.engines.agent_tasks.engine import TaskEngine
from memory.engines.agent_tasks.rules import MOVES
from memory.engines.fields.base import Use
from memory.engines.fields.tasks import MAX_BUDGET, TASK
from memory.engines.merging.requests import MergeRequestEngine
from memory.models import AgentTask, TaskObjective
from memory.operations.tasks import TASKS
from memory.views.frame.frames import add_page
from memory.views.frame.navigation import Section, add_section
from memory.views.generic.actions import Action, ActionPage, Caution
from memory.views.generic.list_page import ALL
from memory.views.generic.state_list import StateListPage

add_section(Section("tasks", gettext_lazy("Tasks"), "task", "t", order=30, place="branches"))

task_engine = TaskEngine()
State = AgentTask.State
STATES = {
    State.ACTIVE.value: gettext_lazy("In progress"),
    State.COMPLETED.value: gettext_lazy("Completed"),
    State.CANCELLED.value: gettext_lazy("Cancelled"),
    ALL: gettext_lazy("All"),
}
# What a button says that moves an objective, by its present and its next state.
MOVE_WORDS = {
    ("todo", "active"): gettext_lazy("Begin"),
    ("active", "todo"): gettext_lazy("Put back"),
    ("active", "done"): gettext_lazy("Done"),
    ("active", "blocked"): gettext_lazy("Blocked"),
    ("done", "active"): gettext_lazy("Reopen"),
    ("blocked", "active"): gettext_lazy("Go on"),
}


def tell_completed_part(done: Any) -> str:
    """Return what came of an agent's part."""
    count, words = done.part.open_conflicts, {"agent": done.part.agent_id, "count": done.part.open_conflicts}
    if not count:
        return _("%(agent)s completed its part.") % words
    text = ngettext(
        "%(agent)s completed its part; %(count)s conflict waits for a decision.",
        "%(agent)s completed its part; %(count)s conflicts wait for a decision.",
        count,
    )
    return Caution(text % words)


def tell_completed(done: Any) -> str:
    """Return what a completed task offers."""
    if not done.task.merge_request_id:
        return _("The task is completed. There was nothing durable to offer.")
    text = ngettext(
        "The task is completed: %(count)s fact is offered in a merge request.",
        "The task is completed: %(count)s facts are offered in a merge request.",
        len(done.durable),
    )
    return text % {"count": len(done.durable)}


@add_page("tasks", "tasks")
class Tasks(StateListPage):
    """The board of tasks by state, and the form for a new one."""

    template_name = "tasks.html"
    section = "tasks"
    is_live = spans_branches = True
    title = gettext_lazy("Tasks")
    operation, states = TASKS["list"], STATES
    actions = {
        "create": Action(
            TASKS["create"],
            gettext_lazy("The task was made."),
            fields=TASK.field_names(Use.FORM),
            opens=("task", "task.slug"),
            button=gettext_lazy("Make the task"),
        )
    }
    extra_context = {
        "lead": gettext_lazy(
            "Work that agents share: each has a branch of its own, and what lasts is offered to the parent."
        ),
        "search": gettext_lazy("Filters, such as agent:NAME"),
        "drawing": "task",
        "form_title": gettext_lazy("A new task"),
        "none_fits": gettext_lazy("No task is in this state."),
        "none_yet": gettext_lazy(
            "A task is a piece of work with objectives. Make one here, or let an agent do so:"
        ),
        "show_all": gettext_lazy("Tasks in progress"),
    }

    def count_rows(self) -> Mapping[str, int]:
        return task_engine.count_tasks(actor=self.reader.actor)


@add_page("tasks/<str:task>", "task")
class TaskPage(ActionPage):
    """One task: objectives, agents with their branches, what was learned, and what may be done now."""

    template_name = "task.html"
    section = "tasks"
    is_live = spans_branches = True
    actions = {
        "objective": Action(
            TASKS["objective"], gettext_lazy("Objective %(n)s was changed."), takes=("n", "state")
        ),
        "complete_agent": Action(TASKS["complete_agent"], tell_completed_part, takes=("agent_id",)),
        "complete": Action(
            TASKS["complete"],
            tell_completed,
            fields=("result",),
            button=gettext_lazy("Complete the task"),
            drawing="check",
        ),
        "cancel": Action(
            TASKS["cancel"],
            gettext_lazy("The task is cancelled, and its branches are archived."),
            fields=("result",),
            joins="complete",
            button=gettext_lazy("Cancel the task"),
            drawing="close",
            tone="danger",
        ),
    }

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        actor = self.reader.actor
        found = task_engine.get_task_context(task=self.kwargs["task"], actor=actor, max_tokens=MAX_BUDGET)
        may_change = self.reader.is_now and task_engine.may_change(task=found.task, actor=actor)
        parts = [one.part for one in found.agents]
        task_engine.measure_parts(parts=parts)
        return super().get_context_data(
            title=found.task.name,
            found=found,
            objectives=[(one, list_moves(one) if may_change else []) for one in found.task.steps],
            done=sum(one.state == TaskObjective.State.DONE for one in found.task.steps),
            agents=parts,
            learned=list_learned(found),
            working=sum(part.state == part.State.WORKING for part in parts),
            may_change=may_change,
            merge_request=find_request(found.task, actor),
            **{**kwargs, "task": found.task},
        )


def find_request(task: AgentTask, actor: Actor) -> Any:
    """Return the merge request that offers what is durable of a task; None without one."""
    request_id = task.merge_request_id
    return MergeRequestEngine().get_request(request_id=request_id, actor=actor) if request_id else None


def list_moves(objective: TaskObjective) -> list[tuple[str, Any]]:
    """Return the next states of an objective, each with the words of its button."""
    return [(state, MOVE_WORDS[objective.state, state]) for state in MOVES[objective.state]]


def list_learned(found: Any) -> list[tuple[Any, Any]]:
    """Return the facts of a task's context, each with its branch, the newest first."""
    own = [(fact, found.task.branch) for fact in found.facts]
    learned = [(fact, one.part.branch) for one in found.agents for fact in one.facts]
    return sorted([*own, *learned], key=lambda pair: pair[0].uid, reverse=True)
