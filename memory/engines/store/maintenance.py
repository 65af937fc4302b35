"""Upkeep of a whole store: its full-text index made anew, and a copy of it while it is in use."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.db import connection, transaction

from memory.db import files
from memory.db.indexes import full_text_index
from memory.engines.held import Points, is_held, points_read, text_models
from memory.exceptions import Conflict, Exists
from memory.models import OPEN, BranchedModel

Progress = Callable[[int, int], None]
CHUNK = 1000


@dataclass(frozen=True)
class Backup:
    """A checked copy of the store: where, how large in bytes, and its SHA-256."""

    path: Path
    size: int
    sha256: str


class UpkeepEngine:
    def reindex(self, progress: Progress | None = None) -> int:
        """Write the full-text rows of every version anew; returns how many.

        One transaction per model: readers see the old index until the new one is whole, and a crash
        leaves the old one. Writers wait for it.
        """
        return sum(_reindex(model, progress or _silent) for model in text_models() if full_text_index(model))

    def backup(self, path: Path, *, force: bool = False, progress: Progress | None = None) -> Backup:
        """Copy the store to a file, as of one moment, while others read and write.

        The file is there whole and checked, or not at all. Raises Exists without ``force``, Conflict
        for a place that cannot take it.
        """
        if not connection.features.has_online_backup:  # type: ignore[attr-defined]
            raise Conflict("This database is backed up with its own tools.")
        path = path.absolute()
        _check_place(path, force)
        draft = _draft(path)
        try:
            _copy(draft, progress or _silent)
            made = Backup(path, draft.stat().st_size, files.sha256(draft))
            _put(draft, path, force)
        except OSError as error:
            raise Conflict("{path} cannot be written: {why}.", path=path, why=error.strerror) from None
        finally:
            draft.unlink(missing_ok=True)
        return made


# ---- the index -------------------------------------------------------------------------------------


def _reindex(model: type[BranchedModel], tell: Progress) -> int:
    rows, last, seen, count = model._base_manager.order_by("rid"), -1, 0, 0
    with transaction.atomic(savepoint=False):
        total, points = rows.count(), points_read()
        connection.index.clear(model)  # type: ignore[attr-defined]
        tell(0, total)
        while some := list(rows.filter(rid__gt=last)[:CHUNK]):
            last, seen = some[-1].rid, seen + len(some)
            count += _index(some, points)
            tell(seen, total)
    return count


def _index(rows: Sequence[Any], points: Points) -> int:
    kept = [row for row in rows if not row.deleted]
    fresh = [row for row in kept if row.seq_to == OPEN]
    closed = [row for row in kept if row.seq_to != OPEN]
    held = [row for row in closed if is_held(points.get(row.branch_id, ()), row.seq_from, row.seq_to)]
    connection.index.add(fresh)  # type: ignore[attr-defined]
    connection.index.keep(closed)  # type: ignore[attr-defined]
    connection.index.hold(held)  # type: ignore[attr-defined]
    return len(kept)


def index_anew(rows: Sequence[Any]) -> None:
    """Bring the index in step with versions of one model that were written past the commits."""
    shown = [row for row in rows if not row.deleted]
    connection.index.remove(rows)  # type: ignore[attr-defined]
    _index(shown, points_read())


# ---- the copy --------------------------------------------------------------------------------------


def _check_place(path: Path, force: bool) -> None:
    if path.resolve() in connection.online_copy.files():  # type: ignore[attr-defined]
        raise Conflict("This is the store itself: name another file.")
    if path.is_dir():
        raise Conflict("{path} is a folder: name a file in it.", path=path)
    if path.exists() and not force:
        raise Exists("{path} exists already; --force replaces it.", path=path)


def _draft(path: Path) -> Path:
    try:
        return files.draft(path)
    except OSError as error:
        raise Conflict("{path} cannot be written: {why}.", path=path, why=error.strerror) from None


def _copy(draft: Path, tell: Progress) -> None:
    if trouble := connection.online_copy.write(draft, tell):  # type: ignore[attr-defined]
        raise Conflict("The copy is damaged, so nothing was kept: {answer}.", answer=trouble)


def _put(draft: Path, path: Path, force: bool) -> None:
    """Give the file its name. Without ``force`` a file that came in the meantime stays."""
    try:
        files.put(draft, path, replace=force)
    except FileExistsError:
        raise Exists("{path} exists already; --force replaces it.", path=path) from None


def _silent(done: int, total: int) -> None:
    pass
