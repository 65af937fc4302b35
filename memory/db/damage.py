"""The mark of a damaged store: a small file beside it, which outlives the process that found the damage.

While it stands nothing is written to the store but by a repair. See decision 0068.
"""

import json
import logging
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from memory.db import atomic_files
from memory.db.errors import DamageFound
from memory.exceptions import WRITES_STOPPED

logger = logging.getLogger(__name__)

SUFFIX = "-damaged"
WRITES = ("INSERT", "UPDATE", "DELETE", "REPLACE", "CREATE", "ALTER", "DROP", "VACUUM", "REINDEX")

_repairing = threading.local()
_unwritten: dict[str, "Damage"] = {}  # marks that the disk did not take


@dataclass(frozen=True)
class Damage:
    """What was found first, and when."""

    found_at: str
    error: str


def name_mark(store: str) -> Path:
    return Path(f"{store}{SUFFIX}")


def find_damage(store: str) -> Damage | None:
    """Return what is known of a store's damage; None for one that is not marked."""
    try:
        text = name_mark(store).read_text(encoding="utf-8")
    except OSError:
        return _unwritten.get(store)
    try:
        return Damage(**json.loads(text))
    except (ValueError, TypeError):
        return Damage("", "the mark cannot be read")


def is_marked(store: str) -> bool:
    return os.path.exists(f"{store}{SUFFIX}") or store in _unwritten


def mark_damaged(store: str, error: str, *, is_kept: bool = True) -> None:
    """Mark a store as damaged; the first mark stays. Never raises: the disk may take no files either.

    One that is not ``is_kept`` ends with this process.
    """
    if is_marked(store) or not os.path.isfile(store):
        return
    damage, path = Damage(datetime.now(UTC).isoformat(timespec="seconds"), error), name_mark(store)
    if not is_kept:
        _unwritten[store] = damage
        return
    logger.error("%s is damaged: %s. Nothing is written until `day1 check` clears it.", store, error)
    try:
        atomic_files.write_file(path, json.dumps(asdict(damage)) + "\n")
    except OSError:
        _unwritten[store] = damage


def clear_damage(store: str) -> None:
    """Remove the mark, after the store was checked, repaired or replaced.

    It stays on a disk that takes no writes, as the store does.
    """
    _unwritten.pop(store, None)
    try:
        name_mark(store).unlink(missing_ok=True)
    except OSError as error:
        logger.warning("%s stays: %s", name_mark(store), error)


@contextmanager
def permit_writes() -> Iterator[None]:
    """Let this thread write to a marked store: for its repair."""
    _repairing.depth = getattr(_repairing, "depth", 0) + 1
    try:
        yield
    finally:
        _repairing.depth -= 1


def require_undamaged(store: str) -> None:
    """Refuse a write to a marked store. Raises DamageFound."""
    if is_marked(store) and not getattr(_repairing, "depth", 0):
        raise DamageFound(WRITES_STOPPED)


def is_write(statement: str) -> bool:
    return statement.lstrip()[:8].upper().startswith(WRITES)
