"""Tasks of agents: the board, and the page of one."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from memory.actors import Actor
from memory.engines.agent_tasks.engine import TaskEngine
from memory.engines.agent_tasks.rules import MOVES
from memory.engines.fields.base import Use
from memory.engines.fields.tasks import MAX_BUDGET, TASK
from memory.engines.merging.requests import MergeRequestEngine
from memory.exceptions import Invalid
from memory.models import AgentTask, TaskObjective
from memory.operations.tasks import TASKS
from memory.views.base import ProjectPage
from memory.views.field_widgets import OptionalText, form_field
from memory.views.flash import flash_success, flash_warning
from memory.views.frames import add_page
from memory.views.list_page import ALL
from memory.views.navigation import Section, add_section
from memory.views.state_list import StateListPage
from memory.views.widgets import parse_number

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


@add_page("tasks", "tasks")
class Tasks(StateListPage):
    """The board of tasks by state, and the form for a new one."""

    template_name = "tasks.html"
    section = "tasks"
    is_live = spans_branches = True
    title = gettext_lazy("Tasks")
    operation, states = TASKS["list"], STATES
    extra_context = {
        "lead": gettext_lazy(
            "Work that agents share: each has a branch of its own, and what lasts is offered to the parent."
        ),
        "search": gettext_lazy("Filters, such as agent:ledger"),
        "drawing": "task",
        "form_title": gettext_lazy("A new task"),
        "form_button": gettext_lazy("Make the task"),
        "none_fits": gettext_lazy("No task is in this state."),
        "none_yet": gettext_lazy(
            "A task is a piece of work with objectives. Make one here, or let an agent do so:"
        ),
        "show_all": gettext_lazy("Tasks in progress"),
    }

    def count_rows(self) -> Mapping[str, int]:
        return task_engine.count_tasks(actor=self.reader.actor)

    def build_form(self, data: Any = None) -> forms.Form:
        return build_task_form(data)

    def create_row(self, form: forms.Form) -> str:
        typed = {name: text for name in form.fields if (text := self.request.POST.get(name, "").strip())}
        steps = [line.strip() for line in typed.pop("objectives", "").splitlines() if line.strip()]
        name = typed.pop("name", "")
        fields: Any = typed
        done = task_engine.create_task(name=name, objectives=steps, actor=self.reader.actor, **fields)
        flash_success(self.request, _("The task was made."))
        return self.reader.url("task", done.task.slug, branch="", at="")


def build_task_form(data: Any = None) -> forms.Form:
    """Return the form of a new task."""
    form = forms.Form(data)
    form.fields |= {field.name: form_field(field) for field in TASK.select_fields(Use.FORM)}
    steps = TASK["objectives"]
    area = forms.Textarea(attrs={"rows": 5, "dir": "auto"})
    form.fields["objectives"] = OptionalText(label=steps.title, help_text=steps.form_help, widget=area)
    return form


@add_page("tasks/<str:name>", "task")
class TaskPage(ProjectPage):
    """One task: objectives, agents with their branches, what was learned, and what may be done now."""

    template_name = "task.html"
    section = "tasks"
    is_live = spans_branches = True

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        actor = self.reader.actor
        found = task_engine.get_task_context(task=self.kwargs["name"], actor=actor, max_tokens=MAX_BUDGET)
        may_change = self.reader.is_now and task_engine.may_change(task=found.task, actor=actor)
        parts = [one.part for one in found.agents]
        task_engine.measure_parts(parts=parts)
        objectives = list(found.task.objectives.all())
        return super().get_context_data(
            title=found.task.name,
            task=found.task,
            found=found,
            objectives=[(one, list_moves(one) if may_change else []) for one in objectives],
            done=sum(one.state == TaskObjective.State.DONE for one in objectives),
            agents=parts,
            learned=list_learned(found),
            working=sum(part.state == part.State.WORKING for part in parts),
            may_change=may_change,
            merge_request=find_request(found.task, actor),
            **kwargs,
        )

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Move an objective, complete an agent's part or the task, or cancel it."""
        self.reader.require_now()
        action = request.POST.get("action", "")
        acts = {
            "move": self._move_objective,
            "complete-agent": self._complete_agent,
            "complete": self._complete_task,
            "cancel": self._cancel_task,
        }
        if action not in acts:
            raise Invalid(_("This cannot be done to a task."))
        acts[action](request, {"task": self.kwargs["name"], "actor": self.reader.actor})
        return redirect(request.path)

    # ---- actions -------------------------------------------------------------------------------

    def _move_objective(self, request: HttpRequest, task: dict[str, Any]) -> None:
        n, _sep, state = request.POST.get("move", "").partition(":")
        done = task_engine.update_objective(n=parse_number(n, digits=4) or 0, state=state, **task)
        flash_success(request, _("Objective %(n)s was changed.") % {"n": done.n})

    def _complete_agent(self, request: HttpRequest, task: dict[str, Any]) -> None:
        done = task_engine.complete_agent(agent_id=request.POST.get("agent", ""), **task)
        words = {"agent": done.part.agent_id, "count": done.part.open_conflicts}
        if done.part.open_conflicts:
            text = ngettext(
                "%(agent)s completed its part; %(count)s conflict waits for a decision.",
                "%(agent)s completed its part; %(count)s conflicts wait for a decision.",
                done.part.open_conflicts,
            )
            flash_warning(request, text % words)
        else:
            flash_success(request, _("%(agent)s completed its part.") % words)

    def _complete_task(self, request: HttpRequest, task: dict[str, Any]) -> None:
        done = task_engine.complete_task(result=request.POST.get("result", "").strip(), **task)
        if done.task.merge_request_id:
            text = ngettext(
                "The task is completed: %(count)s fact is offered in a merge request.",
                "The task is completed: %(count)s facts are offered in a merge request.",
                len(done.durable),
            )
            flash_success(request, text % {"count": len(done.durable)})
        else:
            flash_success(request, _("The task is completed. There was nothing durable to offer."))

    def _cancel_task(self, request: HttpRequest, task: dict[str, Any]) -> None:
        task_engine.cancel_task(result=request.POST.get("result", "").strip(), **task)
        flash_success(request, _("The task is cancelled, and its branches are archived."))


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
