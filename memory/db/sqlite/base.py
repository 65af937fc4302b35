"""SQLite for a server: a fair queue of writers, consistent reads, full text, vectors."""

import sqlite3
import weakref
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast
from uuid import UUID, SafeUUID

from django.db import DEFAULT_DB_ALIAS, OperationalError
from django.db.backends.sqlite3 import base, features, operations
from django.utils.dateparse import parse_datetime
from django.utils.functional import cached_property

from memory.db.backend import FileBackend
from memory.db.damage import Damage, clear_damage, find_damage, mark_damaged, require_undamaged
from memory.db.errors import DamageFound
from memory.db.sqlite.checkpoint import get_log_bound
from memory.db.sqlite.copies import Copies
from memory.db.sqlite.cursors import Cursor, CursorPastDamage
from memory.db.sqlite.damaged_file import DamagedFile, open_damaged
from memory.db.sqlite.django_internals import SQLiteWrapper
from memory.db.sqlite.file_check import FileCheck
from memory.db.sqlite.index_check import IndexCheck
from memory.db.sqlite.index_state import KnownState
from memory.db.sqlite.joined_writes import JoinedWrites
from memory.db.sqlite.online_backup import OnlineCopy
from memory.db.sqlite.overwriting import overwrite_deleted
from memory.db.sqlite.schema import DatabaseSchemaEditor, index_tables, list_filled
from memory.db.sqlite.search_index import SearchIndex
from memory.db.sqlite.storage import ErrorWrapper, get_state, note_commit
from memory.db.sqlite.structure import EmptyStore
from memory.db.sqlite.vocabulary import create_vocabularies
from memory.db.sqlite.write_lock import FairLock, get_file_lock

HEX_DIGITS = 32  # of an id
# What stands for values that are none, where a page shows what can be read.
NO_TIME, NO_ID = datetime.fromtimestamp(0, UTC), UUID(int=0)


def decode_rest(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def parse_time(data: bytes) -> datetime | str:
    """Return a stored time; what is none as text, which Django's own function makes an empty value of."""
    try:
        return datetime.fromisoformat(str(data, "ascii"))  # as Django does first
    except ValueError:
        text = decode_rest(data)
    try:
        return parse_datetime(text) or text
    except ValueError:
        return text


sqlite3.register_converter("datetime", parse_time)


class DatabaseFeatures(features.DatabaseFeatures):
    has_native_snapshots = False
    has_time_window = False  # past states that the database itself keeps for some days
    # A database file can be copied whole while it is in use.
    has_online_backup = True
    reads_lineage_as_union = False
    keys_at_once = 30_000  # of its 32,766 variables
    reads_open_rows_first = False
    sorts_whole_rows = False
    must_be_told_to_walk = True  # for few rows in index order, which the planner would sort whole
    limits_correlated_subqueries = True
    keeps_statements = True  # that were prepared, by their text
    keeps_notes = True  # of rows, until anything in the store changes


class DatabaseOperations(operations.DatabaseOperations):
    compiler_module = "memory.db.sqlite.compiler"

    def convert_datetimefield_value(self, value: Any, expression: Any, connection: Any) -> Any:
        """Convert a stored time as Django does, which takes four times as long for most."""
        zone = connection.timezone
        try:
            if zone is not None and isinstance(value, str) and len(value) in (19, 26):
                value = datetime.fromisoformat(value)
            if zone is not None and isinstance(value, datetime) and value.tzinfo is None:  # parsed by sqlite3
                return value.replace(tzinfo=zone)
            return super().convert_datetimefield_value(value, expression, connection)
        except (ValueError, TypeError, AttributeError):  # Django asks the zone of what it could not parse
            return self._replace("a time that is none", NO_TIME)

    def convert_uuidfield_value(self, value: Any, expression: Any, connection: Any) -> Any:
        """Convert a stored id as Django does, which takes twice as long: UUID() checks it again."""
        try:
            if value is None or len(value) != HEX_DIGITS:
                return super().convert_uuidfield_value(value, expression, connection)
            found, number = object.__new__(UUID), int(value, 16)
        except (ValueError, TypeError, AttributeError):
            return self._replace("an id that is none", NO_ID)
        object.__setattr__(found, "int", number)  # as UUID() does: an id cannot be changed
        object.__setattr__(found, "is_safe", SafeUUID.unknown)
        return found

    def _replace(self, label: str, instead: Any) -> Any:
        return cast("DatabaseWrapper", self.connection).replace_damaged(label, instead)

    def sql_flush(self, style: Any, tables: Any, **kwargs: Any) -> list[str]:
        """Return statements that empty the tables that have rows, and the full-text tables of all."""
        statements = super().sql_flush(style, list_filled(self.connection, tables), **kwargs)
        indexed = [name for table, name in index_tables(self.connection) if table in tables]
        return statements + [f"DELETE FROM {self.quote_name(name)};" for name in indexed]


class DatabaseWrapper(SQLiteWrapper):
    SchemaEditorClass = DatabaseSchemaEditor
    features: DatabaseFeatures
    features_class = DatabaseFeatures
    ops_class = DatabaseOperations
    data_types = {**base.DatabaseWrapper.data_types, "RowIdField": "integer"}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._turn: FairLock | None = None
        self.in_snapshot = False
        self.has_vocabularies = False  # whether this connection has tables of the indexes' words
        self._state, self._joined = KnownState(self), JoinedWrites(self)
        self.join_writes, self.keep_write = self._joined.join_writes, self._joined.keep_write
        self.drop_joined_views = self._joined.drop_views
        self.readings: dict[Any, Any] = {}  # see memory.db.raw_select
        self.reads_past_damage = False
        self._streams: weakref.WeakSet[Any] = weakref.WeakSet()  # cursors whose rows are read bit by bit

    def get_new_connection(self, conn_params: Any) -> Any:
        if self.alias == DEFAULT_DB_ALIAS:
            self.file_check.refuse_foreign()
        made = super().get_new_connection(conn_params)
        self.forget_temporary()
        # Weak: the garbage collector does not see SQLite's reference to a function, and the connection of
        # a thread that has ended would stay open.
        index = weakref.proxy(self.index)
        made.create_function("day1_others", 0, lambda: index.others())
        return made

    @cached_property
    def wrap_database_errors(self) -> ErrorWrapper:
        return ErrorWrapper(self)

    def create_cursor(self, name: str | None = None) -> Any:
        cursor = self.connection.cursor(factory=CursorPastDamage if self.reads_past_damage else Cursor)
        cursor.wrapper = self
        return cursor

    def chunked_cursor(self) -> Any:
        cursor = super().chunked_cursor()
        self._streams.add(cursor)
        return cursor

    @property
    def store(self) -> str:
        """Return the path of the database file, as the settings name it."""
        return str(self.settings_dict["NAME"])

    def bar_older_code(self, sentence: str) -> None:
        """Have code of before ``memory.engines.store.release`` fail with this sentence at its start."""
        bar_older_code(self, sentence)

    def readmit_older_code(self) -> None:
        readmit_older_code(self)

    def find_damage(self) -> Damage | None:
        """Return what is known of the store's damage; None where it is not marked."""
        return find_damage(self.store)

    def mark_damaged(self, error: str) -> None:
        """Stop all writes to this store until ``clear_damage``; its health is failing until then."""
        mark_damaged(self.store, error)

    def replace_damaged(self, label: str, instead: Any) -> Any:
        """Return what stands for a value that is none of its column; raise DamageFound where nothing may."""
        if self.reads_past_damage:
            return instead
        self.mark_damaged(f"a row holds {label}")
        self.close_streams()
        raise DamageFound

    def close_streams(self) -> None:
        """Close what is half read: an error keeps its cursors, and these an old state of the store."""
        for cursor in list(self._streams):
            cursor.close()

    @contextmanager
    def read_past_damage(self, past: bool = True) -> Iterator[None]:
        """Read what can be read: rows end where the file does, and signs stand for what is no value.

        For who is told so; with ``past=False`` refuse damage inside, as everywhere else.
        """
        self.ensure_connection()
        before, self.reads_past_damage = self.reads_past_damage, past
        self.connection.text_factory = decode_rest if past else str
        try:
            yield
        finally:
            self.reads_past_damage = before
            if self.connection is not None:
                self.connection.text_factory = decode_rest if before else str

    def clear_damage(self) -> None:
        """Let writes go on, after the store was checked, repaired or replaced."""
        clear_damage(self.store)

    def storage_state(self) -> str:
        """Return ok, low, full, read_only or failing: whether the disk takes writes."""
        return get_state(self.store)

    def is_read_only(self) -> bool:
        """Return whether this connection refuses writes by itself."""
        options = self.settings_dict["OPTIONS"]
        return self.in_snapshot or "query_only" in options.get("init_command", "")

    @cached_property
    def index(self) -> SearchIndex:
        return SearchIndex(self)

    @cached_property
    def online_copy(self) -> OnlineCopy:
        return OnlineCopy(self)

    @cached_property
    def empty_store(self) -> EmptyStore:
        return EmptyStore(self)

    @cached_property
    def file_check(self) -> FileCheck:
        return FileCheck(self)

    def open_damaged(self, path: Path) -> AbstractContextManager[DamagedFile]:
        """Open another file, a damaged one, for what can be read of it."""
        return open_damaged(path, self.file_check.path.parent)

    @cached_property
    def index_check(self) -> IndexCheck:
        return IndexCheck(self)

    @cached_property
    def copies(self) -> Copies:
        return Copies(self)

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Read the database as of the first statement inside. A write inside is refused."""
        if self.in_atomic_block or self.in_snapshot:
            yield
            return
        self.ensure_connection()
        if not self.has_vocabularies and not self.is_read_only():
            with self.wrap_database_errors:
                create_vocabularies(self.connection)
            self.has_vocabularies = True
        self.connection.execute("BEGIN DEFERRED")
        self.in_snapshot = True
        try:
            self._state.follow()
            yield
        finally:
            self.in_snapshot = False
            self.connection.execute("ROLLBACK")

    @property
    def notes(self) -> dict[Any, Any]:
        """Return what was read of the present state."""
        self._joined.send()
        return self._state.values if self.in_snapshot else self._state.follow()

    def forget_temporary(self) -> None:
        """Note that this connection has no temporary tables and views: they are made anew when needed."""
        self.has_vocabularies = False
        self._joined.forget_views()

    @contextmanager
    def allow_temporary_tables(self) -> Iterator[None]:
        """Allow temporary tables, inside a snapshot too."""
        was, self.in_snapshot = self.in_snapshot, False
        is_copy = self.is_read_only()
        if is_copy:
            self.connection.execute("PRAGMA query_only = OFF")
        try:
            yield
        finally:
            self.in_snapshot = was
            if is_copy:
                self.connection.execute("PRAGMA query_only = ON")

    def must_rerun(self, error: BaseException) -> bool:
        """Return False: writers queue, so no transaction is ever aborted for another."""
        return False

    def checkpoint_log(self) -> None:
        """Move the write-ahead log into the database file."""
        with self.cursor() as cursor:
            cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def overwrite_deleted(self) -> str:
        """Leave no byte of deleted or overwritten rows in the files; return why not, or "".

        Not to be called inside a transaction. Writers wait for a part of it.
        """
        return overwrite_deleted(self)

    # ---- the queue of writers --------------------------------------------------------------------

    def _start_transaction_under_autocommit(self) -> None:
        require_undamaged(self.store)
        turn = get_file_lock(self.store)
        if not turn.acquire(float(self.settings_dict["OPTIONS"].get("timeout", 20))):
            raise OperationalError("database is locked: other writers took too long")
        self._turn = turn
        try:
            super()._start_transaction_under_autocommit()
        except BaseException:
            self._pass_on()
            raise
        self._state.begin_transaction()

    def _commit(self) -> None:
        require_undamaged(self.store)  # it may have been found since this transaction began
        super()._commit()
        note_commit(self.store)
        try:
            if self._turn:  # no other writer of this process can come in between
                get_log_bound(self.store).enforce_limit(self.connection)
        finally:
            self._pass_on()

    def _rollback(self) -> None:
        self._joined.forget_views()
        try:
            super()._rollback()
        finally:
            self._pass_on()

    def savepoint_rollback(self, sid: str) -> None:
        super().savepoint_rollback(sid)
        self._state.forget()
        self._joined.forget_views()

    def _close(self) -> None:
        try:
            super()._close()
        finally:
            self._pass_on()

    def _pass_on(self) -> None:
        turn, self._turn = self._turn, None
        if turn:
            turn.release()


if TYPE_CHECKING:

    def offers_everything(wrapper: DatabaseWrapper) -> FileBackend:
        return wrapper


# Code that is older than the check of ``memory.engines.store.release`` asks nothing about a store of a newer
# one, but its server leases a number of ``memory_node`` as it starts, and so does its every write. The table
# has another name since; in its place is a view that refuses.
VIEW, TRIGGER, NUMBERS = "memory_node", "memory_node_is_older", 1024


def bar_older_code(connection: Any, sentence: str) -> None:
    """Have older code fail with this sentence wherever it begins to write."""
    readmit_older_code(connection)
    quoted = sentence.replace("'", "''")
    with connection.cursor() as cursor:
        cursor.execute(
            f'CREATE VIEW "{VIEW}" AS WITH RECURSIVE every(number) AS (SELECT 0 UNION ALL SELECT number + 1'
            f" FROM every WHERE number < {NUMBERS - 1})"
            " SELECT number, 0 AS leased_until, '' AS holder FROM every"
        )
        cursor.execute(
            f'CREATE TRIGGER "{TRIGGER}" INSTEAD OF UPDATE ON "{VIEW}"'
            f" BEGIN SELECT RAISE(ABORT, '{quoted}'); END"
        )


def readmit_older_code(connection: Any) -> None:
    """Take the view away again."""
    with connection.cursor() as cursor:
        cursor.execute(f'DROP VIEW IF EXISTS "{VIEW}"')
