"""Removal of the traces that deleted rows leave in the files of a database.

``secure_delete`` alone leaves some: words of deleted texts in the segments of a full-text table until those
are merged, pages that were freed before, and bytes in the slack of pages that SQLite has rebalanced. Only
VACUUM, which writes every page anew, removes them all.
"""

import shutil
from contextlib import suppress
from itertools import chain, repeat
from pathlib import Path
from typing import Any

from django.db import OperationalError, transaction

from memory.db.sqlite.schema import index_tables
from memory.db.sqlite.vector_files import remove_vector_files
from memory.db.sqlite.write_lock import get_file_lock

MERGED_PAGES = 500  # of a full-text table in one transaction
MAX_MERGES = 10_000
DISK_MARGIN = 2.2  # free space needed, as a multiple of the file's size: a temporary copy, and the log
TIMEOUT_SECONDS = 60.0  # for other writers, and for readers of an old state


def overwrite_deleted(connection: Any) -> str:
    """Leave no byte of deleted rows in a connection's files; return why not, or ""."""
    path = Path(str(connection.settings_dict["NAME"]))
    remove_vector_files(str(path))
    if (free := shutil.disk_usage(path.parent).free) < (needed := path.stat().st_size * DISK_MARGIN):
        return f"The disk has {free / 1e6:.0f} MB free, and {needed / 1e6:.0f} MB are needed."
    try:
        for _, name in index_tables(connection):
            merge_segments(connection, name)
        return _rewrite_file(connection, str(path))
    except OperationalError as error:
        return str(error)


def merge_segments(connection: Any, name: str) -> None:
    """Merge the segments that a full-text table has now into one, in steps between which others write.

    A negative number begins with all segments. Repeated beside writers it would begin anew each time, so it
    is the first step alone.
    """
    for pages in chain((-MERGED_PAGES,), repeat(MERGED_PAGES, MAX_MERGES)):
        with transaction.atomic(using=connection.alias, savepoint=False), connection.cursor() as cursor:
            before = connection.connection.total_changes
            cursor.execute(f'INSERT INTO "{name}"("{name}", rank) VALUES (\'merge\', %s)', [pages])
            if connection.connection.total_changes - before < 2:  # SQLite's sign that nothing was merged
                return


def _rewrite_file(connection: Any, path: str) -> str:
    turn = get_file_lock(path)
    if not turn.acquire(TIMEOUT_SECONDS):
        return "Other writers took too long."
    try:
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA temp_store = FILE")  # a copy of the whole store, not in memory
            cursor.execute("VACUUM")
            return _empty_log(cursor)
    finally:
        turn.release()
        with suppress(OperationalError), connection.cursor() as cursor:
            cursor.execute("PRAGMA temp_store = MEMORY")
        connection.forget_temporary()  # that has dropped all temporary tables


def _empty_log(cursor: Any) -> str:
    patience = cursor.execute("PRAGMA busy_timeout").fetchone()[0]
    cursor.execute(f"PRAGMA busy_timeout = {int(TIMEOUT_SECONDS * 1000)}")
    try:
        busy = cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
    finally:
        cursor.execute(f"PRAGMA busy_timeout = {patience}")
    return "A reader of an old state keeps the write-ahead log." if busy else ""
