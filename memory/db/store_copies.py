"""What every backend's ``connection.copies`` gives: frozen copies (snapshots) and writable ones (workspaces).

Engines name copies; where they are and how they are made is the backend's.
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
    """The copy was not made, or cannot be used; the text is a sentence for people. Nothing is left behind."""


@dataclass(frozen=True)
class Taken:
    """A copy that is there: where, its size in bytes, its SHA-256 ("" and 0 where the database keeps it)."""

    place: str
    size: int = 0
    sha256: str = ""


@dataclass(frozen=True)
class Changes:
    """Keys by which a copy's table differs from the store's: what only the copy has, what both have with
    other values, what only the store has.
    """

    only_there: frozenset[Any]
    other: frozenset[Any]
    only_here: frozenset[Any]


def checked(name: str) -> str:
    """A name of a copy goes into file names and SQL: it is made by an engine, and checked all the same."""
    if not NAME.fullmatch(name):
        raise ValueError(f"{name!r} is no name of a copy")
    return name


def prefix_of(database: str) -> str:
    """How the names of the copies of a database begin: other databases have theirs at the same place."""
    return f"day1_{crc32(database.encode()):08x}"


def named(prefix: str, key: UUID, kind: str) -> str:
    """The name of a copy: whose it is, what it is, and an id that begins with its time."""
    return checked("_".join(filter(None, (prefix, kind, key.hex))))


def id_of_now() -> UUID:
    """The time and chance."""
    return UUID(int=time.time_ns() // 1_000_000 << 80 | secrets.randbits(80))


def begun_at(name: str) -> datetime | None:
    """When a copy of this name was begun: its id tells. None for a name that was not made here."""
    found = ID.search(name)
    return datetime.fromtimestamp(int(found[1][:12], 16) / 1000, UTC) if found else None
