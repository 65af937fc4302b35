"""What says whether a cache of an index is that of the database: an epoch, and the newest commit."""

from typing import Any

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
