"""Traces: rows beside the memories that repeat their text, such as answers, logged searches, contexts.

Whatever stands in for a text is the mark; the rows themselves stay.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol
from uuid import UUID

from django.db import models
from django.db.models import Q
from django.utils import timezone

from memory.conf import conf
from memory.db.budget import take_within
from memory.db.bulk_sql import update_one
from memory.db.transactions import retry_transaction, write_transaction
from memory.engines.erasure.scopes import Targets
from memory.engines.erasure.traced_columns import TracedColumns, list_columns
from memory.engines.facts.short_ids import shorten_id
from memory.engines.sessions.lines import list_short_ids
from memory.engines.support.batches import batched
from memory.engines.support.idempotency import hash_text
from memory.engines.support.text_finder import TextFinder
from memory.engines.support.write_buffer import buffer
from memory.engines.versions.pair_answers import get_pair_answers
from memory.extensions import load_classes
from memory.models import (
    BranchedModel,
    Commit,
    IdempotencyRecord,
    Question,
    QueueMessage,
    RecallLog,
    Session,
)
from memory.models.base import ERASED_MARK
from memory.models.nodes import uuid7

BATCH_SIZE = 500
READ_SIZE = 50  # rows that the database hands over at once
MAX_BYTES = 4_000_000  # of the rows that are looked at together
ANSWER = json.dumps({"erased": True})  # in the place of a stored answer
BRIEFED_BEFORE = "Session before ("  # how the summary of the previous session begins in a briefing


class TraceEraser(Protocol):
    """Interface of another app's rows that repeat texts; DAY1["trace_erasers"] names the classes."""

    def erase_traces(self, traces: "Traces") -> int:
        """Replace what is looked for in the app's rows, in short transactions; return how many had it."""


@dataclass
class Traces:
    """What is looked for: texts, ids, sessions, and a pattern in any spelling of its letters."""

    project_id: UUID
    targets: Targets
    texts: Mapping[str, int] = field(default_factory=dict)
    finder: TextFinder = field(init=False)
    ids: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        self.finder = TextFinder(self.texts)
        self.ids = frozenset(map(str, self.targets.list_uids()))
        self.short_ids = frozenset(map(shorten_id, self.targets.list_uids()))

    def erase_all(self) -> int:
        """Replace every trace, in short transactions; return how many rows had one."""
        buffer.flush()
        count = sum(map(self._redact_columns, list_columns()))
        count += sum(eraser.erase_traces(self) for eraser in load_classes(tuple(conf().trace_erasers)))
        count += self._erase_sessions() + self._erase_statements()
        return count + self._erase_answers() + self._erase_rest()

    # ---- texts ---------------------------------------------------------------------------------

    def _redact_columns(self, traced: TracedColumns) -> int:
        names, about = traced.names, traced.about
        has_text = Q(*((f"{name}__gt", "") for name in names), _connector=Q.OR)
        rows = traced.model._base_manager.filter(has_text, **{traced.project: self.project_id})
        return change_rows(rows, names, lambda row: [self._redact_field(row, name, about) for name in names])

    def _redact_field(self, row: Any, name: str, about: str) -> str:
        value = getattr(row, name)
        if self._has_match(value):
            return ERASED_MARK
        if isinstance(row, RecallLog) and not self.ids.isdisjoint(row.fact_ids):
            return ERASED_MARK  # who finds a text often repeats its rarest words
        if value and isinstance(row, Question) and not self.ids.isdisjoint(row.expected):
            return ERASED_MARK  # likewise
        if value and about and str(getattr(row, about)) in self.ids:
            return ERASED_MARK  # it may repeat the text in other words, or is one that no memory has yet
        if name == "context":
            value = self.redact_lines(value)
        return self.finder.redact(value, ERASED_MARK)[: row._meta.get_field(name).max_length]

    def redact_text(self, value: str) -> str:
        """Return a text in which the mark stands for what is looked for."""
        return ERASED_MARK if self._has_match(value) else self.finder.redact(value, ERASED_MARK)

    def redact_value(self, value: Any) -> Any:
        """Return a text, or the texts of a list or object, without what is erased."""
        if isinstance(value, str):
            return self.redact_text(value) if value else value
        if isinstance(value, Mapping):
            return {name: self.redact_value(one) for name, one in value.items()}
        if isinstance(value, Sequence):
            return [self.redact_value(one) for one in value]
        return value

    def _has_match(self, value: str) -> bool:
        return bool(self.targets.match) and self.targets.match.casefold() in value.casefold()

    def redact_lines(self, context: str) -> str:
        """Replace the lines of a briefing that are about an erased memory: they may shorten its text."""
        lines = context.split("\n")
        return "\n".join(ERASED_MARK if self._names_any(line) else line for line in lines)

    def _names_any(self, text: str) -> bool:
        if any(uid in self.ids for uid in list_ids(text)):
            return True
        return any(short in self.short_ids for short in list_short_ids(text))

    # ---- sessions ------------------------------------------------------------------------------

    def _erase_sessions(self) -> int:
        keys, count = sorted(self.targets.sessions), 0
        own = {"project": self.project_id}
        for batch in batched(keys, BATCH_SIZE):
            sessions = Session.objects.filter(key__in=batch, **own)
            sessions.filter(erased_at=None).update(erased_at=timezone.now())
            count += sessions.update(summary="", context="", recalled={})
            count += RecallLog.objects.filter(session_id__in=batch, **own).update(query=ERASED_MARK)
            commits = Commit.objects.filter(branch__project=self.project_id, session_id__in=batch)
            count += commits.exclude(message="").update(message=ERASED_MARK)
            later = Session.objects.filter(parent_session__in=batch, **own)
            count += change_rows(later, ("context",), lambda row: [without_summary(row.context)])
        return count

    def _erase_statements(self) -> int:
        """Replace what an agent or person wrote beside memories: messages of commits, reasons of verdicts."""
        if (author := self.targets.author) is None:
            return 0
        commits = author.find_commits().exclude(message__in=("", ERASED_MARK))
        reasons = (rows.exclude(reason=ERASED_MARK) for rows in author.iterate_verdicts())
        return int(commits.update(message=ERASED_MARK)) + sum(
            change_rows(rows, ("reason",), lambda row: [ERASED_MARK]) for rows in reasons
        )

    # ---- answers, the review queue, work that waits --------------------------------------------

    def _erase_answers(self) -> int:
        """Blank stored answers. Their requests stay known, so that none of them is carried out again."""
        answers = IdempotencyRecord.objects.filter(project=self.project_id).exclude(body=ANSWER)

        def blank(row: IdempotencyRecord) -> list[Any]:
            if not self._repeats(row.body):
                return [row.body, row.request_hash]
            return [ANSWER, hash_text(str(uuid7()))]

        return change_rows(answers, ("body", "request_hash"), blank)

    def _repeats(self, text: str) -> bool:
        return self._has_match(text) or self._names_any(text) or self.finder.redact(text, ERASED_MARK) != text

    def _erase_rest(self) -> int:
        count = 0
        for batch in batched(sorted(self.targets.get_uids("fact")), BATCH_SIZE):
            questions = get_pair_answers().blank_questions(self.project_id, batch)
            count += len(questions)
            count += sum(
                Commit.objects.filter(branch_id=branch, seq=seq)
                .exclude(message="")
                .update(message=ERASED_MARK)
                for branch, seq in set(questions)
                if seq  # it was answered
            )
        return count + self._erase_messages()

    def _erase_messages(self) -> int:
        """Delete the project's queued work that repeats a text; messages hold ids only, so none should.

        Others name a session or a branch by its number. A sweep finds the work of a deleted one.
        """
        own = QueueMessage.objects.filter(payload__contains=str(self.project_id))
        payloads = own.values_list("pk", "payload").iterator(BATCH_SIZE)
        named = [pk for pk, payload in payloads if self._found(payload)]
        return QueueMessage.objects.filter(pk__in=named).delete()[0]

    def _found(self, text: str) -> bool:
        return self.finder.redact(text, ERASED_MARK) != text


def change_rows(rows: models.QuerySet, columns: Sequence[str], change: Callable[[Any], list[Any]]) -> int:
    """Write what ``change`` returns for the columns of each row, where it differs; return how many."""
    count = 0
    for batch in iterate_rows(rows):
        changed = [(row, new) for row in batch if (new := change(row)) != [getattr(row, c) for c in columns]]
        if changed:
            store_values(columns, changed)
        count += len(changed)
    return count


@retry_transaction
def store_values(columns: Sequence[str], changed: Sequence[tuple[Any, list[Any]]]) -> None:
    with write_transaction():
        for row, values in changed:
            for name, value in zip(columns, values, strict=True):
                setattr(row, name, value)
            if isinstance(row, BranchedModel):
                row.set_checksum()
            names = (*columns, "checksum") if isinstance(row, BranchedModel) else columns
            update_one(row, *names)


def iterate_rows(rows: models.QuerySet) -> Iterator[list[Any]]:
    """Yield the rows by their keys in short reads."""
    ordered = rows.order_by("pk")
    batch = read_rows(ordered)
    while batch:
        yield batch
        batch = read_rows(ordered.filter(pk__gt=batch[-1].pk))


def read_rows(rows: models.QuerySet) -> list[Any]:
    """Return the first rows, fewer of long ones: an answer may have mebibytes."""
    return take_within(rows[:BATCH_SIZE].iterator(READ_SIZE), BATCH_SIZE, MAX_BYTES)


def without_summary(context: str) -> str:
    """Return a briefing without the summary of the session before."""
    lines = context.split("\n")
    return "\n".join(ERASED_MARK if line.startswith(BRIEFED_BEFORE) else line for line in lines)


def list_ids(text: str) -> Iterator[str]:
    """Yield what has the form of an id in a text."""
    position = text.find("-")
    while position >= 0:
        if position >= 8 and text[position + 5 : position + 6] == "-":
            yield text[position - 8 : position + 28]
        position = text.find("-", position + 1)
