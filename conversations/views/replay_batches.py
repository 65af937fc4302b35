"""Batches of replays: their list, the form that begins one, and the report of one with its progress."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy
from django.utils.translation import ngettext

from conversations.engines.fields import REPLAY
from conversations.engines.replays.batches import (
    FIRST,
    LAST,
    MAX_CONVERSATIONS,
    BatchReport,
    ReplayBatchEngine,
)
from conversations.engines.replays.engine import ReplayEngine
from conversations.models import Replay, ReplayBatch
from conversations.operations.replay_batches import REPLAY_BATCHES
from conversations.views.compare import VERDICTS
from conversations.views.progress import ProgressPage
from conversations.views.replay_form import (
    MEMORY_FIELDS,
    GroupedForm,
    add_parameters,
    find_model,
    list_parameters,
    read_parameter,
    read_parameters,
)
from conversations.views.replays import STATES, describe_rows
from memory.exceptions import Day1Error
from memory.views.error_text import error_sentence
from memory.views.field_widgets import OptionalText
from memory.views.flash import flash_success, flash_warning
from memory.views.state_list import StateListPage

batch_engine, replay_engine = ReplayBatchEngine(), ReplayEngine()
State = Replay.State
MONEY = "max_total_cost"
MAY_GO_ON = (State.READY, State.STOPPED, State.FAILED)
CHOSEN: dict[str, tuple[Any, Any]] = {
    "session_id": (lazy("Conversations of the session"), lazy("Empty: of all sessions.")),
    "agent_id": (lazy("of the agent"), lazy("Empty: of all agents.")),
    "task_id": (lazy("of the task"), lazy("Empty: of all tasks.")),
}
STARTS = ((FIRST, lazy("from the first prompt")), (LAST, lazy("from the last prompt")))
SIMILARITIES = {"actions": lazy("Actions"), "reasoning": lazy("Reasoning"), "result": lazy("Result")}


class ReplayBatches(StateListPage):
    """The batches, newest first, and the form for a new one; a refused form keeps its input."""

    template_name = "conversation/batches.html"
    operation, list_page = REPLAY_BATCHES["list"], "replay-batches"
    section, scope, title = "conversations", "read", lazy("Batches of replays")
    extra_context = {
        "lead": lazy(
            "A batch replays many conversations with the same model, prompt or memory, and tells in one"
            " report whether that does better."
        ),
        "drawing": "redo",
        "none_yet": lazy("No batch was begun yet. Choose conversations above, and what is to be different."),
    }

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        warning = (
            "" if find_model() else _("No model is set: agents can go on from the contexts by themselves.")
        )
        return super().get_context_data(warning=warning, **kwargs)

    def build_form(self, data: Any = None) -> forms.Form:
        return build_batch_form(data)

    def create_row(self, form: forms.Form) -> str:
        typed = {name: text for name in form.fields if (text := self.request.POST.get(name, "").strip())}
        return self.reader.url("replay-batch", self._begin_batch(typed).pk, branch="", at="")

    def _begin_batch(self, typed: dict[str, str]) -> ReplayBatch:
        parameters = read_parameters(typed)
        if MONEY in typed:
            parameters[MONEY] = read_parameter(REPLAY["max_cost"], typed[MONEY])
        chosen = {name: [typed[name]] for name in CHOSEN if name in typed}
        return batch_engine.create_batch(
            **self.reader.write_args,
            matching=chosen,
            start=typed.get("start", FIRST),
            name=typed.get("name", ""),
            memory={name: typed[name] for name in MEMORY_FIELDS if name in typed},
            **parameters,
        )


def build_batch_form(data: Any = None) -> GroupedForm:
    """Return the form: which conversations, from where, with what, and the limits of each and of all."""
    form = GroupedForm(data, initial={"max_steps": 20, "start": FIRST})
    chosen = {name: OptionalText(label=label, help_text=text) for name, (label, text) in CHOSEN.items()}
    name = OptionalText(label=_("Name"), help_text=_("What you try, such as: a smaller model."))
    start = forms.ChoiceField(
        label=_("Each begins"), choices=STARTS, required=False, help_text=describe_size()
    )
    form.add_group(_("Which conversations"), {"name": name, **chosen, "start": start})
    add_parameters(form, **{MONEY: build_money_field()})
    return form


def describe_size() -> str:
    text = ngettext("The newest, at most {n}.", "The newest, at most {n}.", MAX_CONVERSATIONS)
    return text.format(n=MAX_CONVERSATIONS)


def build_money_field() -> forms.Field:
    return OptionalText(
        label=_("Cost of all at most"),
        help_text=_("By the prices of the settings. A step that might exceed it is not taken."),
        widget=forms.TextInput({"inputmode": "decimal", "autocomplete": "off"}),
    )


class ReplayBatchPage(ProgressPage):
    """The report of a batch. While its replays are at work the page reads its progress again by itself."""

    template_name = "conversation/batch.html"
    fragment_name = "conversation/batch_progress.html"
    section = "conversations"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        batch_id: UUID = self.kwargs["batch_id"]
        found = batch_engine.get_report(batch_id=batch_id, actor=self.reader.actor)
        return super().get_context_data(
            title=found.batch.name or _("A batch of replays"),
            report=found,
            batch=found.batch,
            **describe_progress(found.states),
            **self._load_replays(batch_id),
            may_write=self.reader.can["write"] and not found.batch.branch.archived_at,
            scores=found.scores,
            verdicts=[(VERDICTS[name][1], count) for name, count in found.verdicts.items()],
            similarities=[(label, found.similarity[name]) for name, label in SIMILARITIES.items()]
            if found.similarity
            else [],
            parameters=list_batch_parameters(found),
            **kwargs,
        )

    def _load_replays(self, batch_id: UUID) -> dict[str, Any]:
        page = replay_engine.list_replays(actor=self.reader.actor, batch_id=batch_id, **self.paging())
        describe_rows(page.results)
        return {"page": page}

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Go on with what stopped or failed, or stop the rest."""
        where: dict[str, Any] = {"batch_id": self.kwargs["batch_id"], "actor": self.reader.actor}
        try:
            match request.POST.get("do", ""):
                case "run":
                    batch_engine.run_batch(**where, **read_money(request))
                    flash_success(request, _("Queued: the worker goes on with it."))
                case "stop":
                    batch_engine.stop_batch(**where)
                    flash_success(request, _("Stopped: steps that are under way are the last."))
        except Day1Error as error:
            if error.status in (403, 404):
                raise
            flash_warning(request, error_sentence(error))
        return redirect(request.path)


def read_money(request: HttpRequest) -> dict[str, Any]:
    """Return the higher limit that was typed, if any."""
    text = request.POST.get(MONEY, "").strip()
    return {MONEY: read_parameter(REPLAY["max_cost"], text)} if text else {}


def describe_progress(states: Mapping[str, int]) -> dict[str, Any]:
    """Return how many replays there are, how many have ended, and what may be done."""
    total = sum(states.values())
    active = sum(states.get(state, 0) for state in Replay.ACTIVE)
    return {
        "total": total,
        "ended": total - active - states.get(State.READY, 0),
        "is_active": bool(active),
        "may_run": any(states.get(state) for state in MAY_GO_ON),
        "counts": [(label, states[name]) for name, label in STATES.items() if states.get(name)],
    }


def list_batch_parameters(report: BatchReport) -> list[tuple[Any, Any]]:
    """Return what was asked of the batch's replays, with labels."""
    batch = report.batch
    memory = batch.parameters.get("memory") or {}
    return [
        (_("Each begins"), dict(STARTS)[batch.start]),
        *list_parameters(batch.parameters),
        *((MEMORY_FIELDS[name][0], value) for name, value in memory.items() if name in MEMORY_FIELDS),
    ]
