"""Removal of the traces that deleted rows leave in the files of a database.

``secure_delete`` alone leaves some: words of deleted texts in the segments of a full-text table until those
are merged, pages that were freed before, and bytes in the slack of pages that SQLite has rebalanced. So
segments are merged, the unused bytes of each page are set to zero, and the log is emptied.

The zeros are written into the database file directly. That is safe while nobody copies the log into that
file: a transaction that reads the file alone, without the log, keeps others from doing so, and they write to
the log meanwhile. What they wrote is cleaned at the end, while they wait. SQLite knows nothing of the zeros,
so a last change of its own makes all connections read their pages again.
"""

import logging
import os
import shutil
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

from django.db import OperationalError, transaction

from memory.db.sqlite.checkpoint import get_log_bound
from memory.db.sqlite.page_slack import SlackCleaner, UnknownLayoutError, read_varint
from memory.db.sqlite.schema import index_tables
from memory.db.sqlite.write_lock import get_file_lock

logger = logging.getLogger(__name__)

MERGED_PAGES = 500  # of a full-text table in one transaction
SEGMENTS_ROW, COOKIE_BYTES, MAX_VARINT_BYTES = 10, 4, 9  # of the record that lists a table's segments
DISK_MARGIN = 2.2  # free space that VACUUM needs, as a multiple of the file's size: a copy, and the log
TIMEOUT_SECONDS = 60.0  # for other writers, and for readers of an old state
MAX_PAUSE_SECONDS = 1.0  # for readers of an old state, while other writers wait
POLL_SECONDS = 0.02
LOG_HEADER_BYTES, FRAME_HEADER_BYTES = 32, 24
READER_STAYS = "A reader of an old state keeps the write-ahead log."
WRITER_STAYS = "Other writers took too long."

# Never closed: closing any handle of the file would end the locks that SQLite holds on it in this process.
_files: dict[tuple[int, int], int] = {}


class TracesLeftError(Exception):
    """Raised with the reason why traces are left for now."""


def overwrite_deleted(connection: Any) -> str:
    """Leave no byte of deleted rows in a connection's files; return why not, or ""."""
    path = str(connection.settings_dict["NAME"])
    try:
        for _, name in index_tables(connection):
            merge_segments(connection, name)
        _clean_file(connection, path)
        empty_log(path)
    except (OperationalError, sqlite3.OperationalError, TracesLeftError) as error:
        return str(error)
    return ""


def merge_segments(connection: Any, name: str) -> None:
    """Merge the segments that a full-text table has now into one, in steps between which others write.

    Only the first step takes all segments. It begins anew when it is repeated, and beside a writer, who adds
    segments all the time, it would never come to an end and fail at last.
    """
    _merge_pages(connection, name, -MERGED_PAGES)
    level = find_merged_level(connection, name)
    while level is not None and is_merging(connection, name, level):
        _merge_pages(connection, name, MERGED_PAGES)


def _merge_pages(connection: Any, name: str, pages: int) -> None:
    with transaction.atomic(using=connection.alias, savepoint=False), connection.cursor() as cursor:
        cursor.execute(f'INSERT INTO "{name}"("{name}", rank) VALUES (\'merge\', %s)', [pages])


def find_merged_level(connection: Any, name: str) -> int | None:
    """Return the level whose segments are being merged; of several the highest, which has the oldest."""
    merging = [level for level, count in enumerate(read_merges(connection, name)) if count]
    return max(merging, default=None)


def is_merging(connection: Any, name: str, level: int) -> bool:
    return any(read_merges(connection, name)[level:])


def read_merges(connection: Any, name: str) -> list[int]:
    """Return, for each level of a full-text table, how many of its segments are being merged."""
    with connection.cursor() as cursor:
        cursor.execute(f'SELECT block FROM "{name}_data" WHERE id = {SEGMENTS_ROW}')
        record = bytes(cursor.fetchone()[0]) + bytes(MAX_VARINT_BYTES)
    levels, at = read_varint(record, COOKIE_BYTES)
    _segments, at = read_varint(record, at)
    _writes, at = read_varint(record, at)
    found = []
    for _level in range(levels):
        merging, at = read_varint(record, at)
        segments, at = read_varint(record, at)
        for _value in range(3 * segments):  # the id, first and last page of each
            _ignored, at = read_varint(record, at)
        found.append(merging)
    return found


def _clean_file(connection: Any, path: str) -> None:
    try:
        clean_slack(path)
    except UnknownLayoutError as error:
        logger.warning("The database file is written anew, for which writers wait: %s", error)
        _rewrite_file(connection, path)


# ---- unused bytes, while others write ------------------------------------------------------------------


def clean_slack(path: str) -> None:
    """Set the unused bytes of all pages to zero. Raises TracesLeftError, UnknownLayoutError."""
    cleaner = SlackCleaner(open_file(path))
    connections = closing(open_connection(path)), closing(open_connection(path))
    # No writer needs to try to empty the log, which the reader keeps.
    with connections[0] as writer, connections[1] as reader, get_log_bound(path).lifted():
        with pausing_writers(path, writer):
            pin_file(reader)
        cleaner.clean_all()
        with pausing_writers(path, writer):
            _clean_changed(path, cleaner, reader)
            _make_others_read(writer)


def _clean_changed(path: str, cleaner: SlackCleaner, reader: sqlite3.Connection) -> None:
    """Clean what was written meanwhile; others must not write now."""
    changed = list_logged_pages(path, reader)
    reader.execute("ROLLBACK")
    pin_file(reader)
    cleaner.clean_pages(changed)
    os.fsync(cleaner.file)


@contextmanager
def pausing_writers(path: str, writer: sqlite3.Connection) -> Iterator[None]:
    """Keep all others from writing, of this process and of others. Raises TracesLeftError."""
    turn = get_file_lock(path)
    if not turn.acquire(TIMEOUT_SECONDS):
        raise TracesLeftError(WRITER_STAYS)
    try:
        writer.execute("BEGIN IMMEDIATE")
        try:
            yield
        finally:
            if writer.in_transaction:
                writer.execute("ROLLBACK")
    finally:
        turn.release()


def pin_file(reader: sqlite3.Connection) -> None:
    """Copy the log into the file, and begin a transaction that reads the file alone: no log is then copied.

    Others must not write meanwhile. Raises TracesLeftError when somebody reads an old state.
    """
    end = time.monotonic() + MAX_PAUSE_SECONDS
    while not copy_log(reader):
        if time.monotonic() > end:
            raise TracesLeftError(READER_STAYS)
        time.sleep(POLL_SECONDS)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM sqlite_master").fetchone()


def copy_log(reader: sqlite3.Connection) -> bool:
    """Copy the log into the file; return whether all of it was."""
    busy, logged, copied = reader.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
    return not busy and logged == copied


def list_logged_pages(path: str, reader: sqlite3.Connection) -> set[int]:
    """Return the numbers of the pages that the log has, or had before it began anew."""
    (size,) = reader.execute("PRAGMA page_size").fetchone()
    try:
        log = Path(f"{path}-wal").read_bytes()
    except FileNotFoundError:
        return set()
    starts = range(LOG_HEADER_BYTES, len(log) - FRAME_HEADER_BYTES, FRAME_HEADER_BYTES + size)
    return {int.from_bytes(log[start : start + 4], "big") for start in starts}


def _make_others_read(writer: sqlite3.Connection) -> None:
    """Change the first page, which no text is in: others then drop the pages that they keep in memory."""
    (version,) = writer.execute("PRAGMA user_version").fetchone()
    writer.execute(f"PRAGMA user_version = {version}")
    writer.execute("COMMIT")


def open_connection(path: str) -> sqlite3.Connection:
    made = sqlite3.connect(path, timeout=TIMEOUT_SECONDS, isolation_level=None, check_same_thread=False)
    made.execute("PRAGMA synchronous = FULL")
    made.execute("PRAGMA wal_autocheckpoint = 0")
    return made


def open_file(path: str) -> int:
    """Return a handle of the database file; see above why it stays open."""
    found = os.stat(path)
    key = (found.st_dev, found.st_ino)
    if key not in _files:
        _files[key] = os.open(path, os.O_RDWR)
    return _files[key]


# ---- the log -------------------------------------------------------------------------------------------


def empty_log(path: str) -> None:
    """Empty the log as soon as no reader needs it; writers wait for a moment. Raises TracesLeftError."""
    end = time.monotonic() + TIMEOUT_SECONDS
    with closing(open_connection(path)) as connection:
        connection.execute(f"PRAGMA busy_timeout = {int(MAX_PAUSE_SECONDS * 1000)}")
        while not _truncate_log(path, connection):
            if time.monotonic() > end:
                raise TracesLeftError(READER_STAYS)
            time.sleep(MAX_PAUSE_SECONDS)  # in which others write


def _truncate_log(path: str, connection: sqlite3.Connection) -> bool:
    turn = get_file_lock(path)
    if not turn.acquire(TIMEOUT_SECONDS):
        raise TracesLeftError(WRITER_STAYS)
    try:
        return not connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
    finally:
        turn.release()


# ---- the whole file, while others wait -----------------------------------------------------------------


def _rewrite_file(connection: Any, path: str) -> None:
    needed, free = Path(path).stat().st_size * DISK_MARGIN, shutil.disk_usage(Path(path).parent).free
    if free < needed:
        raise TracesLeftError(f"The disk has {free / 1e6:.0f} MB free, and {needed / 1e6:.0f} MB are needed.")
    turn = get_file_lock(path)
    if not turn.acquire(TIMEOUT_SECONDS):
        raise TracesLeftError(WRITER_STAYS)
    try:
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA temp_store = FILE")  # a copy of the whole store, not in memory
            cursor.execute("VACUUM")
    finally:
        turn.release()
        with suppress(OperationalError), connection.cursor() as cursor:
            cursor.execute("PRAGMA temp_store = MEMORY")
