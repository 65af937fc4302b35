"""A whole store carried to another database: every row of every table, checked by counts and hashes.

Carrying is comparing: what the target lacks is added, what differs is brought up to date. So a run that was
cut off is simply started again, and the check at the end is the same walk once more.
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import numpy as np
from django.apps import apps
from django.contrib.auth import get_user_model
from django.db import connections, models, transaction

from memory.db.bulk import insert_all
from memory.db.fields import dumps
from memory.db.tables import in_order
from memory.engines.audit import broken_at
from memory.engines.upkeep import UpkeepEngine
from memory.exceptions import Conflict
from memory.models import AuditEntry, Commit, Node, Project, QueueMessage, Snapshot, Workspace

TARGET = "default"  # engines work on it, so that its index can be made
CHUNK = 500
# Who holds a number at the moment, and messages whose work the rows themselves tell of.
PASSING = frozenset((Node, QueueMessage))

Kind = type[models.Model]
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Table:
    """A table that is the same in both stores: its rows, and one hash over all of them."""

    name: str
    rows: int
    sha256: str


class StoreMove:
    """From the store behind the alias ``source`` to the default one."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.kinds = carried()

    def run(self, tell: Progress) -> list[Table]:
        """Carry and check everything; returns the tables, all equal.

        Raises Conflict for a target that holds something else, a source that was written to
        meanwhile, and a table that is not the same in the end.
        """
        before = self._pulse()
        with connections[self.source].snapshot():  # type: ignore[attr-defined]
            self._check_target()
            total = 2 * sum(rows_of(kind, self.source).count() for kind in self.kinds)
            done = 0
            for kind in self.kinds:
                done = self._carry(kind, done, lambda number: tell(number, total))
            UpkeepEngine().reindex()
            tables = []
            for kind in self.kinds:
                tables.append(self._checked(kind))
                done += tables[-1].rows
                tell(done, total)
        self._check_still(before)
        _check_audit()
        return tables

    # ---- may it be done ------------------------------------------------------------------------

    def _check_target(self) -> None:
        """A new store is emptied of what its tables came with. Another one may only lack something."""
        if not Project.objects.exists() and not get_user_model().objects.exists():
            with transaction.atomic(savepoint=False):
                for kind in reversed(self.kinds):
                    kind._base_manager.all().delete()
            return
        for kind in self.kinds:
            if own := self._keys(kind, TARGET) - self._keys(kind, self.source):
                raise Conflict(
                    "The target is a store of its own: {count} rows of {table} are not in the source.",
                    count=len(own), table=kind._meta.db_table,
                )  # fmt: skip

    @staticmethod
    def _keys(kind: Kind, alias: str) -> set[Any]:
        return set(rows_of(kind, alias).values_list("pk", flat=True).iterator(5000))

    def _pulse(self) -> tuple[int, int]:
        """Grows with every write that counts."""
        return tuple(kind._base_manager.using(self.source).count() for kind in (Commit, AuditEntry))  # type: ignore[return-value]

    def _check_still(self, before: tuple[int, int]) -> None:
        if self._pulse() != before:
            raise Conflict("The source was written to meanwhile: stop its server, and run this again.")

    # ---- carrying ------------------------------------------------------------------------------

    def _carry(self, kind: Kind, done: int, tell: Callable[[int], None]) -> int:
        empty = not kind._base_manager.using(TARGET).exists()
        for rows in chunks_of(kind, self.source):
            with transaction.atomic(savepoint=False):
                self._bring(kind, rows, empty)
            done += len(rows)
            tell(done)
        return done

    @staticmethod
    def _bring(kind: Kind, rows: Sequence[Any], empty: bool) -> None:
        """What changed comes before what is new: it frees places that only one row may have."""
        there: dict[Any, Any] = {}
        if not empty:
            there = kind._base_manager.using(TARGET).in_bulk([row.pk for row in rows])
        for row in rows:
            if row.pk in there and digest_of(row) != digest_of(there[row.pk]):
                row.save(using=TARGET, force_update=True)
        insert_all([row for row in rows if row.pk not in there], using=TARGET)

    # ---- checking ------------------------------------------------------------------------------

    def _checked(self, kind: Kind) -> Table:
        here, there = hashed(kind, self.source), hashed(kind, TARGET)
        if here != there:
            raise Conflict(
                "{table} is not the same in both stores: {here} rows here, {there} there. Run this again.",
                table=kind._meta.db_table, here=here.rows, there=there.rows,
            )  # fmt: skip
        return here


def carried() -> list[Kind]:
    """Every table of a store, parents first."""
    every = apps.get_models(include_auto_created=True)
    kinds = [kind for kind in every if kind._meta.managed and not kind._meta.proxy]
    return in_order(kind for kind in kinds if kind not in PASSING)


def rows_of(kind: Kind, alias: str) -> models.QuerySet:
    """The rows that can live in another database: frozen copies and open workspaces belong to theirs."""
    rows = kind._base_manager.using(alias)
    if kind is Snapshot:
        return rows.filter(kind=Snapshot.Kind.BRANCH)
    return rows.exclude(state=Workspace.State.OPEN) if kind is Workspace else rows.all()


def chunks_of(kind: Kind, alias: str) -> Iterator[list[Any]]:
    """The rows in the order of their keys, in short reads."""
    rows = rows_of(kind, alias).order_by("pk")
    some = list(rows[:CHUNK])
    while some:
        yield some
        some = list(rows.filter(pk__gt=some[-1].pk)[:CHUNK])


def hashed(kind: Kind, alias: str) -> Table:
    count, whole = 0, hashlib.sha256()
    for rows in chunks_of(kind, alias):
        count += len(rows)
        for row in rows:
            whole.update(digest_of(row))
    return Table(kind._meta.db_table, count, whole.hexdigest())


def digest_of(row: models.Model) -> bytes:
    """Equal for rows with equal values, whatever the database makes of them."""
    values = [plain(getattr(row, field.attname)) for field in row._meta.concrete_fields]
    return hashlib.sha256(dumps(values).encode("utf-8", "surrogatepass")).digest()


def plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.astype("<f4").tobytes().hex()
    if isinstance(value, bytes | memoryview):
        return bytes(value).hex()
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat(timespec="microseconds") if value.tzinfo else str(value)
    return value.hex if isinstance(value, UUID) else value


def _check_audit() -> None:
    for project in Project.objects.all():
        if (place := broken_at(project.pk)) is not None:
            raise Conflict(
                "The audit chain of {slug} is broken at {place}, as it is in the source.",
                slug=project.slug, place=place,
            )  # fmt: skip
