"""Batches of replays: their list, the form that begins one, and the report of one with its progress."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy

from conversations.engines.replays.batches import FIRST, START, BatchReport, ReplayBatchEngine
from conversations.engines.replays.engine import LIMITS, ReplayEngine
from conversations.models import Replay
from conversations.operations.replay_batches import REPLAY_BATCHES
from conversations.views.compare import VERDICTS
from conversations.views.progress import ProgressPage
from conversations.views.replay_form import (
    MEMORY_TITLES,
    ORDER,
    SCORE,
    ReplayForm,
    find_model,
    has_replayer,
    list_parameters,
)
from conversations.views.replays import QUEUED, STATES, describe_rows
from memory.engines.fields.base import Field
from memory.engines.fields.types import Reference
from memory.views.generic.actions import Action, ActionPage
from memory.views.generic.state_list import StateListPage

batch_engine, replay_engine = ReplayBatchEngine(), ReplayEngine()
State = Replay.State
MONEY = "max_total_cost"
MAY_GO_ON = (State.READY, State.STOPPED, State.FAILED)
CHOSEN = (
    Field(
        "session_id",
        Reference(200),
        label=lazy("Conversations of the session"),
        form_help=lazy("Empty: of all sessions."),
    ),
    Field("agent_id", Reference(200), label=lazy("of the agent"), form_help=lazy("Empty: of all agents.")),
    Field("task_id", Reference(200), label=lazy("of the task"), form_help=lazy("Empty: of all tasks.")),
)
SIMILARITIES = {"actions": lazy("Actions"), "reasoning": lazy("Reasoning"), "result": lazy("Result")}


class BatchForm(ReplayForm):
    """Which conversations, from where, with what, and the limits of each and of all."""

    titles = {
        lazy("Which conversations"): ("name", *(field.name for field in CHOSEN), "start"),
        **ReplayForm.titles,
        lazy("Limits and ratings"): (*LIMITS, MONEY, SCORE),
    }
    open_groups = 2


class ReplayBatches(StateListPage):
    """The batches, newest first, and the form for a new one; a refused form keeps its input."""

    template_name = "conversation/batches.html"
    operation, list_page = REPLAY_BATCHES["list"], "replay-batches"
    section, scope, title = "conversations", "read", lazy("Batches of replays")
    actions = {
        "create": Action(
            REPLAY_BATCHES["create"],
            fields=("name", "start", *ORDER, MONEY, "memory"),
            further=CHOSEN,
            opens=("replay-batch", "pk"),
            button=lazy("Begin the batch"),
            drawing="redo",
            form=BatchForm,
        )
    }
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

    def find_values(self, name: str) -> dict[str, Any]:
        return {"max_steps": 20, "start": FIRST}

    def carry_out(self, name: str, values: dict[str, Any]) -> Any:
        words = [field.name for field in CHOSEN]
        chosen = {word: [values.pop(word)] for word in words if word in values}
        return super().carry_out(name, {**values, "filters": chosen})


class ReplayBatchPage(ActionPage, ProgressPage):
    """The report of a batch. While its replays are at work the page reads its progress again by itself."""

    usual, needs_now, warns = "", False, ("run", "stop")
    actions = {
        "run": Action(REPLAY_BATCHES["run"], QUEUED, fields=(MONEY,)),
        "stop": Action(REPLAY_BATCHES["stop"], lazy("Stopped: steps that are under way are the last.")),
    }

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


def describe_progress(states: Mapping[str, int]) -> dict[str, Any]:
    """Return how many replays there are, how many have ended, and what may be done."""
    total = sum(states.values())
    active = sum(states.get(state, 0) for state in Replay.ACTIVE)
    return {
        "total": total,
        "ended": total - active - states.get(State.READY, 0),
        "is_active": bool(active),
        "may_run": has_replayer() and any(states.get(state) for state in MAY_GO_ON),
        "counts": [(label, states[name]) for name, label in STATES.items() if states.get(name)],
    }


def list_batch_parameters(report: BatchReport) -> list[tuple[Any, Any]]:
    """Return what was asked of the batch's replays, with labels."""
    batch = report.batch
    memory = batch.parameters.get("memory") or {}
    return [
        (_("Each begins"), dict(START.form_choices)[batch.start]),
        *list_parameters(batch.parameters),
        *((MEMORY_TITLES[name], value) for name, value in memory.items() if name in MEMORY_TITLES),
    ]
