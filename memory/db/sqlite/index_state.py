"""What says whether a cache is that of the database: of an index an epoch and the newest commit, of rows that
nothing at all has changed.
"""

from collections.abc import Sequence
from typing import Any

MAX_VALUES = 1000  # of one state, rows of a statement among them, beyond which all are read again
NO_COMMIT = (0, "")

Commit = tuple[int, str]  # a place in the order of commits, and the id of the one that is there


def read_state(cursor: Any) -> tuple[int, Commit]:
    """Return the epoch of the indexes, and the newest commit."""
    cursor.execute(
        "SELECT user_version, c.rowid, c.id FROM pragma_user_version"
        " LEFT JOIN memory_commit c ON c.rowid = (SELECT max(rowid) FROM memory_commit)"
    )
    epoch, place, uid = cursor.fetchone()
    return epoch, (place, str(uid)) if place else NO_COMMIT


ADDED_COLUMNS = 5  # of ``select_added``, before further ones


def select_added(table: str, index: str, further: Sequence[str] = ()) -> str:
    """Return a SELECT of the state, for ``parse_added``, and of further columns; its first two values are a
    place in the order of commits.
    """
    columns = [
        "user_version, c.rowid, c.id, (SELECT id FROM memory_commit WHERE rowid = %s)",
        "(SELECT group_concat(v.rid || ':' || coalesce(hex(d.sz), '')) FROM memory_commit n"
        f' CROSS JOIN "{table}" v ON v.branch_id = n.branch_id AND v.seq_from = n.seq'
        f' LEFT JOIN "{index}_docsize" d ON d.id = v.rid WHERE n.rowid > %s)',
        *further,
    ]
    newest = "LEFT JOIN memory_commit c ON c.rowid = (SELECT max(rowid) FROM memory_commit)"
    return f"SELECT {', '.join(columns)} FROM pragma_user_version {newest}"


def parse_added(row: Sequence[Any]) -> tuple[int, Commit, str, str]:
    """Return the state, the id of the commit at the place, and the rows of the table that those behind it
    added, as id:length in the index, with commas between them.
    """
    epoch, newest, uid, known, added = row
    return epoch, (newest, str(uid)) if newest else NO_COMMIT, known or "", added or ""


def begin_epoch(connection: Any) -> None:
    """Have all caches of this database dropped, in every process, once the transaction is committed."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT user_version FROM pragma_user_version")
        (epoch,) = cursor.fetchone()
        cursor.execute(f"PRAGMA user_version = {epoch + 1}")


class KnownState:
    """Values that a connection has read since anything in the store changed, by it or by another, in this
    process or in one beside it.
    """

    def __init__(self, wrapper: Any) -> None:
        self.wrapper, self.values = wrapper, dict[Any, Any]()
        self._mark: tuple[Any, ...] = ()
        self._transaction = 0  # number of the one that runs, or ran last
        self._read_in = -1  # the one in which the store was last asked whether it has changed
        self._changes_before = -1  # of this connection, when it began

    def begin_transaction(self) -> None:
        """Note that nothing was written yet in the transaction that begins."""
        self._transaction += 1
        self._changes_before = self.wrapper.connection.total_changes

    def forget(self) -> None:
        """Forget the values, a part of a transaction having been taken back."""
        self._mark = ()

    def follow(self) -> dict[Any, Any]:
        """Return the values, none where the store has changed since they were read.

        Those that a transaction reads once it has written are its own: it may be taken back.
        """
        self.wrapper.ensure_connection()
        own = self.wrapper.connection
        if self.wrapper.in_atomic_block and own.total_changes != self._changes_before:
            since = ("in", self._transaction)  # no other one can commit meanwhile
        elif self._mark and self.wrapper.in_atomic_block and self._read_in == self._transaction:
            since = self._mark[1]  # its first look has fixed what it reads
        else:
            with self.wrapper.wrap_database_errors:
                since = own.execute("PRAGMA data_version").fetchone()  # changes as others commit
            self._read_in = self._transaction if self.wrapper.in_atomic_block else -1
        mark = (own, since, own.total_changes, self.wrapper.reads_past_damage)
        if mark != self._mark or len(self.values) > MAX_VALUES:
            self._mark, self.values = mark, {}
        return self.values
