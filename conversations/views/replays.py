"""Replays: their list, the form that makes one from a message, and the report of one."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy
from django.utils.translation import ngettext

from conversations.engines.fields import REPLAY
from conversations.engines.replays.engine import LIMITS, ReplayEngine
from conversations.engines.replays.side_scores import compare_scores
from conversations.engines.replays.sources import name_sources
from conversations.models import Message, Replay
from conversations.operations.replays import REPLAYS
from conversations.views.compare import describe_diff
from conversations.views.conversations import Conversations
from conversations.views.forks import ThreadForm
from conversations.views.progress import ProgressPage
from conversations.views.replay_form import (
    MEMORY_FIELDS,
    ORDER,
    build_replay_form,
    find_model,
    list_parameters,
    read_parameters,
)
from conversations.views.thread import list_entries
from memory.engines.support import validation as c
from memory.exceptions import Conflict, Day1Error, NotFound, TooLarge
from memory.views.error_text import error_sentence
from memory.views.flash import flash_success, flash_warning
from memory.views.list_page import ALL, ListPage
from memory.views.view_context import ViewContext

replay_engine = ReplayEngine()
State = Replay.State
STATES: dict[str, Any] = {
    ALL: lazy("All"),
    State.READY.value: lazy("Ready"),
    State.QUEUED.value: lazy("Queued"),
    State.RUNNING.value: lazy("Running"),
    State.WAITING.value: lazy("Waiting"),
    State.DONE.value: lazy("Done"),
    State.STOPPED.value: lazy("Stopped at a limit"),
    State.FAILED.value: lazy("Failed"),
    State.CANCELLED.value: lazy("Cancelled"),
}
MAY_RUN = (State.READY, State.STOPPED, State.FAILED, State.WAITING)
ADVICE = lazy("Run it, or have an agent go on from its context over the API and complete it here.")
MAY_COMPLETE = (State.READY, State.STOPPED, State.FAILED)


def describe_rows(rows: Sequence[Any]) -> None:
    """Set what a list shows of replays: the state, what each did, and the title of its source."""
    for row in rows:
        row.kind, row.sentence = STATES[row.state], count_steps(row)
    name_sources(rows)


def count_steps(row: Replay) -> str:
    """Return one sentence: what a replay did, and what it cost."""
    parts = [
        ngettext("{n} step", "{n} steps", row.steps).format(n=row.steps),
        _("{n} tokens").format(n=f"{row.input_tokens + row.output_tokens:,}"),
    ]
    if row.cost is not None:
        parts.append(_("cost {cost}").format(cost=row.cost))
    if row.unknown_calls:
        n = row.unknown_calls
        text = ngettext("{n} call without a recorded result", "{n} calls without a recorded result", n)
        parts.append(text.format(n=n))
    return ", ".join(parts)


class Replays(ListPage):
    """The replays by state, of one conversation where ?conversation= names it."""

    template_name = "conversation/replays.html"
    section, scope, title = "conversations", "read", lazy("Replays")
    operation, states = REPLAYS["list"], STATES
    extra_context = {
        "lead": lazy(
            "A replay goes on from a message with another model, prompt or memory, and shows whether that"
            " would have done better."
        ),
        "drawing": "redo",
        "none_fits": lazy("No replay is in this state."),
        "none_yet": lazy(
            "Nothing was replayed yet. Open a conversation and choose Replay at the message to go on from."
        ),
        "show_all": lazy("To the conversations"),
    }

    @property
    def conversation_id(self) -> UUID | None:
        text = self.request.GET.get("conversation_id", "")
        return c.parse_uuid("conversation_id", text) if text else None

    def count_rows(self) -> Mapping[str, int]:
        return replay_engine.count_replays(actor=self.reader.actor, conversation_id=self.conversation_id)

    def list_rows(self, filters: Mapping[str, Any]) -> Any:
        page = super().list_rows(filters)
        describe_rows(page.results)
        return page


class NewReplay(ThreadForm):
    title = lazy("Replay from this message")
    extra_context = {
        **ThreadForm.extra_context,
        "lead": lazy(
            "A fork goes on from here with what you change below; what stays empty is as it was. Tools are"
            " not run: a call gets the result that was recorded."
        ),
        "verb": lazy("Make the replay"),
        "drawing": "redo",
    }

    def build_form(self, data: Any = None) -> forms.Form:
        return build_replay_form(data)

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        warning = "" if find_model() else _("No model is set: an agent can go on from the context by itself.")
        return super().get_context_data(warning=warning, **kwargs)

    def carry_out(self, form: forms.Form, typed: dict[str, Any]) -> str:
        row = replay_engine.create_replay(
            conversation_id=self.kwargs["conversation_id"],
            message_id=self.message_id,
            memory={name: typed[name] for name in MEMORY_FIELDS if name in typed},
            **self.reader.write_args,
            **read_parameters(typed),
        )
        if "run" in typed:
            run_replay(self.request, self.reader, row.pk)
        return self.reader.url("replay", row.pk, branch="", at="")


def run_replay(request: HttpRequest, reader: ViewContext, replay_id: UUID) -> None:
    """Have the worker go on with a replay, with the limits that were typed; tell what came of the wish."""
    typed = {name: text for name in LIMITS if (text := request.POST.get(name, "").strip())}
    try:
        replay_engine.run_replay(replay_id=replay_id, actor=reader.actor, **read_parameters(typed))
    except Day1Error as error:
        flash_warning(request, error_sentence(error))
    else:
        flash_success(request, _("Queued: the worker goes on with it."))


class ReplayPage(ProgressPage):
    """The report of a replay: what it did, what it was told, what it cost, and how it differs."""

    template_name = "conversation/replay.html"
    fragment_name = "conversation/replay_progress.html"
    section = "conversations"
    extra_context = {"list_title": Conversations.title}

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        row = replay_engine.get_replay(replay_id=self.kwargs["replay_id"], actor=self.reader.actor)
        shown: dict[str, Any] = {
            "replay": row,
            "title": _("Replay with %(model)s") % {"model": row.model or find_model() or _("an agent")},
            "state": STATES[row.state],
            "sentence": count_steps(row),
            "is_active": row.state in Replay.ACTIVE,
            "may_write": self.reader.can["write"] and not row.branch.archived_at,
            "may_run": row.state in MAY_RUN,
            "limits": list_limits(row) if row.state == State.STOPPED else [],
            "may_complete": row.state in MAY_COMPLETE,
            "may_cancel": row.state not in (State.DONE, State.CANCELLED),
        }
        report = {} if self.is_asked_by_script else self._load_report(row)
        return super().get_context_data(**shown, **report, **kwargs)

    def _load_report(self, row: Replay) -> dict[str, Any]:
        """Return the steps, and how source and replay differ, as far as both can be read."""
        where: dict[str, Any] = {"replay_id": row.pk, "actor": self.reader.actor}
        messages: list[Message] = replay_engine.list_messages(**where)
        shown: dict[str, Any] = {
            "entries": list_entries(messages),
            "parameters": list_parameters({name: getattr(row, name) for name in ORDER}),
            "memory": describe_memory(row),
            "scores": compare_scores(row),
            "advice": ADVICE if row.state in MAY_RUN else "",
        }
        if not messages:
            return shown
        try:
            return shown | describe_diff(replay_engine.semantic_diff(**where))
        except (NotFound, TooLarge) as error:
            return shown | {"error": error_sentence(error)}

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Run, cancel or complete the replay."""
        where: dict[str, Any] = {"replay_id": self.kwargs["replay_id"], "actor": self.reader.actor}
        try:
            match request.POST.get("do", ""):
                case "run":
                    run_replay(request, self.reader, where["replay_id"])
                case "cancel":
                    replay_engine.cancel_replay(**where)
                    flash_success(request, _("Cancelled: a step that is under way is the last."))
                case "complete":
                    replay_engine.complete_replay(**where)
                    flash_success(request, _("Completed: its conversation is closed."))
        except Conflict as error:
            flash_warning(request, error_sentence(error))
        return redirect(request.path)


def list_limits(row: Replay) -> list[tuple[str, Any, Any]]:
    """Return the limits that a replay has, with labels: a higher one lets it go on."""
    values = [(name, REPLAY[name].label, getattr(row, name)) for name in LIMITS]
    return [(name, label, value) for name, label, value in values if value is not None]


def describe_memory(row: Replay) -> str:
    """Return which memory the context was told from; "" for none."""
    state = row.memory_state
    if "merge_request" in state:
        return _("As merge request %(number)s would leave it") % {"number": state["merge_request"]}
    if not state:
        return ""
    name = state.get("branch") or "main"
    if state.get("at") in (None, ""):
        return _("The branch %(name)s") % {"name": name}
    return _("The branch %(name)s at %(point)s") % {"name": name, "point": state["at"]}
