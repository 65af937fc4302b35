"""The interface of ``connection.copies``: snapshots (read-only copies) and workspaces (writable ones).

Engines name the copies; the backend decides where they are and how they are made.
"""

import re
import secrets
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID
from zlib import crc32

ID = re.compile(r"_([0-9a-f]{32})$")
NAME = re.compile(r"[a-z0-9_]{1,60}")


class CopyFailed(Exception):
    """A failure to make or use a copy; the text is a message for people. Nothing is left behind."""


class CopyDamaged(CopyFailed):
    """A copy in which the database finds damage, as the store may have it; the text is what it finds."""


@dataclass(frozen=True)
class CopyInfo:
    """A finished copy: name, bytes and SHA-256 (0 and "" where the database keeps it)."""

    name: str
    size: int = 0
    sha256: str = ""


@dataclass(frozen=True)
class Changes:
    """Keys by which a copy's table differs from the store's.

    Rows only in the copy, rows in both with other values, rows only in the store.
    """

    only_there: frozenset[Any]
    other: frozenset[Any]
    only_here: frozenset[Any]


def check_name(name: str) -> str:
    """Check the name of a copy, which is used in file names and SQL. Raises ValueError."""
    if not NAME.fullmatch(name):
        raise ValueError(f"{name!r} is no name of a copy")
    return name


def build_prefix(database: str) -> str:
    """Return the prefix of a database's copies, which tells those of several databases apart."""
    return f"day1_{crc32(database.encode()):08x}"


def build_name(prefix: str, key: UUID, kind: str) -> str:
    """Return the name of a copy: prefix, kind, and an id that begins with its time."""
    return check_name("_".join(filter(None, (prefix, kind, key.hex))))


def new_copy_id() -> UUID:
    """Return a UUID of the time in milliseconds and random bits."""
    return UUID(int=time.time_ns() // 1_000_000 << 80 | secrets.randbits(80))


def begun_at(name: str) -> datetime | None:
    """Return when a copy was begun, from the id in its name; None for a foreign name."""
    found = ID.search(name)
    return datetime.fromtimestamp(int(found[1][:12], 16) / 1000, UTC) if found else None
