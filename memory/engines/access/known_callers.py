"""Callers that were let in lately, by a hash of what they show: the server gives a request the turn of its
project before a thread has looked at it, and what a stranger makes up must not pass for a project.
"""

import hashlib
from time import monotonic
from uuid import UUID

KNOWN_SECONDS = 300.0  # after its last request a caller is a stranger again
MAX_CALLERS = 10_000
_callers: dict[str, tuple[str, float]] = {}  # project and end, by hash


def hash_secret(text: str) -> str:
    # A plain hash is enough: nobody can try all secrets of 256 bits.
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def hash_browser(session_key: str, slug: str) -> str:
    """Return the hash of a login that reads the pages of a project."""
    return hash_secret(f"{session_key} {slug}")


def note_caller(hashed: str, project_id: UUID | None) -> None:
    """Keep in memory that a caller was let in to a project."""
    if len(_callers) >= MAX_CALLERS:
        _callers.clear()
    _callers[hashed] = str(project_id or ""), monotonic() + KNOWN_SECONDS


def find_project(hashed: str) -> str | None:
    """Return the id of a caller's project, "" for none; None for who was not let in lately."""
    project, end = _callers.get(hashed, ("", 0.0))
    return project if end > monotonic() else None
