"""MatrixOne through Django's MySQL backend: the differences, and the methods that the engines need."""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, ClassVar

from django.db import IntegrityError, NotSupportedError, OperationalError
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.mysql import base as mysql
from django.db.backends.mysql import creation
from django.utils.functional import cached_property

from memory.db.backend import Backend
from memory.db.errors import CommitLost, DamageFound, DatabaseAway
from memory.db.matrixone import errors
from memory.db.matrixone.copies import Copies
from memory.db.matrixone.features import DatabaseFeatures
from memory.db.matrixone.introspection import DatabaseIntrospection
from memory.db.matrixone.operations import DatabaseOperations
from memory.db.matrixone.schema import DatabaseSchemaEditor
from memory.db.matrixone.search_index import SearchIndex
from memory.db.matrixone.validation import DatabaseValidation


class DatabaseCreation(creation.DatabaseCreation):
    def _clone_db(self, source_database_name: str, target_database_name: str) -> None:
        """Clone a database with one statement of the server instead of a dump."""
        source, target = map(self.connection.ops.quote_name, (source_database_name, target_database_name))
        with self._nodb_cursor() as cursor:  # type: ignore[attr-defined]  # internal, so not in the stubs
            cursor.execute(f"DROP DATABASE IF EXISTS {target}")
            cursor.execute(f"CREATE DATABASE {target} CLONE {source}")


base: Any = mysql  # the type stubs lack half of it

VERSION = re.compile(r"matrixone-v(\d+)\.(\d+)\.(\d+)", re.IGNORECASE)
LOCK_WAIT_SECONDS = 10  # seconds; the server's own limit is a year
# Sent to each new connection: text ranking, use of vector indexes, lock timeout.
SESSION = """
    SET lock_wait_timeout = {},
        ft_relevancy_algorithm = 'BM25', experimental_ivf_index = 1, probe_limit = 10"""
PARTS = 8  # of a bulk insert that was too large
READS = re.compile(r"\s*(\(\s*)*(SELECT|WITH|SHOW|EXPLAIN|DESC|SET)\b", re.IGNORECASE)


class CursorWrapper(mysql.CursorWrapper):
    """A cursor that raises Django's errors, and repeats a bulk insert in parts when it is too large."""

    def execute(self, query: str, args: Any = None) -> Any:
        try:
            return super().execute(query, args)
        except base.Database.OperationalError as error:
            raise translate_integrity(error) from None

    def executemany(self, query: str, args: Sequence[Any]) -> Any:
        try:
            return super().executemany(query, args)
        except base.Database.Error as error:
            if errors.get_error_code(error) != errors.TOO_MUCH_AT_ONCE or len(args) == 1:
                raise translate_integrity(error) from None
        size = -(-len(args) // PARTS)
        for start in range(0, len(args), size):
            super().executemany(query, args[start : start + size])


def translate_integrity(error: Exception) -> Exception:
    if errors.get_error_code(error) in errors.LOST:
        return DatabaseAway(*error.args)
    return IntegrityError(*error.args) if errors.breaks_reference(error.args) else error


class DatabaseWrapper(mysql.DatabaseWrapper):
    display_name = "MatrixOne"
    _data_types: ClassVar = {
        **base.DatabaseWrapper._data_types,
        "FloatField": "double",
        "RowIdField": "bigint",
    }
    data_type_check_constraints: dict[str, str] = {}
    # Comparisons are case-sensitive whatever the collation; ILIKE is not.
    operators = {
        **base.DatabaseWrapper.operators,
        "iexact": "ILIKE %s",
        "contains": "LIKE %s",
        "icontains": "ILIKE %s",
        "startswith": "LIKE %s",
        "endswith": "LIKE %s",
        "istartswith": "ILIKE %s",
        "iendswith": "ILIKE %s",
    }
    pattern_ops = {
        "contains": "LIKE CONCAT('%%', {}, '%%')",
        "icontains": "ILIKE CONCAT('%%', {}, '%%')",
        "startswith": "LIKE CONCAT({}, '%%')",
        "istartswith": "ILIKE CONCAT({}, '%%')",
        "endswith": "LIKE CONCAT('%%', {})",
        "iendswith": "ILIKE CONCAT('%%', {})",
    }
    SchemaEditorClass = DatabaseSchemaEditor
    features: DatabaseFeatures
    features_class = DatabaseFeatures
    introspection_class = DatabaseIntrospection
    ops_class = DatabaseOperations
    creation_class = DatabaseCreation
    validation_class = DatabaseValidation  # type: ignore[assignment]  # not of MySQL's, whose checks do not apply

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._in_snapshot = False
        self._notes: dict[Any, Any] = {}
        self.readings: dict[Any, Any] = {}  # see memory.db.raw_select
        self.reads_past_damage = False

    def join_writes(self) -> AbstractContextManager[None]:
        """Do nothing: each row is written by a statement of its own."""
        return nullcontext()

    def keep_write(self, sql: str, values: Sequence[Any]) -> bool:
        """Return False: no write waits for another."""
        return False

    @cached_property
    def index(self) -> SearchIndex:
        return SearchIndex(self)

    @cached_property
    def copies(self) -> Copies:
        return Copies(self)

    # ---- connecting ----------------------------------------------------------------------------

    @cached_property
    def server_version(self) -> str:
        """Return the version text of the server."""
        with self.temporary_connection() as cursor:
            cursor.execute("SELECT VERSION()")
            return str(cursor.fetchone()[0])

    def get_database_version(self) -> tuple[int, ...]:
        """Return the release of MatrixOne; (0,) for another server, (999,) when MatrixOne names none."""
        if release := VERSION.search(self.server_version):
            return tuple(map(int, release.groups()))
        return (999,) if "matrixone" in self.server_version.lower() else (0,)

    def check_database_version_supported(self) -> None:
        if self.get_database_version() == (0,):
            raise NotSupportedError(f"The server is not MatrixOne: it says that it is {self.server_version}.")
        found, minimum = self.get_database_version(), self.features.minimum_database_version
        if found < minimum:
            releases = [".".join(map(str, release)) for release in (minimum, found)]
            raise NotSupportedError("MatrixOne {} or newer is needed; this server is {}.".format(*releases))

    def get_connection_params(self) -> dict[str, Any]:
        params = super().get_connection_params()
        self.isolation_level = None  # the server accepts any level and uses READ COMMITTED
        self._lock_wait = int(params.pop("lock_wait", LOCK_WAIT_SECONDS))
        return params

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        try:
            return super().get_new_connection(conn_params)
        except base.Database.OperationalError as error:
            if errors.get_error_code(error) in (*errors.AWAY, *errors.LOST):
                raise DatabaseAway(*error.args) from None
            raise

    def connect(self) -> None:
        """Connect, and close again after any failure: a half-open connection would look usable next time."""
        try:
            super().connect()
        except Exception:
            self.close()
            raise

    def init_connection_state(self) -> None:
        BaseDatabaseWrapper.init_connection_state(self)
        with self.cursor() as cursor:
            cursor.execute(SESSION.format(self._lock_wait))

    def prepare_database(self) -> None:
        """Create the database if it is missing, before the first migration."""
        try:
            self.ensure_connection()
        except OperationalError as error:
            if errors.get_error_code(error) != errors.UNKNOWN_DATABASE:
                raise
            name = self.ops.quote_name(self.settings_dict["NAME"])
            with self._nodb_cursor() as cursor:
                cursor.execute(f"CREATE DATABASE IF NOT EXISTS {name}")

    def create_cursor(self, name: str | None = None) -> CursorWrapper:
        return CursorWrapper(self.connection.cursor())

    # ---- transactions --------------------------------------------------------------------------

    def _start_transaction_under_autocommit(self) -> None:
        with self.cursor() as cursor:
            cursor.execute("BEGIN")

    def _commit(self) -> None:
        try:
            super()._commit()  # type: ignore[misc]  # internal, so not in the stubs
        except OperationalError as error:
            if errors.get_error_code(error) in errors.LOST:
                raise CommitLost() from error
            raise

    def storage_state(self) -> str:
        """Return ok: the server watches its own disks."""
        return "ok"

    def find_damage(self) -> None:
        """Return None: the server checks what it stores."""

    def mark_damaged(self, error: str) -> None:
        """Do nothing: there is no file to mark."""

    def replace_damaged(self, label: str, instead: Any) -> Any:
        """Refuse a value that is none of its column."""
        raise DamageFound

    def read_past_damage(self, past: bool = True) -> AbstractContextManager[None]:
        """Read as always: the server checks what it stores."""
        return nullcontext()

    def clear_damage(self) -> None:
        """Do nothing."""

    def must_rerun(self, error: BaseException) -> bool:
        """Return whether the server aborted the transaction, so that it may be run again from its start."""
        return errors.get_error_code(error) in errors.RERUN

    # ---- reading -------------------------------------------------------------------------------

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Group reads that belong together; a write inside is refused.

        Every statement sees the commits before it. Versions are read along a lineage, whose seqs name one
        state, whatever is committed meanwhile.
        """
        if self.in_atomic_block or self._in_snapshot:
            yield
            return
        self._in_snapshot, self._notes = True, {}
        try:
            with self.execute_wrapper(_only_reads):
                yield
        finally:
            self._in_snapshot = False

    @property
    def notes(self) -> dict[Any, Any]:
        """Return what was read in the running snapshot."""
        return self._notes if self._in_snapshot else {}

    def checkpoint_log(self) -> None:
        """Do nothing: the server has its own log."""

    def overwrite_deleted(self) -> str:
        """Return "": the server's collector removes the objects of old rows that no snapshot holds."""
        return ""


def _only_reads(execute: Callable, sql: str, params: Any, many: bool, context: dict) -> Any:
    if not READS.match(sql):
        raise OperationalError("a snapshot is for reading: attempt to write")
    return execute(sql, params, many, context)


if TYPE_CHECKING:

    def offers_everything(wrapper: DatabaseWrapper) -> Backend:
        return wrapper
