"""A vector cache in files beside the database: the next process maps them and reads no rows.

The database stays the only truth. Files hold what one process had in memory, and count only where all that
they know is still so: the same epoch of the project's vectors, no more of them than the database has, and the
newest commit of that time still there. What came since is read as after any other pause.
"""

import json
import logging
import os
import shutil
import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from time import monotonic
from typing import Any
from uuid import uuid4

import numpy as np
from django.apps import apps
from django.db import Error, connection

from memory.db.process_group import Turn, get_group
from memory.db.sqlite.coded_vectors import BLOCK, Codes
from memory.db.sqlite.index_state import read_state as read_database_state

logger = logging.getLogger(__name__)

FORMAT = 1  # of the files; others are not read
META = "meta.json"  # written last
UNFINISHED = ".new"
TURN_SECONDS = 120.0  # for another process to read the rows and write the files
DISK_MARGIN = 3  # free space that is needed, as a multiple of the files' size
SCALARS = ("epoch", "n", "dead", "commit", "size", "tokens")
CODE_ARRAYS = ("coarse", "fine", "steps", "offsets")


@dataclass
class CacheState:
    """What a vector cache knows: columns by name, vectors, and the positions of their hashes."""

    epoch: int
    n: int  # the vector clock
    dead: int  # closed versions among the rows
    commit: str  # the newest one of the database
    loaded: dict[int, tuple[int, int]]
    size: int  # number of vectors
    tokens: list[str]
    rows: dict[str, np.ndarray] = field(default_factory=dict)
    keys: np.ndarray = field(default_factory=lambda: np.empty(0, dtype="i8"))
    positions: np.ndarray = field(default_factory=lambda: np.empty(0, dtype="i8"))
    blocks: list[Codes] = field(default_factory=list)


class VectorFiles:
    """The files of one project's rows of one model, with their vectors by one embedding model."""

    def __init__(self, database: str, label: str, project_id: Any, embedder: str) -> None:
        self.project_id = project_id
        self.project_folder = name_folder(database) / str(project_id)
        self.folder = self.project_folder / sha256(f"{label}|{embedder}".encode()).hexdigest()[:16]
        self._turn: Turn | None = None

    # ---- turns ---------------------------------------------------------------------------------

    def take_turn(self) -> None:
        """Wait while another process of this server reads the same rows: it leaves files, which both map.

        Else each would read all rows, and have all vectors for itself.
        """
        if (group := get_group()) and (turn := Turn(group, str(self.folder))).acquire(
            monotonic() + TURN_SECONDS
        ):
            self._turn = turn

    def end_turn(self) -> None:
        turn, self._turn = self._turn, None
        if turn:
            turn.release()

    # ---- reading -------------------------------------------------------------------------------

    def load_state(self, epoch: int, n: int, tokens: list[str]) -> CacheState | None:
        """Return the newest files that this connection's database bears out, mapped; None for none."""
        for folder in sorted(self.folder.glob(f"*/{META}"), reverse=True):
            with suppress(OSError, ValueError, KeyError, TypeError):
                if found := self._load_folder(folder.parent, epoch, n, tokens):
                    return found
        return None

    def _load_folder(self, folder: Path, epoch: int, n: int, tokens: list[str]) -> CacheState | None:
        meta = json.loads((folder / META).read_text(encoding="utf-8"))
        if meta.pop("format") != FORMAT or meta["epoch"] < epoch:
            shutil.rmtree(folder, ignore_errors=True)  # of an erased text, or of another release
            return None
        same = meta["epoch"] == epoch and meta["n"] <= n and meta["tokens"] == tokens
        return read_state(folder, meta) if same and has_commit(meta["commit"]) else None

    def remove_files(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)

    # ---- writing -------------------------------------------------------------------------------

    def save_later(self, state: CacheState, done: Any) -> None:
        """Write a state in a thread of its own; ``done`` is called with its full blocks, as mapped files."""
        threading.Thread(target=self.save_state, args=(state, done), name="vector-files", daemon=True).start()

    def save_state(self, state: CacheState, done: Any = None) -> None:
        """Write a state in place of an older one; it stays away when the disk or the database refuses."""
        try:
            folder = self._write(state)
            if folder and done:
                done(map_blocks(folder, state))
        except (OSError, Error) as error:
            logger.warning("Vectors were not kept in files: %s", error)
        finally:
            self.end_turn()
            if threading.current_thread() is not threading.main_thread():
                connection.close()

    def _write(self, state: CacheState) -> Path | None:
        self.folder.mkdir(parents=True, exist_ok=True)
        if shutil.disk_usage(self.folder).free < DISK_MARGIN * count_bytes(state):
            return None
        folder = self.folder / f"{state.n:020}-{uuid4().hex[:8]}"
        unfinished = folder.with_suffix(UNFINISHED)
        unfinished.mkdir()
        try:
            write_state(unfinished, state)
            unfinished.rename(folder)
        finally:
            shutil.rmtree(unfinished, ignore_errors=True)
        self._remove_others(folder)
        if load_epoch(self.project_id) == state.epoch:
            return folder
        shutil.rmtree(folder, ignore_errors=True)  # an erasure has come in between
        return None

    def _remove_others(self, kept: Path) -> None:
        """Remove older files; processes that have mapped them keep what they have."""
        for folder in self.folder.iterdir():
            if folder != kept and folder.suffix != UNFINISHED:
                shutil.rmtree(folder, ignore_errors=True)


# ---- one folder --------------------------------------------------------------------------------------


def write_state(folder: Path, state: CacheState) -> None:
    for name, column in {**state.rows, "keys": state.keys, "positions": state.positions}.items():
        with (folder / f"{name}.npy").open("wb") as file:
            np.save(file, column)
            sync_file(file)
    write_blocks(folder, state)
    meta = {name: getattr(state, name) for name in SCALARS} | {"format": FORMAT, "rows": list(state.rows)}
    meta["loaded"] = [[branch, *limits] for branch, limits in state.loaded.items()]
    with (folder / META).open("w", encoding="utf-8") as file:
        json.dump(meta, file)
        sync_file(file)


def write_blocks(folder: Path, state: CacheState) -> None:
    bounds = np.array([[block.error, block.length] for block in state.blocks])
    for name, array in (("bounds", bounds), ("center", state.blocks[0].center)):
        with (folder / f"{name}.npy").open("wb") as file:
            np.save(file, array)
            sync_file(file)
    for name in CODE_ARRAYS:
        with (folder / f"{name}.npy").open("wb") as file:
            write_parts(file, [getattr(block, name) for block in state.blocks], state.size)
            sync_file(file)


def write_parts(file: Any, parts: Sequence[np.ndarray], size: int) -> None:
    """Write parts of an array one after the other, without the whole of it in memory."""
    header = {"descr": parts[0].dtype.str, "fortran_order": False, "shape": (size, *parts[0].shape[1:])}
    np.lib.format.write_array_header_1_0(file, header)
    for number, part in enumerate(parts):
        file.write(part[: size - number * BLOCK].tobytes())


def read_state(folder: Path, meta: dict[str, Any]) -> CacheState:
    """Map the files of a folder. Columns of rows may be written to: what is written stays in memory."""
    state = CacheState(
        **{name: meta[name] for name in SCALARS},
        loaded={branch: (low, high) for branch, low, high in meta["loaded"]},
        rows={name: np.asarray(np.load(folder / f"{name}.npy", mmap_mode="c")) for name in meta["rows"]},
        keys=np.load(folder / "keys.npy"),
        positions=np.load(folder / "positions.npy"),
    )
    state.blocks = map_blocks(folder, state)
    return state


def map_blocks(folder: Path, state: CacheState) -> list[Codes]:
    """Return the full blocks as mapped files, and the last one, which may grow, in memory."""
    arrays = [np.asarray(np.load(folder / f"{name}.npy", mmap_mode="r")) for name in CODE_ARRAYS]
    bounds, center = np.load(folder / "bounds.npy"), np.load(folder / "center.npy")
    if len(arrays[0]) != state.size or len(bounds) != -(-state.size // BLOCK):
        raise ValueError(f"{folder} is not whole")
    parts = split_blocks(arrays, center)
    return [own_last(part, bound) for part, bound in zip(parts, bounds, strict=True)]


def split_blocks(arrays: list[np.ndarray], center: np.ndarray) -> Iterator[Codes]:
    for start in range(0, len(arrays[0]), BLOCK):
        coarse, fine, steps, offsets = (array[start : start + BLOCK] for array in arrays)
        yield Codes(coarse, fine, steps, offsets, center)


def own_last(codes: Codes, bound: np.ndarray) -> Codes:
    """Return a block with its bound; one that is not full as a copy with room to grow."""
    codes.error, codes.length = bound.tolist()
    if len(codes) == BLOCK:
        return codes
    whole = Codes.empty(BLOCK, codes.center)
    whole.fill(0, codes)
    return whole


def sync_file(file: Any) -> None:
    file.flush()
    os.fsync(file.fileno())


def count_bytes(state: CacheState) -> int:
    return state.size * 4 * len(state.blocks[0].center) + sum(one.nbytes for one in state.rows.values())


# ---- what the database says --------------------------------------------------------------------------


def has_commit(commit: str) -> bool:
    return bool(apps.get_model("memory", "Commit").objects.filter(pk=commit).exists())


def find_newest_commit() -> str:
    """Return the id of the commit that was stored last."""
    with connection.cursor() as cursor:
        _, (_, commit) = read_database_state(cursor)
    return commit


def load_epoch(project_id: Any) -> int:
    clocks = apps.get_model("memory", "VectorClock").objects
    epoch = clocks.filter(pk=project_id).values_list("epoch", flat=True).first()
    return -1 if epoch is None else int(epoch)  # a project that is gone


def name_folder(database: str) -> Path:
    return Path(f"{database}-vectors")


def remove_project_files(database: str, project_id: Any) -> None:
    """Remove the files of a project that is gone."""
    shutil.rmtree(name_folder(database) / str(project_id), ignore_errors=True)


def remove_vector_files(database: str) -> None:
    """Remove the files of all projects: none may outlive a vector that was erased."""
    shutil.rmtree(name_folder(database), ignore_errors=True)
