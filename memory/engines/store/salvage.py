"""Salvage: every row of a damaged file that can be read, written to a new store.

Rows are copied as they are stored, without models: one that no model can load is kept, and the check of the
new store tells of it. What is derived is made anew.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import UUID

from django.db import DEFAULT_DB_ALIAS, connection, models, transaction

from memory.actors import local_actor
from memory.db.backend import open_damaged_file
from memory.db.bulk_sql import delete_stored, insert_stored
from memory.db.damage import permit_writes
from memory.db.indexes import FullTextIndex, full_text_index
from memory.engines.audit.trail import record_entry
from memory.engines.embedding.engine import EmbeddingEngine
from memory.engines.store.check.engine import ACCEPTED, CheckEngine, CheckReport
from memory.engines.store.check.files import find_broken, list_references
from memory.engines.store.check.high_water import keep_mark
from memory.engines.store.check.mending import mend_version, walk_changed
from memory.engines.store.check.problems import CheckedStore, Findings, Problem
from memory.engines.store.check.rows import list_tables, read_stored_keys, walk_keys
from memory.engines.store.maintenance import MaintenanceEngine
from memory.engines.support.batches import Progress
from memory.engines.support.readable_rows import UNREADABLE, read_rows
from memory.exceptions import Conflict, ProviderUnavailable
from memory.models import Project

# Of the new store: what its own migrations made, and logins, which may have been ended meanwhile.
OWN = frozenset({"django_migrations", "django_session"})
MAX_KEYS = 100  # of lost rows in a report
MAX_DIGESTS = 1000  # in an entry of the trail
MAX_NAME_LENGTH = 200  # of a file, in the trail
LOSSES = frozenset({"foreign_keys", "content", "versions", "commits", "audit"})  # checks that tell them


@dataclass
class SalvagedTable:
    """What came of a table. ``refused`` rows contradict others, such as a second row of one key.

    ``mended`` rows were put back from copies; ``changed`` are the keys of those with bytes that are no text
    and no copy.
    """

    name: str
    rows: int = 0
    refused: int = 0
    mended: int = 0
    changed: list[Any] = field(default_factory=list)
    broken: dict[Any, dict[str, bytes]] = field(default_factory=dict)  # not yet known to be either
    lost: int = 0
    lost_ids: list[tuple[int | None, int | None]] = field(default_factory=list)
    lost_keys: list[Any] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)  # columns that this Day1 does not have

    @property
    def is_whole(self) -> bool:
        return not (self.refused or self.changed or self.lost or self.lost_ids)

    def describe(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "broken"}


@dataclass
class Salvage:
    """What was read of a damaged file, and what the check of the new store says."""

    tables: list[SalvagedTable]
    missing: list[str]  # tables that the file does not have
    left_out: list[str]  # tables that this Day1 does not have
    check: CheckReport
    is_accepted: bool = False  # what was lost, by a person

    @property
    def is_whole(self) -> bool:
        if self.is_accepted:
            return self.check.is_clean
        return self.check.is_clean and not self.missing and all(table.is_whole for table in self.tables)

    def describe(self) -> dict[str, Any]:
        return {
            "rows": sum(table.rows for table in self.tables),
            "lost": sum(table.lost for table in self.tables),
            "tables": [table.describe() for table in self.tables],
            "missing": self.missing,
            "left_out": self.left_out,
            "accepted": self.is_accepted,
            "check": self.check.describe(),
        }


class SalvageEngine:
    """The salvage of a file into the store of this process, which is new."""

    def salvage_file(self, source: Path, tell: Progress, *, accept: bool = False) -> Salvage:
        """Copy what can be read, make the index anew and check the result.

        Where a person accepts the loss, rows that no model can load are left out, and the audit trail has
        what is lost, so that later checks only note it.
        Raises Conflict for a store that is not new, and for a file of which nothing can be read.
        """
        if Project.objects.exists():
            raise Conflict("This store is not new: name a file that does not exist.")
        kinds = {kind._meta.db_table: kind for kind in list_tables()}
        with open_damaged_file(source) as damaged:
            found = [] if damaged.find_trouble() else damaged.tables
            known = [name for name in found if name in kinds and name not in OWN]
            if not known:
                raise Conflict("No table of {file} can be read: restore a backup.", file=source.name)
            empty_tables(reversed(kinds.values()))
            tables = []
            for done, name in enumerate(known):
                tell(done, len(known))
                tables.append(copy_table(damaged, kinds[name]))
            with permit_writes():  # rows are kept that mark the new store as damaged
                put_back(damaged, tables, tell)
                count_named({table.name: table for table in tables})
            missing = sorted(kinds.keys() - damaged.tables.keys() - OWN)
            left_out = sorted(damaged.tables.keys() - kinds.keys() - OWN)
        with permit_writes():
            if accept:
                leave_out_unreadable({table.name: table for table in tables})
            MaintenanceEngine().rebuild_index(tell)
            queue_texts()
        keep_mark(anew=True)
        report = CheckEngine().check_store()
        if accept and (lost := [one for one in report.problems if one.check in LOSSES]):
            accept_loss(source.name, lost)
            report = CheckEngine().check_store()
        return Salvage(tables, missing, left_out, report, accept)


def empty_tables(kinds: Any) -> None:
    """Take out what a new store begins with."""
    with connection.constraint_checks_disabled(), transaction.atomic(savepoint=False):
        for kind in kinds:
            kind._base_manager.all().delete()


def copy_table(damaged: Any, kind: type[models.Model]) -> SalvagedTable:
    """Copy the rows of a table, without a look at what they refer to: that may be lost."""
    name = kind._meta.db_table
    fields = {str(one.column): one for one in kind._meta.local_concrete_fields}
    columns = [column for column in damaged.tables[name] if column in fields]
    added = [one for column, one in fields.items() if column not in damaged.tables[name]]
    table, read = SalvagedTable(name), damaged.begin_read(name)
    table.left_out = [column for column in damaged.tables[name] if column not in fields]
    defaults = [one.get_db_prep_save(one.get_default(), connection) for one in added]
    written = [*columns, *(str(one.column) for one in added)]
    with connection.constraint_checks_disabled():
        for rows in damaged.read_table(read, columns):
            with transaction.atomic(savepoint=False):
                table.rows += insert_stored(name, written, [(*row, *defaults) for row in rows])
    key = columns.index(str(kind._meta.pk.column))
    table.broken = {row[key]: data for row, data in read.broken}
    describe_lost(table, read, damaged, kind)
    return table


def put_back(damaged: Any, tables: list[SalvagedTable], tell: Progress) -> None:
    """Put changed versions back from copies in the damaged file, where their checksums prove them right."""
    broken = {(table.name, key): data for table in tables for key, data in table.broken.items()}
    by_name = {table.name: table for table in tables}
    for row, unread in walk_changed(tell):
        name, index = row._meta.db_table, full_text_index(type(row))
        texts = read_texts(damaged, index, row.pk) if index else []
        with transaction.atomic(savepoint=False):
            if mend_version(row, broken.get((name, row.pk), {}) | unread, texts):
                by_name[name].mended += 1
                by_name[name].broken.pop(row.pk, None)
    for table in tables:
        table.changed = list(table.broken)[:MAX_KEYS]


def read_texts(damaged: Any, index: FullTextIndex, rid: int) -> Iterator[str]:
    for table in (index.name, index.closed):
        yield from damaged.read_texts(table, rid)


def count_named(tables: dict[str, SalvagedTable]) -> None:
    """Count as lost at least the rows that others name and that are not there."""
    store = CheckedStore(DEFAULT_DB_ALIAS, None, lambda done, total: None)
    named = defaultdict[str, set[Any]](set)
    for kind in list_tables():
        for reference in list_references(kind):
            broken = find_broken(store, kind, reference).values_list(reference.attname, flat=True)
            with suppress(*UNREADABLE):
                named[reference.related_model._meta.db_table].update(broken.distinct())
    for name in named.keys() & tables.keys():
        table, keys = tables[name], sorted(named[name], key=str)
        table.lost = max(table.lost, len(keys))
        table.lost_keys = table.lost_keys or keys[:MAX_KEYS]


def leave_out_unreadable(tables: dict[str, SalvagedTable]) -> None:
    """Take out what no model can load: it would stop all writes."""
    for kind in list_tables():
        if not (keys := find_unreadable(kind)):
            continue
        name = kind._meta.db_table
        with connection.constraint_checks_disabled(), transaction.atomic(savepoint=False):
            delete_stored(name, str(kind._meta.pk.column), keys)
        table = tables[name]
        table.rows, table.lost = table.rows - len(keys), table.lost + len(keys)
        table.lost_keys += keys[:MAX_KEYS]


def find_unreadable(kind: type[models.Model]) -> list[str]:
    """Return the keys of the rows that no model can load, as they are stored."""
    rows, findings, found = kind._base_manager.order_by(), Findings(""), list[Any]()
    for keys in walk_keys(rows, findings):
        found += read_rows(rows, keys)[1]
    of_no_key = read_stored_keys(rows)[1] if findings.problems else []
    return [key.hex if isinstance(key, UUID) else str(key) for key in found] + of_no_key


def queue_texts() -> None:
    """Have the texts embedded whose vectors were lost; where no model answers, the next start does so."""
    with suppress(ProviderUnavailable):
        for project in Project.objects.all():
            EmbeddingEngine().want_missing(project.pk)


def accept_loss(source: str, lost: list[Problem]) -> None:
    """Write to each project's trail what is lost: how much of what, and digests that tell later checks."""
    counts: Counter[str] = Counter()
    for problem in lost:
        counts[problem.kind.name] += problem.count
    digests = [digest for problem in lost for digest in problem.digests]
    for project in Project.objects.all():
        with transaction.atomic():
            for start in range(0, len(digests), MAX_DIGESTS):
                detail = {"lost": counts, "accepted": digests[start : start + MAX_DIGESTS]}
                record_entry(local_actor(project.pk), ACCEPTED, source[:MAX_NAME_LENGTH], detail)


def describe_lost(table: SalvagedTable, read: Any, damaged: Any, kind: type[models.Model]) -> None:
    table.refused = read.rows - table.rows
    table.lost, table.lost_ids = len(read.lost), [*damaged.find_ranges(read.lost), *read.gaps]
    column = "uid" if any(one.name == "uid" for one in kind._meta.fields) else str(kind._meta.pk.column)
    table.lost_keys = damaged.name_lost(read, column, MAX_KEYS)
