"""Snapshots and workspaces on MatrixOne: server snapshots, and branches of the database.

None of these statements belongs in a transaction; inside of one they use a separate connection.
"""

from collections.abc import Iterator
from contextlib import closing, contextmanager, nullcontext
from typing import Any
from uuid import UUID

from django.db import DatabaseError, InterfaceError, models

from memory.db.matrixone import errors
from memory.db.raw_select import column_converters, convert_rows
from memory.db.store_copies import (
    Changes,
    CopyFailed,
    CopyInfo,
    build_name,
    build_prefix,
    check_name,
    new_copy_id,
)
from memory.db.temporary_database import temporary_alias
from memory.db.transactions import retry_transaction


class Copies:
    """The snapshots and database branches of a connection's database."""

    def __init__(self, connection: Any) -> None:
        self.connection = connection
        self.database = str(connection.settings_dict["NAME"])

    def make_name(self, key: UUID, kind: str = "") -> str:
        """Return a name for a new copy; its prefix tells the stores of one server apart."""
        return build_name(self._name_prefix(), key, kind)

    def list_snapshots(self) -> set[str]:
        """Return the names of the existing snapshots."""
        return self._filter_own(self._run_statement("SHOW SNAPSHOTS"))

    def list_workspaces(self) -> set[str]:
        """Return the names of the existing workspaces, temporary ones for reading included."""
        return self._filter_own(self._run_statement("SELECT schema_name FROM information_schema.schemata"))

    def _filter_own(self, rows: list[tuple]) -> set[str]:
        return {row[0] for row in rows if row[0].startswith(f"{self._name_prefix()}_")}

    # ---- making ----------------------------------------------------------------------------------

    def take_snapshot(self, name: str) -> CopyInfo:
        """Take a snapshot of the present state. Raises CopyFailed."""
        self._run_statement(
            f"CREATE SNAPSHOT {check_name(name)} FOR DATABASE {self._quote_name(self.database)}"
        )
        return CopyInfo(name)

    def create_workspace(self, name: str) -> CopyInfo:
        """Create a workspace as a database branch. Raises CopyFailed."""
        self._run_statement(
            f"DATA BRANCH CREATE DATABASE {check_name(name)} FROM {self._quote_name(self.database)}"
        )
        return CopyInfo(name)

    def drop_snapshot(self, name: str) -> None:
        """Delete a snapshot; a missing one is no error."""
        self._run_statement(f"DROP SNAPSHOT IF EXISTS {check_name(name)}")

    def drop_workspace(self, name: str) -> None:
        if self.has_workspace(name):
            self._run_statement(f"DATA BRANCH DELETE DATABASE {check_name(name)}")

    def has_snapshot(self, name: str) -> bool:
        return check_name(name) in {row[0] for row in self._run_statement("SHOW SNAPSHOTS")}

    def has_workspace(self, name: str) -> bool:
        sql = "SELECT 1 FROM information_schema.schemata WHERE schema_name = %s"
        return bool(self._run_statement(sql, [check_name(name)]))

    def get_fork_target(self, name: str) -> str:
        """Return the name of the database that a server for this workspace uses."""
        return check_name(name)

    # ---- reading ---------------------------------------------------------------------------------

    def check_snapshot(self, name: str, taken: CopyInfo) -> None:
        """Check that a snapshot exists. Raises CopyFailed."""
        if not self.has_snapshot(name):
            raise CopyFailed("The server does not keep this snapshot any more.")

    @contextmanager
    def open_snapshot(self, name: str) -> Iterator[str]:
        """Open a snapshot for reading under a database alias, as a temporary branch of the database."""
        reading = self.make_name(
            new_copy_id(), "read"
        )  # each reader has its own, which is dropped at the end
        source = f"{self._quote_name(self.database)} {{SNAPSHOT = '{check_name(name)}'}}"
        self._run_statement(f"DATA BRANCH CREATE DATABASE {reading} FROM {source}")
        try:
            with temporary_alias({"NAME": reading}) as alias:
                yield alias
        finally:
            self.drop_workspace(reading)

    @contextmanager
    def open_workspace(self, name: str) -> Iterator[str]:
        """Open a workspace under a database alias; a server may be using it. Raises CopyFailed."""
        if not self.has_workspace(name):
            raise CopyFailed("The database of this workspace is gone.")
        with temporary_alias({"NAME": name}) as alias:
            yield alias

    def read_values(
        self, name: str, model: type[models.Model], fields: list[str], **equal: Any
    ) -> list[tuple]:
        """Return columns of a snapshot's rows, read without an alias."""
        columns = [self._get_field(model, field) for field in fields]
        requested = [self._get_field(model, field) for field in equal]
        where = " AND ".join(f"{self._quote_name(field.column)} = %s" for field in requested)
        shown = ", ".join(self._quote_name(field.column) for field in columns)
        params = [
            field.get_db_prep_value(value, self.connection)
            for field, value in zip(requested, equal.values(), strict=True)
        ]
        sql = f"SELECT {shown} FROM {self._snapshot_table(model, name)} WHERE {where}"
        return convert_rows(
            self.connection,
            [column_converters(self.connection, field) for field in columns],
            self._run_statement(sql, params),
        )

    def diff_snapshot(self, name: str, model: type[models.Model]) -> Changes:
        """Return the keys that only a snapshot has; changed and new rows are not compared."""
        pk = self._get_field(model, "pk")
        key, table = self._quote_name(pk.column), self._quote_name(model._meta.db_table)
        copied = self._run_statement(
            f"SELECT s.{key} FROM {self._snapshot_table(model, name)} s"
            f" LEFT JOIN {table} t ON t.{key} = s.{key} WHERE t.{key} IS NULL"
        )
        return Changes(frozenset(pk.to_python(value) for (value,) in copied), frozenset(), frozenset())

    def diff_workspace(self, name: str, model: type[models.Model]) -> Changes:
        """Return the keys changed on either side since the workspace was made (three-way diff)."""
        pk, table = self._get_field(model, "pk"), self._quote_name(model._meta.db_table)
        rows = self._run_statement(
            f"DATA BRANCH DIFF {check_name(name)}.{table} AGAINST {self._quote_name(self.database)}.{table}"
            f" COLUMNS ({self._quote_name(pk.column)})"
        )
        found: dict[str, set[Any]] = {"INSERT": set(), "UPDATE": set(), "DELETE": set()}
        for _, flag, value in rows:  # by position: the column names contain table names
            found[flag].add(pk.to_python(value.decode() if isinstance(value, bytes) else value))
        return Changes(*(frozenset(found[flag]) for flag in ("INSERT", "UPDATE", "DELETE")))

    # ---- the past that the server keeps ----------------------------------------------------------

    def window_days(self) -> int:
        """Return for how many days the server keeps every state of the database; 0 for none."""
        named = [row for row in self._run_statement("SHOW PITR") if row[0] == self._name_prefix()]
        return int(named[0][7]) if named else 0

    def set_retention(self, days: int) -> None:
        """Set the retention of past states to so many days; 0 ends it. Raises CopyFailed."""
        pitr, now = self._name_prefix(), self.window_days()
        if not days:
            self._run_statement(f"DROP PITR IF EXISTS {pitr}")
        elif now:
            self._run_statement(f"ALTER PITR {pitr} RANGE {int(days)} 'd'")
        else:
            self._run_statement(
                f"CREATE PITR {pitr} FOR DATABASE {self._quote_name(self.database)} RANGE {int(days)} 'd'"
            )

    def _name_prefix(self) -> str:
        """Return the prefix of the names that belong to this database."""
        return build_prefix(self.database)

    # ---- helpers ---------------------------------------------------------------------------------

    def _run_statement(self, sql: str, params: Any = None) -> list[tuple]:
        try:
            return self._run_sql(sql, params)
        except (DatabaseError, InterfaceError) as error:
            raise CopyFailed(self._failure_text(error)) from error

    @retry_transaction  # a single statement: an aborted one leaves nothing behind
    def _run_sql(self, sql: str, params: Any) -> list[tuple]:
        with self._open_connection() as own, own.cursor() as cursor:
            cursor.execute(sql, params)
            return list(cursor.fetchall() if cursor.description else ())

    def _open_connection(self) -> Any:
        """Return a connection without a transaction; opening another one takes time."""
        inside = self.connection.in_atomic_block
        return closing(self.connection.copy()) if inside else nullcontext(self.connection)

    def _failure_text(self, error: Exception) -> str:
        if errors.lacks_right(error.args):
            user = self.connection.settings_dict["USER"]
            return (
                f"The database user {user} lacks the right to do this; administrators of its account have it."
            )
        return f"MatrixOne refuses: {error.args[-1]}."

    def _snapshot_table(self, model: type[models.Model], name: str) -> str:
        return f"{self._quote_name(model._meta.db_table)} {{SNAPSHOT = '{check_name(name)}'}}"

    @staticmethod
    def _get_field(model: type[models.Model], name: str) -> Any:
        return model._meta.pk if name == "pk" else model._meta.get_field(name)

    def _quote_name(self, name: str) -> str:
        return self.connection.ops.quote_name(name)
