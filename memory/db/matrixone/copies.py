"""Snapshots and workspaces on MatrixOne: the server keeps the first, and branches databases for the second.

None of these statements belongs in a transaction: inside of one they have a connection of their own.
"""

from collections.abc import Iterator
from contextlib import closing, contextmanager, nullcontext
from typing import Any
from uuid import UUID

from django.db import DatabaseError, InterfaceError, models

from memory.db.aliases import opened
from memory.db.copies import Changes, CopyFailed, Taken, checked, id_of_now, named, prefix_of
from memory.db.matrixone import errors
from memory.db.reading import converted, converters
from memory.db.rerun import rerun


class Copies:
    """What the server can keep and branch of the database of a connection."""

    def __init__(self, connection: Any) -> None:
        self.connection = connection
        self.database = str(connection.settings_dict["NAME"])

    def name(self, key: UUID, kind: str = "") -> str:
        """What a new copy is to be called: a server may hold the stores of several."""
        return named(self._own(), key, kind)

    def frozen(self) -> set[str]:
        """The names of the frozen copies that are there."""
        return self._ours(self._run("SHOW SNAPSHOTS"))

    def forks(self) -> set[str]:
        """The names of the copies to work in that are there, those for reading included."""
        return self._ours(self._run("SELECT schema_name FROM information_schema.schemata"))

    def _ours(self, rows: list[tuple]) -> set[str]:
        return {row[0] for row in rows if row[0].startswith(f"{self._own()}_")}

    # ---- making ----------------------------------------------------------------------------------

    def take(self, name: str) -> Taken:
        """A frozen copy of this moment. Raises CopyFailed."""
        self._run(f"CREATE SNAPSHOT {checked(name)} FOR DATABASE {self._quoted(self.database)}")
        return Taken(name)

    def fork(self, name: str) -> Taken:
        """A copy to work in, as a database of its own. Raises CopyFailed."""
        self._run(f"DATA BRANCH CREATE DATABASE {checked(name)} FROM {self._quoted(self.database)}")
        return Taken(name)

    def drop(self, name: str) -> None:
        """Remove a frozen copy. One that is gone already is no error."""
        self._run(f"DROP SNAPSHOT IF EXISTS {checked(name)}")

    def drop_fork(self, name: str) -> None:
        if self.has_fork(name):
            self._run(f"DATA BRANCH DELETE DATABASE {checked(name)}")

    def has(self, name: str) -> bool:
        return checked(name) in {row[0] for row in self._run("SHOW SNAPSHOTS")}

    def has_fork(self, name: str) -> bool:
        sql = "SELECT 1 FROM information_schema.schemata WHERE schema_name = %s"
        return bool(self._run(sql, [checked(name)]))

    def place_of_fork(self, name: str) -> str:
        """The database that a server for this workspace is to use."""
        return checked(name)

    # ---- reading ---------------------------------------------------------------------------------

    def check(self, name: str, taken: Taken) -> None:
        """Raises CopyFailed for a frozen copy that is gone."""
        if not self.has(name):
            raise CopyFailed("The server does not keep this snapshot any more.")

    @contextmanager
    def opened(self, name: str) -> Iterator[str]:
        """An alias to read a frozen copy under: a branch of the database as it was, for the time being."""
        reading = self.name(id_of_now(), "read")  # each reader its own: it is dropped at the end
        source = f"{self._quoted(self.database)} {{SNAPSHOT = '{checked(name)}'}}"
        self._run(f"DATA BRANCH CREATE DATABASE {reading} FROM {source}")
        try:
            with opened({"NAME": reading}) as alias:
                yield alias
        finally:
            self.drop_fork(reading)

    @contextmanager
    def opened_fork(self, name: str) -> Iterator[str]:
        """An alias for a workspace, which a server may be using. Raises CopyFailed."""
        if not self.has_fork(name):
            raise CopyFailed("The database of this workspace is gone.")
        with opened({"NAME": name}) as alias:
            yield alias

    def values(self, name: str, model: type[models.Model], fields: list[str], **equal: Any) -> list[tuple]:
        """Some columns of a frozen copy's rows; a quick look without an alias."""
        columns = [self._field(model, field) for field in fields]
        wanted = [self._field(model, field) for field in equal]
        where = " AND ".join(f"{self._quoted(field.column)} = %s" for field in wanted)
        shown = ", ".join(self._quoted(field.column) for field in columns)
        params = [
            field.get_db_prep_value(value, self.connection)
            for field, value in zip(wanted, equal.values(), strict=True)
        ]
        sql = f"SELECT {shown} FROM {self._then(model, name)} WHERE {where}"
        return converted(
            self.connection, [converters(self.connection, field) for field in columns], self._run(sql, params)
        )

    def changed(self, name: str, model: type[models.Model]) -> Changes:
        """By which keys a frozen copy differs from what is committed here: only what it alone has."""
        pk = self._field(model, "pk")
        key, table = self._quoted(pk.column), self._quoted(model._meta.db_table)
        there = self._run(
            f"SELECT s.{key} FROM {self._then(model, name)} s"
            f" LEFT JOIN {table} t ON t.{key} = s.{key} WHERE t.{key} IS NULL"
        )
        return Changes(frozenset(pk.to_python(value) for (value,) in there), frozenset(), frozenset())

    def changed_fork(self, name: str, model: type[models.Model]) -> Changes:
        """What was changed on either side since the workspace was made: the server compares three-way."""
        pk, table = self._field(model, "pk"), self._quoted(model._meta.db_table)
        rows = self._run(
            f"DATA BRANCH DIFF {checked(name)}.{table} AGAINST {self._quoted(self.database)}.{table}"
            f" COLUMNS ({self._quoted(pk.column)})"
        )
        found: dict[str, set[Any]] = {"INSERT": set(), "UPDATE": set(), "DELETE": set()}
        for _, flag, value in rows:  # by place: the names of the columns hold those of the tables
            found[flag].add(pk.to_python(value.decode() if isinstance(value, bytes) else value))
        return Changes(*(frozenset(found[flag]) for flag in ("INSERT", "UPDATE", "DELETE")))

    # ---- the past that the server keeps ----------------------------------------------------------

    def window(self) -> int:
        """For how many days the server keeps every state of the database; 0 when it does not."""
        named = [row for row in self._run("SHOW PITR") if row[0] == self._own()]
        return int(named[0][7]) if named else 0

    def keep_window(self, days: int) -> None:
        """From now on, for so many days; 0 ends it. Raises CopyFailed."""
        pitr, now = self._own(), self.window()
        if not days:
            self._run(f"DROP PITR IF EXISTS {pitr}")
        elif now:
            self._run(f"ALTER PITR {pitr} RANGE {int(days)} 'd'")
        else:
            self._run(f"CREATE PITR {pitr} FOR DATABASE {self._quoted(self.database)} RANGE {int(days)} 'd'")

    def _own(self) -> str:
        """How the names of what belongs to this database begin."""
        return prefix_of(self.database)

    # ---- small ones ------------------------------------------------------------------------------

    def _run(self, sql: str, params: Any = None) -> list[tuple]:
        try:
            return self._ask(sql, params)
        except (DatabaseError, InterfaceError) as error:
            raise CopyFailed(self._why(error)) from error

    @rerun  # a statement by itself: what the server gave up left nothing
    def _ask(self, sql: str, params: Any) -> list[tuple]:
        with self._outside() as own, own.cursor() as cursor:
            cursor.execute(sql, params)
            return list(cursor.fetchall() if cursor.description else ())

    def _outside(self) -> Any:
        """A connection without a transaction: to make another takes longer than most of these statements."""
        inside = self.connection.in_atomic_block
        return closing(self.connection.copy()) if inside else nullcontext(self.connection)

    def _why(self, error: Exception) -> str:
        if errors.lacks_right(error.args):
            user = self.connection.settings_dict["USER"]
            return (
                f"The database user {user} lacks the right to do this; administrators of its account have it."
            )
        return f"MatrixOne refuses: {error.args[-1]}."

    def _then(self, model: type[models.Model], name: str) -> str:
        return f"{self._quoted(model._meta.db_table)} {{SNAPSHOT = '{checked(name)}'}}"

    @staticmethod
    def _field(model: type[models.Model], name: str) -> Any:
        return model._meta.pk if name == "pk" else model._meta.get_field(name)

    def _quoted(self, name: str) -> str:
        return self.connection.ops.quote_name(name)
