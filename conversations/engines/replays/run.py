"""One run of a replay by a worker, step by step: what was paid for is stored before it is used.

An answer of the model is stored with what it cost, in a transaction of its own; then its messages and the
results of its calls are written in one commit, which marks it as applied. A run that begins again writes what
was stored and not applied, and asks only for what comes after it.

Each write names the worker's lease: a worker whose lease ran out, or whose replay was cancelled, writes no
message. What was erased or hidden since the run has read its source is read again before anything is sent or
written.
"""

import logging
from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from conversations.engines.conversations import get_visible, open_conversation, require_open
from conversations.engines.messages import MessageEngine, build_message
from conversations.engines.replays import costs
from conversations.engines.replays.context import (
    ChatMessage,
    RecordedTools,
    build_context,
    estimate_tokens,
    load_own,
    load_parts,
)
from conversations.engines.replays.endings import end_replay, system_actor
from conversations.engines.replays.memory_state import hide_lines
from conversations.engines.replays.rights import require_runner
from conversations.engines.semantic_diff.tool_steps import list_tool_steps
from conversations.models import Message, Replay, ReplayStep
from memory.conf import conf
from memory.db.transactions import retry_transaction
from memory.engines.erasure.marks import ErasureMark, Stale
from memory.engines.support import leases
from memory.engines.support.model_budgets import RETRY_SECONDS, paid_by
from memory.engines.versions.commits import open_commit
from memory.engines.versions.policies import Write
from memory.exceptions import Day1Error, ModelBudgetSpent, ProviderNonsense, ProviderUnavailable
from memory.providers.openai_server import REDIRECTS, find_configured
from memory.providers.tool_chat import NO_MODEL, ModelStep, ToolChatServer, get_replayer

logger = logging.getLogger(__name__)
State, Role = Replay.State, Message.Role
DEFINITE = (*REDIRECTS, 400, 401, 403, 404, 413, 422)  # no later request fares better


class Ended(Exception):
    """The run ends in this state, for this reason."""

    def __init__(self, state: str, note: str = "") -> None:
        super().__init__(note)
        self.state, self.note = state, note


class ErasureUnderWay(Exception):
    """The run waits until an erasure has overwritten what it erases."""


def claim_replay(replay_id: UUID) -> Replay | None:
    """Take a replay that no worker has, until its next sign of life is due."""
    if not leases.claim_row(Replay, replay_id, lease_seconds()):
        return None
    return Replay.objects.select_related("branch", "source_branch").get(pk=replay_id)


def lease_seconds() -> float:
    return leases.LEASE_SECONDS + conf().replay_timeout


class ReplayRun:
    def __init__(self, row: Replay) -> None:
        self.row = row
        self.lease = leases.Lease.of(row)
        self.actor = system_actor(row)

    def carry_out(self) -> None:
        """Take steps until the model has answered without calls, a limit is reached, or it must wait."""
        try:
            self._take_steps()
        except leases.LeaseLost:
            logger.info("Replay %s is another worker's, or has ended", self.row.pk)
        except Exception as error:  # else the sweep would begin it again and again
            logger.exception("Replay %s was interrupted", self.row.pk)
            self._try_later(f"It was stopped by an error ({type(error).__name__}).")

    def _take_steps(self) -> None:
        try:
            self._load()
            while True:
                self._take_step()
        except Ended as end:
            self._finish(end.state, end.note)
        except ErasureUnderWay:
            self.lease.postpone(leases.FIRST_WAIT, note="It waits for an erasure.")
        except costs.BatchReserved:
            self.lease.postpone(leases.FIRST_WAIT, note="It waits for other replays of its batch.")
        except (costs.ReplaySpent, costs.BatchSpent) as spent:
            self._finish(State.STOPPED, str(spent))
        except ModelBudgetSpent as spent:
            self.lease.postpone(RETRY_SECONDS, note=spent.text, reserved_cost=0)
        except ProviderUnavailable as error:
            self._wait(error)
        except Day1Error as error:  # the branch was archived, the source reverted or hidden
            self._finish(State.FAILED, error.text)

    def _load(self) -> None:
        """Read the source and what the replay has so far. Raises ErasureUnderWay, Day1Error."""
        self.mark = ErasureMark.read(self.row.project_id)
        if self.mark.is_under_way:
            raise ErasureUnderWay
        self.row.refresh_from_db()
        hide_lines([self.row])
        self.before, after, self.left_out = load_parts(self.row)
        self.tools = RecordedTools(self.before, after, self.row)
        self.own = load_own(self.row)
        for step in list_tool_steps(self.own):  # results that were given before are not given again
            if step.result is not None:
                self.tools.answer(step.name, step.arguments)

    def _is_stale(self) -> bool:
        return ErasureMark.read(self.row.project_id) != self.mark

    # ---- a step --------------------------------------------------------------------------------

    def _take_step(self) -> None:
        """Write the answer that is stored, or ask for the next one and write it.

        Raises Unauthenticated and the like where whoever runs it has lost the right since.
        """
        require_runner(self.row)
        step = self.row.answers.order_by("-number").first()
        try:
            if step is None or step.applied:
                if step is not None and self._is_final():
                    raise Ended(State.DONE)
                step = self._ask(step.number + 1 if step else 1)
            self._apply(step)
        except Stale:
            self._load()

    def _is_final(self) -> bool:
        """Return whether the last message is an answer without calls."""
        last = self.own[-1] if self.own else None
        return last is not None and last.role == Role.ASSISTANT and not last.tool_calls

    def _ask(self, number: int) -> ReplayStep:
        """Return the model's next answer, stored with what it cost.

        Raises Ended, Stale, LeaseLost, ProviderUnavailable, ReplaySpent, BatchSpent, BatchReserved; Conflict
        where the fork is closed.
        """
        context = build_context(self.row, [*self.before, *self.own], self.tools, self.left_out)
        tokens = self._check_limits(number, context)
        server = find_server()
        require_open(get_visible(self.row.branch.lineage(), self.row.conversation_id))
        self.lease.renew(lease_seconds())
        if self._is_stale():
            raise Stale
        most = costs.reserve_answer(self.row, self.lease, tokens)
        options = {"temperature": self.row.temperature, "max_tokens": most}
        options = {name: value for name, value in options.items() if value is not None}
        model = self.row.model or conf().replay_model
        with paid_by(self.row.project_id):
            answer = server.take_step(model, context, self.tools.describe(), **options)
        self._check_answer(number, answer)
        return self._store(number, answer)

    def _check_limits(self, number: int, context: Sequence[ChatMessage]) -> int:
        """Return about how many tokens the next request has.

        Raises Ended, ReplaySpent where the next step exceeds a limit of the replay.
        """
        row = self.row
        if number > row.max_steps:
            raise Ended(State.STOPPED, f"It has reached its limit of steps, {row.max_steps}.")
        tokens = estimate_tokens(context) + estimate_tokens(self.tools.describe())
        if row.max_total_tokens is not None and (
            row.input_tokens + row.output_tokens + tokens + (row.max_tokens or 0) > row.max_total_tokens
        ):
            raise Ended(State.STOPPED, f"The next step would exceed {row.max_total_tokens} tokens.")
        costs.bound_answer(row, tokens)
        return tokens

    def _check_answer(self, number: int, answer: ModelStep) -> None:
        """Refuse what no message can hold, before it is stored. Raises ProviderNonsense with its cost."""
        try:
            build_message(self._build_answer(number, describe_step(answer), answer.output_tokens), self.actor)
        except (Day1Error, RecursionError) as error:
            reason = error.text if isinstance(error, Day1Error) else "its arguments are nested too deeply"
            tokens: Any = {"input_tokens": answer.input_tokens, "output_tokens": answer.output_tokens}
            raise ProviderNonsense(reason=reason, **tokens) from None

    def _store(self, number: int, answer: ModelStep) -> ReplayStep:
        """Store an answer with what it cost. Raises LeaseLost, Stale: then its cost alone is stored."""
        step = self._insert(number, answer)
        self.row.refresh_from_db(fields=["steps", "calls", "tries", "input_tokens", "output_tokens"])
        if step is None:
            self.lease.renew(lease_seconds())
            raise Stale
        return step

    @retry_transaction
    def _insert(self, number: int, answer: ModelStep) -> ReplayStep | None:
        tokens = {"input_tokens": answer.input_tokens, "output_tokens": answer.output_tokens}
        with transaction.atomic():
            counters: dict[str, Any] = {name: F(name) + value for name, value in tokens.items()}
            counters |= {"calls": F("calls") + 1, "reserved_cost": 0}
            Replay.objects.filter(pk=self.row.pk).update(**counters)
            # One that was cancelled meanwhile keeps the answer that was under way.
            if self._is_stale() or not self.lease.owned.update(steps=F("steps") + 1, tries=0):
                return None
            return ReplayStep.objects.create(
                replay=self.row,
                number=number,
                answer=describe_step(answer),
                created_at=timezone.now(),
                **tokens,
            )

    def _apply(self, step: ReplayStep) -> None:
        """Write the messages of an answer with the recorded results.

        Raises LeaseLost, Stale; Unauthenticated and the like where whoever runs it has lost the right: the
        answer stays stored, and whoever runs it next writes it.
        """
        require_runner(self.row)
        payloads, unknown = self._build_messages(step)
        self.own += self._write(step, payloads, unknown)

    @retry_transaction
    def _write(self, step: ReplayStep, payloads: Sequence[dict[str, Any]], unknown: int) -> list[Message]:
        """Write messages and mark the step as applied, in one transaction, if the replay is at work."""
        with open_commit(self.actor, self.row.branch.name, "message.write", write=Write.ADD) as commit:
            self.lease.update(unknown_calls=F("unknown_calls") + unknown)
            if self._is_stale():
                raise Stale
            if not ReplayStep.objects.filter(pk=step.pk, applied=False).update(applied=True, answer={}):
                raise leases.LeaseLost
            conversation = open_conversation(commit, self.row.conversation_id)
            rows = [build_message(one, self.actor) for one in payloads]
            return list(MessageEngine().add(commit, conversation, rows))

    def _build_messages(self, step: ReplayStep) -> tuple[list[dict[str, Any]], int]:
        """Return the messages of an answer and of the results of its calls, and how many have none."""
        spoken = self._build_answer(step.number, step.answer, step.output_tokens)
        calls = spoken["tool_calls"]
        found = [self.tools.answer(call["name"], call["input"]) for call in calls]
        results: list[dict[str, Any]] = [
            {
                "role": Role.TOOL_RESULT.value,
                "content": result.content or "(empty)",
                "tool_calls": [call],
                "metadata": {"replay": str(self.row.pk), "recorded": result.is_known},
            }
            for call, result in zip(calls, found, strict=True)
        ]
        return [spoken, *results], sum(not result.is_known for result in found)

    def _build_answer(self, number: int, answer: dict[str, Any], token_count: int) -> dict[str, Any]:
        """Return the message of an answer, with its calls under their names in the conversation."""
        calls = [self._build_call(f"replay_{number}_{i}", call) for i, call in enumerate(answer["calls"])]
        return {
            "role": Role.ASSISTANT.value,
            "content": answer["text"] or ("" if calls else "(no words)"),
            "tool_calls": calls,
            "model": self.row.model or conf().replay_model,
            "token_count": token_count,
            "metadata": {"replay": str(self.row.pk)}
            | {name: True for name in ("refused", "cut") if answer[name]},
        }

    def _build_call(self, default_id: str, call: dict[str, Any]) -> dict[str, Any]:
        """Return a call as the conversation would have it."""
        name = self.tools.restore_name(call["name"])
        arguments = self.tools.restore_arguments(name, call["input"])
        return {**call, "id": call["id"] or default_id, "name": name, "input": arguments}

    # ---- ends ----------------------------------------------------------------------------------

    def _finish(self, state: str, note: str) -> None:
        """End the replay in a state. Raises LeaseLost."""
        if state == State.DONE:
            if not end_replay(self.row, self.lease.running, note):
                raise leases.LeaseLost
            return
        self.lease.update(state=state, note=note[:500], finished_at=timezone.now(), resume_at=None)

    def _wait(self, error: ProviderUnavailable) -> None:
        """Go on later: when the server asked for it, else twice as late each time; at last fail."""
        self._count_call(error)
        if error.data.get("status") in DEFINITE or error.data.get("final"):
            return self._finish(State.FAILED, error.text)
        retry_after = 0 if isinstance(error, ProviderNonsense) else error.data.get("retry_after")
        return self._try_later(error.text, retry_after)

    def _try_later(self, note: str, retry_after: int | None = None) -> None:
        """Count a try and go on later; at last fail."""
        if self.row.tries + 1 >= leases.MAX_TRIES:
            return self._finish(State.FAILED, note)
        seconds = leases.choose_wait(self.row.tries, retry_after)
        return self.lease.postpone(seconds, note=note[:500], tries=F("tries") + 1)

    def _count_call(self, error: ProviderUnavailable) -> None:
        """Count a request without a usable answer, and the tokens of one that is nonsense."""
        counts: dict[str, Any] = {
            name: F(name) + int(error.data.get(name) or 0) for name in ("input_tokens", "output_tokens")
        }
        counts |= {"calls": F("calls") + 1, "reserved_cost": 0}
        Replay.objects.filter(pk=self.row.pk).update(**counts)


def find_server() -> ToolChatServer:
    """Return the server of replays. Raises Ended."""
    server, problem = find_configured(get_replayer)
    if server is None:
        raise Ended(State.FAILED, problem or NO_MODEL)
    return server


def describe_step(answer: ModelStep) -> dict[str, Any]:
    """Return an answer as it is stored until its messages are written."""
    calls = [{"id": call.id, "name": call.name, "input": call.arguments} for call in answer.calls]
    return {"text": answer.text, "calls": calls, "refused": answer.refused, "cut": answer.cut}
