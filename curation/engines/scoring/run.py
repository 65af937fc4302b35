"""One run of a scoring by a worker: each vote of a judge is stored as soon as it is paid for.

A run that begins again finds the stored votes, and asks only for the rest.
"""

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from conversations.engines.conversations import get_visible
from conversations.engines.semantic_diff.tool_steps import encode_arguments, read_call
from conversations.engines.threads import Thread, load_thread
from conversations.models import Message
from curation.engines.scoring.dimensions import describe_answer, list_names
from curation.engines.verification import ratings
from curation.engines.verification.judge import FOLDER, SCORE, Excerpt, describe_error
from curation.engines.verification.run import REFUSED_REQUEST, Paused, build_scores
from curation.models import Score, Scoring
from memory.conf import conf
from memory.db.bulk_sql import insert_all
from memory.db.querysets import VersionedQuerySet
from memory.db.transactions import retry_transaction
from memory.engines.erasure.marks import ErasureMark, Stale
from memory.engines.support import leases
from memory.engines.support.model_budgets import RETRY_SECONDS, paid_by
from memory.exceptions import Day1Error, ModelBudgetSpent, ProviderNonsense, ProviderUnavailable
from memory.providers.chat import ChatAnswer, ChatServer, get_judge
from memory.providers.openai_server import REFUSING, find_configured
from memory.providers.prompts import build_prompt

logger = logging.getLogger(__name__)
State, Method = Scoring.State, Score.Method
SCORER = "scoring_engine"
UNKNOWN_SCORE = 0.5
NO_JUDGE = "No judge is set (DAY1_JUDGE_MODEL)."
GUESS = "No judgement: each dimension has 0.5."
MAX_MESSAGE = 2_000  # characters of one message
MAX_TOTAL = 30_000  # of all of them
MAX_START = 10_000  # of those at its start, where it is longer; its end tells more
MAX_ROWS = 1_000  # messages that are read from either end


@dataclass(frozen=True)
class Transcript:
    """The text, how many messages it has, and how many of the conversation it leaves out."""

    text: str
    shown: int
    left_out: int


def claim_scoring(scoring_id: UUID) -> Scoring | None:
    """Take a scoring that no worker has, until its next sign of life is due."""
    if not leases.claim_row(Scoring, scoring_id, lease_seconds()):
        return None
    return Scoring.objects.select_related("branch").get(pk=scoring_id)


def lease_seconds() -> float:
    return leases.LEASE_SECONDS + conf().judge_timeout


class ScoringRun:
    """A run of one scoring."""

    def __init__(self, row: Scoring) -> None:
        self.row, self.lease = row, leases.Lease.of(row)

    def carry_out(self) -> None:
        """Ask for the votes that are missing, then store the scores, until it is done or waits."""
        try:
            while not self._try_once():
                pass
        except Paused:
            return
        except leases.LeaseLost:
            logger.info("Scoring %s is another worker's", self.row.pk)
        except Day1Error as error:  # the branch or the conversation is gone
            self._fail(error)

    def _try_once(self) -> bool:
        """Work on what is stored now; return whether the scoring is done, and not to be read again."""
        try:
            transcript = self._read_transcript()
            for judge in self._list_missing():
                self._take_vote(judge, transcript)
            self._finish()
        except Stale:
            return False
        return True

    def _read_transcript(self) -> Transcript:
        """Read the scoring and its conversation. Raises Paused while an erasure is under way."""
        self.mark = ErasureMark.read(self.row.project_id)
        if self.mark.is_under_way:
            self.lease.postpone(leases.FIRST_WAIT)
            raise Paused
        self.row.refresh_from_db()
        self.names = list_names(self.row.dimensions)
        lineage = self.row.branch.lineage(self.row.seq)
        conversation = get_visible(lineage, self.row.conversation_id)
        found = read_transcript(load_thread(lineage, conversation), Message.objects.in_lineage(lineage))
        self.row.messages = found.shown
        return found

    # ---- votes ---------------------------------------------------------------------------------

    def _list_missing(self) -> Iterator[str]:
        """Yield the judge of each vote that is not stored yet."""
        for judge in self.row.judges:
            while self._needs_vote(judge):
                yield judge

    def _needs_vote(self, judge: str) -> bool:
        own = [one for one in self.row.ballots if one["judge"] == judge]
        return len(own) < self.row.votes and not any(one.get("gave_up") for one in own)

    def _take_vote(self, judge: str, transcript: Transcript) -> None:
        """Store the vote of a judge, or why there is none. Raises Paused, Stale, LeaseLost."""
        self.lease.renew(lease_seconds())
        if self._is_stale():
            raise Stale
        try:
            server = find_server(judge)
            with paid_by(self.row.project_id):
                answer = server.complete(self._build_prompt(transcript))
        except ModelBudgetSpent as spent:
            self.lease.postpone(RETRY_SECONDS, warning=spent.text)
            raise Paused from None
        except ProviderUnavailable as error:
            self._store_failure(judge, error)
        else:
            self._store_ballot(self._read_answer(judge, answer, transcript.text), answer)

    def _build_prompt(self, transcript: Transcript) -> list[Any]:
        meanings = "\n".join(f"- {one}" for one in self.row.dimensions)
        parts = [Excerpt("the conversation", transcript.text)]
        words = {"dimensions": meanings, "answer": describe_answer(self.names)}
        return build_prompt(FOLDER / f"{SCORE}.txt", parts, **words)

    def _read_answer(self, judge: str, answer: ChatAnswer, shown: str) -> dict[str, Any]:
        try:
            rating = ratings.parse_rating(answer.text, shown, self.names)
        except ProviderNonsense as error:
            return {"judge": judge, "error": describe_error(error)}
        return {"judge": judge, "scores": dict(rating.scores), "reasons": dict(rating.reasons)}

    def _store_failure(self, judge: str, error: ProviderUnavailable) -> None:
        """Store that a judge gives no vote, or wait for it. Raises Paused."""
        nonsense = isinstance(error, ProviderNonsense)
        is_final = error.data.get("status") in (*REFUSED_REQUEST, *REFUSING)
        if not nonsense and not is_final and self.row.tries + 1 < leases.MAX_TRIES:
            self._wait(error)
        gave_up = {} if nonsense else {"gave_up": True}
        tokens = [int(error.data.get(name) or 0) for name in ("input_tokens", "output_tokens")]
        ballot = {"judge": judge, "error": describe_error(error), **gave_up}
        self._store_ballot(ballot, ChatAnswer("", *tokens))

    def _wait(self, error: ProviderUnavailable) -> None:
        """Have the run go on later: when the server asked for it, else twice as late each time."""
        Scoring.objects.filter(pk=self.row.pk).update(calls=F("calls") + 1)
        seconds = leases.choose_wait(self.row.tries, error.data.get("retry_after"))
        self.lease.postpone(seconds, warning=describe_error(error), tries=F("tries") + 1)
        raise Paused

    def _is_stale(self) -> bool:
        return ErasureMark.read(self.row.project_id) != self.mark

    def _store_ballot(self, ballot: dict[str, Any], answer: ChatAnswer) -> None:
        """Store a vote with what it cost, so that neither is lost nor paid for twice.

        Raises LeaseLost, Stale: then its cost alone is stored.
        """
        ballots = [*self.row.ballots, ballot]
        if not self._store_ballots(ballots, answer):
            self.lease.renew(lease_seconds())
            raise Stale
        self.row.ballots, self.row.tries = ballots, 0

    @retry_transaction
    def _store_ballots(self, ballots: list[dict[str, Any]], answer: ChatAnswer) -> bool:
        with transaction.atomic():
            Scoring.objects.filter(pk=self.row.pk).update(
                calls=F("calls") + 1,
                input_tokens=F("input_tokens") + answer.input_tokens,
                output_tokens=F("output_tokens") + answer.output_tokens,
            )
            return not self._is_stale() and bool(self.lease.running.update(ballots=ballots, tries=0))

    # ---- ends ----------------------------------------------------------------------------------

    def _fail(self, error: Day1Error) -> None:
        values: dict[str, Any] = {"state": State.FAILED, "warning": error.text[:500], "resume_at": None}
        values["open_request"] = None
        self.lease.running.update(finished_at=timezone.now(), **values)

    @retry_transaction
    def _finish(self) -> None:
        """Store the median of the votes, and without any .5 in each dimension, in one transaction.

        Raises Stale, LeaseLost.
        """
        votes = [ratings.Rating(one["scores"], one["reasons"]) for one in self.row.ballots if "scores" in one]
        method = Method.JUDGE if votes else Method.HEURISTIC
        rating = (
            ratings.combine_votes(votes)
            if votes
            else ratings.Rating(dict.fromkeys(self.names, UNKNOWN_SCORE), {})
        )
        with transaction.atomic():
            self.lease.update(
                state=State.DONE,
                method=method,
                average=rating.average,
                messages=self.row.messages,
                prompt=SCORE if votes else "",
                warning=self._describe_shortfall(len(votes)),
                ballots=[without_reasons(one) for one in self.row.ballots],
                resume_at=None,
                open_request=None,
                finished_at=timezone.now(),
            )
            if self._is_stale():
                raise Stale
            target = {"target_type": Score.Target.CONVERSATION, "target_id": self.row.conversation_id}
            author = {"scorer": SCORER, "method": method, "created_at": timezone.now()}
            insert_all(build_scores(rating, self.row, scoring_id=self.row.pk, **target, **author))

    def _describe_shortfall(self, votes: int) -> str:
        """Return what fell short: "" where every vote was given."""
        errors = [one["error"] for one in self.row.ballots if "error" in one]
        if not votes:
            return ratings.cut_text(" ".join([GUESS, *(errors[:1] or [NO_JUDGE])]))
        if not errors:
            return ""
        return ratings.cut_text(
            f"{len(errors)} of {len(self.row.ballots)} answers could not be used: {errors[0]}"
        )


def find_server(judge: str) -> ChatServer:
    """Return the server for a judge. Raises ProviderUnavailable where the settings name none any more."""
    server, problem = find_configured(lambda: get_judge(judge))
    if server is None:
        raise ProviderUnavailable(reason=problem or NO_JUDGE, status=404)
    return server


def without_reasons(ballot: dict[str, Any]) -> dict[str, Any]:
    """Return a vote without the judge's words: those that count stand with the scores."""
    return {name: value for name, value in ballot.items() if name != "reasons"}


def list_judges(requested: Sequence[str]) -> list[str]:
    """Return the judges of a scoring: those that were asked for, else the one of the settings, if any."""
    return list(dict.fromkeys(requested)) or ([conf().judge_model] if conf().judge_model else [])


# ---- the transcript ----------------------------------------------------------------------------------


def read_transcript(thread: Thread, rows: VersionedQuerySet) -> Transcript:
    """Return the start and the end of a thread, all of it where that fits."""
    total = sum(part.count() for _, part in thread.split(rows))
    start = take_lines(thread.stream(rows, MAX_ROWS), MAX_START)
    left = MAX_TOTAL - sum(map(len, start.values()))
    end = take_lines(thread.stream(rows, MAX_ROWS, down=True), left, start)
    left_out = total - len(start) - len(end)
    gap = [f"[{left_out} messages are left out here]"] if left_out else []
    text = "\n\n".join([*start.values(), *gap, *reversed(end.values())])
    return Transcript(text, len(start) + len(end), left_out)


def take_lines(
    messages: Iterator[Message], limit: int, known: dict[int, str] | None = None
) -> dict[int, str]:
    """Return messages as texts by their keys, as far as they fit, up to the first known one."""
    found: dict[int, str] = {}
    for row in messages:
        text = describe_message(row)
        if row.rid in (known or ()) or len(text) > limit:
            break
        found[row.rid] = text
        limit -= len(text)
    return found


def describe_message(row: Message) -> str:
    calls = (read_call(call, row) for call in row.tool_calls if isinstance(call, dict))
    parts = [row.content, *(f"calls {one.name} {encode_arguments(one.arguments)}" for one in calls)]
    text = "\n".join(part for part in parts if part)
    return ratings.cut_characters(MAX_MESSAGE, f"[{row.sequence_num}] {row.role}: {text}")
