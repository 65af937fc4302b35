"""One run of a replay by a worker, step by step: what was paid for is stored before it is used.

An answer of the model is stored with what it cost, in a transaction of its own; then its messages and the
results of its calls are written in one commit, which marks it as applied. A run that begins again writes what
was stored and not applied, and asks only for what comes after it.
"""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.core.exceptions import ImproperlyConfigured
from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone

from conversations.engines.conversations import open_conversation
from conversations.engines.messages import MessageEngine, build_message
from conversations.engines.replays.context import ChatMessage, build_context, estimate_tokens
from conversations.engines.replays.endings import end_replay, system_actor
from conversations.engines.replays.recorded import RecordedTools, clean_name
from conversations.engines.replays.thread import load_own, load_parts
from conversations.models import Message, Replay, ReplayStep
from memory.conf import conf
from memory.db.retry import retry_transaction
from memory.engines.versions.commits import open_commit
from memory.engines.versions.policies import Write
from memory.exceptions import Day1Error, ProviderNonsense, ProviderUnavailable
from memory.providers.tool_chat import NO_MODEL, ModelStep, get_replayer

State, Role = Replay.State, Message.Role
MAX_TRIES = 5
FIRST_WAIT, MAX_WAIT = 30, 3600  # seconds
LEASE_SECONDS = 60
DEFINITE = (400, 401, 403, 404, 413, 422)  # no later request fares better


class Ended(Exception):
    """The run ends in this state, for this reason."""

    def __init__(self, state: str, note: str = "") -> None:
        super().__init__(note)
        self.state, self.note = state, note


def claim_replay(replay_id: UUID) -> Replay | None:
    """Take a replay that no worker has, until its next sign of life is due."""
    now = timezone.now()
    free = Q(state=State.QUEUED) | Q(state__in=[State.RUNNING, State.WAITING], resume_at__lte=now)
    claimed = Replay.objects.filter(free, pk=replay_id)
    if not claimed.update(state=State.RUNNING, resume_at=now + timedelta(seconds=lease_seconds())):
        return None
    return Replay.objects.select_related("branch", "source_branch").get(pk=replay_id)


def list_due() -> list[UUID]:
    now = timezone.now()
    lost = Q(state=State.QUEUED) | Q(state__in=[State.RUNNING, State.WAITING], resume_at__lte=now)
    return list(Replay.objects.filter(lost).values_list("pk", flat=True))


def lease_seconds() -> float:
    return LEASE_SECONDS + conf().replay_timeout


def measure_cost(row: Replay) -> float | None:
    """Return what a replay has cost by the prices of the settings; None without prices."""
    settings = conf()
    if not (settings.replay_input_price or settings.replay_output_price):
        return None
    paid = row.input_tokens * settings.replay_input_price + row.output_tokens * settings.replay_output_price
    return round(paid / 1e6, 6)


class ReplayRun:
    def __init__(self, row: Replay) -> None:
        self.row = row
        self.actor = system_actor(row)

    def carry_out(self) -> None:
        """Take steps until the model has answered without calls, a limit is reached, or it must wait."""
        try:
            self._load()
            while True:
                self._take_step()
        except Ended as end:
            self._finish(end.state, end.note)
        except ProviderUnavailable as error:
            self._wait(error)
        except Day1Error as error:  # the branch was archived, the source reverted or erased
            self._finish(State.FAILED, error.text)

    def _load(self) -> None:
        before, after, self.left_out = load_parts(self.row)
        self.tools = RecordedTools(before, after, self.row)
        self.before = before
        self.own = load_own(self.row)
        for row in self.own:  # results that were given before an interruption are not given again
            for call in row.tool_calls if row.role == Role.TOOL_RESULT else ():
                self.tools.answer(clean_name(call["name"]), call["input"])

    # ---- a step --------------------------------------------------------------------------------

    def _take_step(self) -> None:
        step = self.row.answers.order_by("-number").first()
        if step is None or step.applied:
            if step is not None and self._is_final():
                raise Ended(State.DONE)
            step = self._ask(step.number + 1 if step else 1)
        self._apply(step)

    def _is_final(self) -> bool:
        """Return whether the last message is an answer without calls."""
        last = self.own[-1] if self.own else None
        return last is not None and last.role == Role.ASSISTANT and not last.tool_calls

    def _ask(self, number: int) -> ReplayStep:
        """Return the model's next answer, stored with what it cost. Raises Ended, ProviderUnavailable."""
        context = build_context(self.row, [*self.before, *self.own], self.tools, self.left_out)
        self._check_limits(number, context)
        self._renew_lease()
        try:
            server = get_replayer()
        except ImproperlyConfigured as error:
            raise Ended(State.FAILED, str(error)) from error
        if server is None:
            raise Ended(State.FAILED, NO_MODEL)
        options = {name: getattr(self.row, name) for name in ("temperature", "max_tokens")}
        options = {name: value for name, value in options.items() if value is not None}
        model = self.row.model or conf().replay_model
        return self._store(number, server.take_step(model, context, self.tools.describe(), **options))

    def _check_limits(self, number: int, context: Sequence[ChatMessage]) -> None:
        row, settings = self.row, conf()
        if number > row.max_steps:
            raise Ended(State.STOPPED, f"It has taken {row.max_steps} steps, which is its limit.")
        tokens = estimate_tokens(context)
        if row.max_total_tokens is not None and (
            row.input_tokens + row.output_tokens + tokens > row.max_total_tokens
        ):
            raise Ended(State.STOPPED, f"The next step would exceed {row.max_total_tokens} tokens.")
        cost = (measure_cost(row) or 0) + tokens * settings.replay_input_price / 1e6
        if row.max_cost is not None and cost > row.max_cost:
            raise Ended(State.STOPPED, f"The next step would cost more than {row.max_cost}.")

    def _renew_lease(self) -> None:
        """Say that the run is alive. Raises Ended where it was cancelled."""
        until = timezone.now() + timedelta(seconds=lease_seconds())
        if not Replay.objects.filter(pk=self.row.pk, state=State.RUNNING).update(resume_at=until):
            raise Ended(State.CANCELLED)

    @retry_transaction
    def _store(self, number: int, answer: ModelStep) -> ReplayStep:
        calls = [{"id": call.id, "name": call.name, "input": call.arguments} for call in answer.calls]
        stored = {"text": answer.text, "calls": calls, "refused": answer.refused, "cut": answer.cut}
        tokens = {"input_tokens": answer.input_tokens, "output_tokens": answer.output_tokens}
        with transaction.atomic():
            step = ReplayStep.objects.create(
                replay=self.row, number=number, answer=stored, created_at=timezone.now(), **tokens
            )
            counters: dict[str, Any] = {name: F(name) + value for name, value in tokens.items()}
            Replay.objects.filter(pk=self.row.pk).update(
                steps=F("steps") + 1, calls=F("calls") + 1, tries=0, **counters
            )
        self.row.refresh_from_db(fields=["steps", "calls", "tries", *tokens])
        return step

    @retry_transaction
    def _apply(self, step: ReplayStep) -> None:
        """Write the messages of an answer with the recorded results, and mark it, in one transaction."""
        payloads, unknown = self._build_messages(step)
        messages = MessageEngine()
        with open_commit(self.actor, self.row.branch.name, "message.write", write=Write.ADD) as commit:
            conversation = open_conversation(commit, self.row.conversation_id)
            rows = messages.add(commit, conversation, [build_message(one, self.actor) for one in payloads])
            ReplayStep.objects.filter(pk=step.pk).update(applied=True, answer={})
            Replay.objects.filter(pk=self.row.pk).update(unknown_calls=F("unknown_calls") + unknown)
        self.own += rows

    def _build_messages(self, step: ReplayStep) -> tuple[list[dict[str, Any]], int]:
        """Return the messages of an answer and of the results of its calls, and how many have none."""
        answer = step.answer
        about: dict[str, Any] = {"replay": str(self.row.pk)}
        calls = [self._name_call(step, place, call) for place, call in enumerate(answer["calls"])]
        notes: dict[str, Any] = {name: True for name in ("refused", "cut") if answer[name]}
        spoken = {
            "role": Role.ASSISTANT.value,
            "content": answer["text"] or ("" if calls else "(no words)"),
            "tool_calls": calls,
            "model": self.row.model or conf().replay_model,
            "token_count": step.output_tokens,
            "metadata": about | notes,
        }
        found = [self.tools.answer(clean_name(call["name"]), call["input"]) for call in calls]
        results: list[dict[str, Any]] = [
            {
                "role": Role.TOOL_RESULT.value,
                "content": result.content or "(empty)",
                "tool_calls": [call],
                "metadata": {**about, "recorded": result.is_known},
            }
            for call, result in zip(calls, found, strict=True)
        ]
        return [spoken, *results], sum(not result.is_known for result in found)

    def _name_call(self, step: ReplayStep, place: int, call: dict[str, Any]) -> dict[str, Any]:
        """Return a call under the name that the tool has in the conversation, with an id."""
        name = self.tools.restore_name(call["name"])
        return {**call, "id": call["id"] or f"replay_{step.number}_{place}", "name": name}

    # ---- ends ----------------------------------------------------------------------------------

    def _finish(self, state: str, note: str) -> None:
        if state == State.CANCELLED:
            return
        if state == State.DONE:
            end_replay(self.row, [State.RUNNING], note)
            return
        values = {"state": state, "note": note[:500], "finished_at": timezone.now(), "resume_at": None}
        Replay.objects.filter(pk=self.row.pk, state=State.RUNNING).update(**values)

    def _wait(self, error: ProviderUnavailable) -> None:
        """Go on later: when the server asked for it, else twice as late each time; at last fail."""
        status, tries = error.data.get("status"), self.row.tries + 1
        paid = isinstance(error, ProviderNonsense)
        self._count_call(error)
        if status in DEFINITE or tries >= MAX_TRIES:
            return self._finish(State.FAILED, error.text)
        retry_after = error.data.get("retry_after")
        seconds = 0 if paid else FIRST_WAIT * 2 ** (tries - 1) if retry_after is None else retry_after
        resume_at = timezone.now() + timedelta(seconds=min(seconds, MAX_WAIT))
        values = {"state": State.WAITING, "note": error.text[:500], "resume_at": resume_at, "tries": tries}
        Replay.objects.filter(pk=self.row.pk, state=State.RUNNING).update(**values)
        return None

    def _count_call(self, error: ProviderUnavailable) -> None:
        """Count a request without a usable answer, and the tokens of one that is nonsense."""
        counts: dict[str, Any] = {
            name: F(name) + int(error.data.get(name) or 0) for name in ("input_tokens", "output_tokens")
        }
        Replay.objects.filter(pk=self.row.pk).update(calls=F("calls") + 1, **counts)
