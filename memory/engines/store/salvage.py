"""Salvage: every row of a damaged file that can be read, written to a new store.

Rows are copied as they are stored, without models: one that no model can load is kept, and the check of the
new store tells of it. What is derived is made anew.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from django.db import connection, models, transaction

from memory.db.backend import open_damaged_file
from memory.db.bulk_sql import insert_stored
from memory.engines.store.check.engine import CheckEngine, CheckReport
from memory.engines.store.check.high_water import keep_mark
from memory.engines.store.check.rows import list_tables
from memory.engines.store.maintenance import MaintenanceEngine
from memory.engines.support.batches import Progress
from memory.exceptions import Conflict
from memory.models import Project

# Of the new store: what its own migrations made, and logins, which may have been ended meanwhile.
OWN = frozenset({"django_migrations", "django_session"})
MAX_KEYS = 100  # of lost rows in a report


@dataclass
class SalvagedTable:
    """What came of a table. ``refused`` rows contradict others, such as a second row of one key."""

    name: str
    rows: int = 0
    refused: int = 0
    mended: int = 0
    lost: int = 0
    lost_ids: list[tuple[int | None, int | None]] = field(default_factory=list)
    lost_keys: list[Any] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)  # columns that this Day1 does not have

    @property
    def is_whole(self) -> bool:
        return not (self.refused or self.mended or self.lost or self.lost_ids)


@dataclass
class Salvage:
    """What was read of a damaged file, and what the check of the new store says."""

    tables: list[SalvagedTable]
    missing: list[str]  # tables that the file does not have
    left_out: list[str]  # tables that this Day1 does not have
    check: CheckReport

    @property
    def is_whole(self) -> bool:
        return self.check.is_clean and not self.missing and all(table.is_whole for table in self.tables)

    def describe(self) -> dict[str, Any]:
        return {
            "rows": sum(table.rows for table in self.tables),
            "lost": sum(table.lost for table in self.tables),
            "tables": [vars(table) for table in self.tables],
            "missing": self.missing,
            "left_out": self.left_out,
            "check": self.check.describe(),
        }


class SalvageEngine:
    """The salvage of a file into the store of this process, which is new."""

    def salvage_file(self, source: Path, tell: Progress) -> Salvage:
        """Copy what can be read, make the index anew and check the result.

        Raises Conflict for a store that is not new, and for a file of which nothing can be read.
        """
        if Project.objects.exists():
            raise Conflict("This store is not new: name a file that does not exist.")
        kinds = {kind._meta.db_table: kind for kind in list_tables()}
        with open_damaged_file(source) as damaged:
            if damaged.find_trouble():
                raise Conflict("No table of {file} can be read: restore a backup.", file=source.name)
            empty_tables(reversed(kinds.values()))
            known = [name for name in damaged.tables if name in kinds and name not in OWN]
            tables = []
            for done, name in enumerate(known):
                tell(done, len(known))
                tables.append(copy_table(damaged, kinds[name]))
            missing = sorted(kinds.keys() - damaged.tables.keys() - OWN)
            left_out = sorted(damaged.tables.keys() - kinds.keys() - OWN)
        MaintenanceEngine().rebuild_index(tell)
        keep_mark(anew=True)
        return Salvage(tables, missing, left_out, CheckEngine().check_store())


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
    describe_lost(table, read, damaged, kind)
    return table


def describe_lost(table: SalvagedTable, read: Any, damaged: Any, kind: type[models.Model]) -> None:
    table.refused, table.mended = read.rows - table.rows, read.mended
    table.lost, table.lost_ids = len(read.lost), [*damaged.find_ranges(read.lost), *read.gaps]
    column = "uid" if any(one.name == "uid" for one in kind._meta.fields) else str(kind._meta.pk.column)
    table.lost_keys = damaged.name_lost(read, column, MAX_KEYS)
