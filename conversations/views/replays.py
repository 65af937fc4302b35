"""Replays: their list, the form that makes one from a message, and the report of one."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy
from django.utils.translation import ngettext

from conversations.engines.fields.replays import REPLAY
from conversations.engines.replays.engine import LIMITS, ReplayEngine
from conversations.engines.replays.scores import compare_scores
from conversations.engines.replays.sources import name_sources
from conversations.models import Message, Replay
from conversations.operations.conversations import CONVERSATIONS
from conversations.operations.replays import REPLAYS
from conversations.views.compare import describe_diff
from conversations.views.conversations import Conversations
from conversations.views.forks import ThreadForm
from conversations.views.progress import ProgressPage
from conversations.views.replay_form import ORDER, ReplayForm, find_model, has_replayer, list_parameters
from conversations.views.thread import list_entries
from memory.engines.support import validation as c
from memory.exceptions import Day1Error, NotFound, TooLarge
from memory.views.frame.flash import flash_success, flash_warning
from memory.views.generic.actions import Action, ActionPage
from memory.views.generic.list_page import ALL, ListPage
from memory.views.text.error_text import error_sentence

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
QUEUED = lazy("Queued for the worker.")
MAY_RUN = (State.READY, State.STOPPED, State.FAILED, State.WAITING)
ADVICE = lazy("Run it, or have an agent go on from its context over the API and complete it here.")
NO_MODEL = lazy("No model is set: have an agent go on from its context over the API, and complete it here.")
MAY_COMPLETE = (State.READY, State.STOPPED, State.FAILED)


def describe_rows(rows: Sequence[Any]) -> None:
    """Set what a list shows of replays: the state, what each did, and the title of its source."""
    for row in rows:
        row.kind, row.sentence = STATES[row.state], count_steps(row)
    name_sources(rows)


def count_steps(row: Replay) -> str:
    """Return one sentence: what a replay did, and what it cost."""
    parts = [ngettext("{n} step", "{n} steps", row.steps).format(n=row.steps)]
    if row.calls:  # an agent that goes on by hand tells no tokens
        parts.append(_("{n} tokens").format(n=f"{row.input_tokens + row.output_tokens:,}"))
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
    actions = {
        "create": Action(
            CONVERSATIONS["replay"],
            fields=(*ORDER, "memory"),
            opens=("replay", "pk"),
            button=lazy("Make the replay"),
            drawing="redo",
            form=ReplayForm,
        )
    }
    extra_context = {
        **ThreadForm.extra_context,
        "lead": lazy(
            "A fork goes on from here with what you change below; what stays empty is as it was. Tools are"
            " not run: a call gets the result that was recorded."
        ),
    }

    def find_values(self, name: str) -> dict[str, Any]:
        return {"max_steps": 20, "run": bool(find_model())}

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        warning = "" if find_model() else _("No model is set: an agent can go on from the context by itself.")
        return super().get_context_data(warning=warning, **kwargs)

    def render_done(self, name: str, result: Replay) -> HttpResponse:
        """Have the worker go on with it where that was ticked; tell what came of the wish."""
        if "run" in self.request.POST:
            try:
                replay_engine.run_replay(replay_id=result.pk, actor=self.reader.actor)
            except Day1Error as error:
                flash_warning(self.request, error_sentence(error))
            else:
                flash_success(self.request, str(QUEUED))
        return super().render_done(name, result)


class ReplayPage(ActionPage, ProgressPage):
    """The report of a replay: what it did, what it was told, what it cost, and how it differs."""

    usual, needs_now = "", False
    warns = ("run", "cancel", "complete")
    actions = {
        "run": Action(REPLAYS["run"], QUEUED, fields=LIMITS),
        "cancel": Action(REPLAYS["cancel"], lazy("Cancelled: a step that is under way is the last.")),
        "complete": Action(REPLAYS["complete"], lazy("Completed: its conversation is closed.")),
    }

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
            "may_run": row.state in MAY_RUN and has_replayer(),
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
            "advice": (ADVICE if has_replayer() else NO_MODEL) if row.state in MAY_RUN else "",
        }
        if not messages:
            return shown
        try:
            return shown | describe_diff(replay_engine.semantic_diff(**where))
        except (NotFound, TooLarge) as error:
            return shown | {"error": error_sentence(error)}


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
