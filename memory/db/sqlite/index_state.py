"""What says whether a cache is that of the database: of an index an epoch and the newest commit, of rows that
nothing at all has changed.
"""

from typing import Any

MAX_VALUES = 10_000  # of one state, beyond which all are read again
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

    def follow(self) -> dict[Any, Any]:
        """Return the values, none where the store has changed since they were read."""
        self.wrapper.ensure_connection()
        own = self.wrapper.connection
        with self.wrapper.wrap_database_errors:
            (others,) = own.execute("PRAGMA data_version").fetchone()  # changes as others commit
        mark = (own, others, own.total_changes, self.wrapper.reads_past_damage)
        if mark != self._mark or len(self.values) > MAX_VALUES:
            self._mark, self.values = mark, {}
        return self.values
