"""Migration of a whole store to another database: every row of every table, verified by counts and hashes.

Rows are compared while copied: missing ones are added, different ones are updated. So an interrupted run is
simply repeated, and the final check is the same pass once more.
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from typing import Any
from uuid import UUID

import numpy as np
from django.apps import apps
from django.contrib.auth import get_user_model
from django.db import models, transaction

from memory.db.backend import get_backend
from memory.db.bulk_sql import insert_all
from memory.db.fields import dumps
from memory.db.model_graph import in_order
from memory.engines.audit.trail import broken_at
from memory.engines.store.maintenance import MaintenanceEngine
from memory.engines.support.batches import Progress
from memory.exceptions import Conflict
from memory.models import AuditEntry, Commit, Node, Project, QueueMessage, Snapshot, Workspace

TARGET = "default"  # engines use it, which the index needs
BATCH_SIZE = 500
# Node numbers in use, and messages whose work the rows themselves record.
TRANSIENT = frozenset((Node, QueueMessage))

Kind = type[models.Model]


@dataclass(frozen=True)
class Table:
    """Table that is equal in both stores: its number of rows, and one hash over all of them."""

    name: str
    rows: int
    sha256: str


class StoreMove:
    """Migration from the store behind the alias ``source`` to the default one."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.kinds = migrated_models()

    def copy_store(self, tell: Progress) -> list[Table]:
        """Copy and verify everything; return the tables, all equal.

        Raises Conflict for a target with other data, a source that was written to meanwhile, and a table that
        differs in the end.
        """
        before = self._activity_marker()
        with get_backend(self.source).snapshot():
            self._check_target()
            total = 2 * sum(list_movable_rows(kind, self.source).count() for kind in self.kinds)
            done = 0
            for kind in self.kinds:
                done = self._carry_table(kind, done, lambda number: tell(number, total))
            MaintenanceEngine().rebuild_index()
            tables = []
            for kind in self.kinds:
                tables.append(self._check_table(kind))
                done += tables[-1].rows
                tell(done, total)
        self._check_still(before)
        _check_audit()
        return tables

    # ---- checks before the migration -----------------------------------------------------------

    def _check_target(self) -> None:
        """Empty a new store of its initial rows. Refuse another one that has rows unknown to the source."""
        if not Project.objects.exists() and not get_user_model().objects.exists():
            with transaction.atomic(savepoint=False):
                for kind in reversed(self.kinds):
                    kind._base_manager.all().delete()
            return
        for kind in self.kinds:
            if own := self._load_keys(kind, TARGET) - self._load_keys(kind, self.source):
                raise Conflict(
                    "The target is a store of its own: {count} rows of {table} are not in the source.",
                    count=len(own),
                    table=kind._meta.db_table,
                )

    @staticmethod
    def _load_keys(kind: Kind, alias: str) -> set[Any]:
        return set(list_movable_rows(kind, alias).values_list("pk", flat=True).iterator(5000))

    def _activity_marker(self) -> tuple[int, int]:
        """Return a marker that grows with every relevant write."""
        commits, entries = (kind._base_manager.using(self.source) for kind in (Commit, AuditEntry))
        return commits.count(), entries.count()

    def _check_still(self, before: tuple[int, int]) -> None:
        if self._activity_marker() != before:
            raise Conflict("The source was written to meanwhile: stop its server, and run this again.")

    # ---- carrying ------------------------------------------------------------------------------

    def _carry_table(self, kind: Kind, done: int, tell: Callable[[int], None]) -> int:
        empty = not kind._base_manager.using(TARGET).exists()
        for rows in iterate_batches(kind, self.source):
            with transaction.atomic(savepoint=False):
                self._write_rows(kind, rows, empty)
            done += len(rows)
            tell(done)
        return done

    @staticmethod
    def _write_rows(kind: Kind, rows: Sequence[Any], empty: bool) -> None:
        """Update changed rows before adding new ones: that frees unique values that the new rows need."""
        copied: dict[Any, Any] = {}
        if not empty:
            copied = kind._base_manager.using(TARGET).in_bulk([row.pk for row in rows])
        for row in rows:
            if row.pk in copied and hash_row(row) != hash_row(copied[row.pk]):
                row.save(using=TARGET, force_update=True)
        insert_all([row for row in rows if row.pk not in copied], using=TARGET)

    # ---- checking ------------------------------------------------------------------------------

    def _check_table(self, kind: Kind) -> Table:
        own, copied = hash_table(kind, self.source), hash_table(kind, TARGET)
        if own != copied:
            raise Conflict(
                "{table} is not the same in both stores: {here} rows here, {there} there. Run this again.",
                table=kind._meta.db_table,
                here=own.rows,
                there=copied.rows,
            )
        return own


def migrated_models() -> list[Kind]:
    """Return every table of a store, parents first."""
    every = apps.get_models(include_auto_created=True)
    kinds = [kind for kind in every if kind._meta.managed and not kind._meta.proxy]
    return in_order(kind for kind in kinds if kind not in TRANSIENT)


def list_movable_rows(kind: Kind, alias: str) -> models.QuerySet:
    """Return the movable rows: store snapshots and open workspaces belong to their database."""
    rows = kind._base_manager.using(alias)
    if kind is Snapshot:
        return rows.filter(kind=Snapshot.Kind.BRANCH)
    return rows.exclude(state=Workspace.State.OPEN) if kind is Workspace else rows.all()


def iterate_batches(kind: Kind, alias: str) -> Iterator[list[Any]]:
    """Yield the rows in the order of their keys, in short reads."""
    rows = list_movable_rows(kind, alias).order_by("pk")
    batch = list(rows[:BATCH_SIZE])
    while batch:
        yield batch
        batch = list(rows.filter(pk__gt=batch[-1].pk)[:BATCH_SIZE])


def hash_table(kind: Kind, alias: str) -> Table:
    count, whole = 0, hashlib.sha256()
    for rows in iterate_batches(kind, alias):
        count += len(rows)
        for row in rows:
            whole.update(hash_row(row))
    return Table(kind._meta.db_table, count, whole.hexdigest())


def hash_row(row: models.Model) -> bytes:
    """Return a digest that is equal for equal rows, whatever the database."""
    values = [plain_value(getattr(row, field.attname)) for field in row._meta.concrete_fields]
    return hashlib.sha256(dumps(values).encode("utf-8", "surrogatepass")).digest()


def plain_value(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.astype("<f4").tobytes().hex()
    if isinstance(value, bytes | memoryview):
        return bytes(value).hex()
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat(timespec="microseconds") if value.tzinfo else str(value)
    if isinstance(value, tzinfo):  # of a schedule
        return str(value)
    return value.hex if isinstance(value, UUID) else value


def _check_audit() -> None:
    for project in Project.objects.all():
        if (entry := broken_at(project.pk)) is not None:
            raise Conflict(
                "The audit chain of {slug} is broken at {place}, as it is in the source.",
                slug=project.slug,
                place=entry,
            )
