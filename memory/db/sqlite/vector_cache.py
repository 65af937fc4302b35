"""A project's vectors in memory, with the columns that decide which rows are visible.

The database is authoritative; the cache is updated by counters: the heads of the lineage, and the project's
vector clock. Row ids and times are never used to find new rows: transactions commit in another order than
they begin.
"""

import threading
from collections import OrderedDict
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from django.apps import apps
from django.db import models
from django.db.models import Q

from memory.conf import conf
from memory.db.index_tokens import value_code
from memory.db.indexes import full_text_index
from memory.db.querysets import Lineage, Ranked, VersionedQuerySet
from memory.db.raw_select import Statement, fetch_one
from memory.db.sqlite.coded_vectors import CodedVectors
from memory.db.sqlite.growable_arrays import Columns, HashPositions
from memory.db.sqlite.stored_vectors import StoredVectors
from memory.db.sqlite.vector_files import CacheState, VectorFiles, find_newest_commit
from memory.db.sqlite.vector_loader import (
    build_matrix,
    find_changes,
    hash_key,
    load_vectors,
    load_versions,
    plan_changes,
    uid_low_bits,
)
from memory.db.sqlite.vector_scan import Scan, VisibleMask, concatenate_arms, sort_hits
from memory.heap import trim_heap

MASKS = 32

_code = lru_cache(maxsize=50_000)(value_code)


class VectorCache(StoredVectors):
    """One project's rows of one model, with their vectors by one embedding model."""

    def __init__(self, database: str, model: type[models.Model], project_id: Any, embedder: str) -> None:
        super().__init__(model, project_id, embedder)
        self.files = VectorFiles(database, model._meta.label, project_id, embedder)
        index = full_text_index(model)
        self.token_fields = index.tokens if index else ()
        self._lock = threading.RLock()
        self._reset_epoch(epoch=0)

    def _reset_epoch(self, epoch: int) -> None:
        codes = {f"code{i}": "i8" for i in range(len(self.token_fields))}
        self.rows = Columns(
            rid="i8",
            branch="i8",
            seq_from="i8",
            seq_to="i8",
            uid="i8",
            vec="i8",
            key="i8",
            deleted="?",
            found="?",
            **codes,
        )
        self.vectors = CodedVectors()
        self._known = HashPositions()
        self._loaded: dict[int, tuple[int, int]] = {}  # branch -> (lowest, highest) seq that is complete
        self._masks: OrderedDict[tuple[Lineage, bool, int], VisibleMask] = OrderedDict()
        self._sorted: tuple[int, np.ndarray] = (0, np.empty(0, dtype="i8"))
        self._n, self._epoch, self._dead = 0, epoch, 0
        self._filed = 0  # rows that the files have

    # ---- queries -------------------------------------------------------------------------------

    def scan_visible(self, rows: VersionedQuerySet, vector: np.ndarray) -> Scan | None:
        """Return a scan of the visible rows that have all tokens, for comparison with a vector or several.

        None when this connection reads an older state of the database than the cache needs to load.
        """
        with self._lock:
            return self._build_scan(rows, vector) if self._refresh_lineage(rows.lineage or ()) else None

    def _build_scan(self, rows: VersionedQuerySet, vector: np.ndarray) -> Scan:
        at, vec = self._narrow_visible(self._visible_mask(rows), rows)
        if self.vectors.dimensions != vector.shape[-1]:
            at, vec = at[:0], vec[:0]
        return Scan(self.rows["rid"], at, vec, self.vectors, vector)

    def has_branches(self, lineage: Lineage) -> bool:
        """Return whether rows of all branches of a lineage were loaded before."""
        return all(branch in self._loaded for branch, _ in lineage)

    def list_visible(self, rids: Sequence[int], rows: VersionedQuerySet) -> set[int] | None:
        """Return those of the row ids that are visible, all filters but tokens aside.

        None as for ``scan_visible``.
        """
        with self._lock:
            if not self._refresh_lineage(rows.lineage or ()):
                return None
            requested = np.asarray(rids, dtype="i8")
            shown = self._visible_mask(rows).has_positions(self._find_positions(requested))
        return set(requested[shown].tolist())

    def plan_changes(self, lineage: Lineage) -> list[Statement]:
        """Return the statements that tell whether commits changed a lineage's rows, for ``read_together``."""
        with self._lock:
            read = [(branch, self._loaded.get(branch, (0, limit))[1], limit) for branch, limit in lineage]
        return [plan_changes(self.model, *span) for span in read if span[1] < span[2]]

    def load_lineage(self, lineage: Lineage) -> None:
        """Load the rows and vectors of a lineage, before a search needs them."""
        with self._lock:
            self._refresh_lineage(lineage)

    def score_cosines(
        self, rids: Sequence[int], rows: VersionedQuerySet, vector: np.ndarray
    ) -> Ranked | None:
        """Return the cosine of each of the rows that has a vector; None as for ``scan_visible``."""
        with self._lock:
            if not self._refresh_lineage(rows.lineage or ()):
                return None
            requested = np.asarray(rids, dtype="i8")
            at = self._find_positions(requested)
            requested, at = requested[at >= 0], at[at >= 0]
            vec = self.rows["vec"][at]
            if self.vectors.dimensions != len(vector):
                return []
            scores = self.vectors.dot(vec[vec >= 0], vector)
        return list(zip(requested[vec >= 0].tolist(), scores.tolist(), strict=True))

    # ---- visibility ----------------------------------------------------------------------------

    def _visible_mask(self, rows: VersionedQuerySet) -> VisibleMask:
        """Return the cached visible rows; kept, since along one lineage they cannot change.

        Vectors are added later, and so are rows of a point before the lowest complete seq of the branch.
        """
        lineage = tuple(rows.lineage or ())
        key = (lineage, rows.only_searchable, self._loaded[lineage[0][0]][0])
        shown = self._masks.get(key)
        if shown is None or shown.vectors != self.vectors.size:
            visible = self._find_visible(*key[:2]) if shown is None else shown.visible
            shown = self._masks[key] = VisibleMask.of(visible, self.rows["vec"], self.vectors.size)
            if len(self._masks) > MASKS:
                self._masks.popitem(last=False)
        self._masks.move_to_end(key)
        return shown

    def _find_visible(self, lineage: Lineage, searchable: bool) -> np.ndarray:
        at = concatenate_arms(self.rows, lineage)
        return (at[self.rows["found"][at]] if searchable else at).astype("i4")

    def _narrow_visible(self, shown: "VisibleMask", rows: VersionedQuerySet) -> tuple[np.ndarray, np.ndarray]:
        """Return the rows with a vector that have the tokens, and the positions of their vectors."""
        at, vec = shown.at, shown.vec
        for name, values in rows.tokens.items():
            field = self.token_fields.index(name)
            keep = np.isin(self.rows[f"code{field}"][at], [_code(field, v) for v in values])
            at, vec = at[keep], vec[keep]
        return at, vec

    def _find_positions(self, rids: np.ndarray) -> np.ndarray:
        """Return the position of each row id, -1 where it is not cached."""
        if self._sorted[0] != self.rows.size:
            self._sorted = (self.rows.size, np.argsort(self.rows["rid"], kind="stable"))
        order = self._sorted[1]
        if not len(order):
            return np.full(len(rids), -1)
        found_at = np.searchsorted(self.rows["rid"], rids, sorter=order)
        at = order[np.minimum(found_at, len(order) - 1)]
        return np.where(self.rows["rid"][at] == rids, at, -1)

    # ---- updates -------------------------------------------------------------------------------

    def _refresh_lineage(self, lineage: Lineage) -> bool:
        """Load missing rows of a lineage; return False if this connection reads too old a state."""
        n, epoch = self._load_clock()
        if epoch < self._epoch:
            return False
        if self._dead > max(20_000, self.rows.size // 2):
            self.files.remove_files()
            self._reset_epoch(epoch)
        if epoch > self._epoch:
            self._reset_epoch(epoch)
        return self._follow_clock(lineage, n) if self._loaded else self._load_first(lineage, n)

    def _load_first(self, lineage: Lineage, n: int) -> bool:
        """Load the first rows, from files where another process leaves some."""
        is_filing = False
        self.files.take_turn()
        try:
            self._map_files(n)
            filed = self._filed
            done = self._follow_clock(lineage, n)
            is_filing = self._filed > filed
        finally:
            if not is_filing:  # else the thread that writes them does it
                self.files.end_turn()
        trim_heap()
        return done

    def _follow_clock(self, lineage: Lineage, n: int) -> bool:
        """Load what commits and the vector clock have added; return False as ``_refresh_lineage``."""
        before = self.rows.size
        if not all(self._load_branch(branch, limit) for branch, limit in lineage):
            return False
        if not before:  # all ready vectors have just been read
            self._n = n
        elif n > self._n:
            self._fetch_new(n)
        elif self.rows.size > before:
            # An older snapshot has added rows without the vectors that it could not see: read again.
            self._n = n
        self._file_rows()
        return True

    def _load_clock(self) -> tuple[int, int]:
        clock: Any = fetch_one(apps.get_model("memory", "VectorClock"), project=self.project_id)
        return (clock.n, clock.epoch) if clock else (0, 0)

    def _load_branch(self, branch: int, limit: int) -> bool:
        """Complete the branch from its lowest to its highest seq in use; return False if it cannot."""
        if branch not in self._loaded:
            self._add_rows(Q(seq_from__lte=limit, seq_to__gt=limit), branch)
            self._loaded[branch] = (limit, limit)
            return True
        low, high = self._loaded[branch]
        if limit > high:
            begun, ended = find_changes(self.model, branch, high, limit)
            if ended:
                self._close_rows(branch, high, limit)
            if begun:
                self._add_rows(Q(seq_from__gt=high, seq_from__lte=limit), branch)
            if not (begun or ended):
                self._carry_masks(branch, high, limit)
            self._loaded[branch] = (low, limit)
        elif limit < low:
            if self._load_head(branch) < low:
                return False  # versions closed up to `low` still look open in this snapshot
            self._add_rows(Q(seq_to__gt=limit, seq_to__lte=low), branch)
            self._loaded[branch] = (limit, high)
        return True

    def _carry_masks(self, branch: int, high: int, limit: int) -> None:
        """Keep what is visible, where the commits after ``high`` changed no row of this model."""
        for (lineage, searchable, low), shown in list(self._masks.items()):
            if lineage[0] == (branch, high):
                self._masks[((branch, limit), *lineage[1:]), searchable, low] = shown

    def _load_head(self, branch: int) -> int:
        """Return the branch's head as this connection sees it."""
        branches = apps.get_model("memory", "Branch").objects
        return branches.filter(pk=branch).values_list("head", flat=True).first() or 0

    def _close_rows(self, branch: int, high: int, limit: int) -> None:
        """Mark the rows that commits after ``high`` have closed."""
        closed = self.model._base_manager.filter(
            branch_id=branch, seq_to__gt=high, seq_to__lte=limit, seq_from__lte=high
        ).values_list("rid", "seq_to")
        if pairs := list(closed):
            rids, ends = np.array(pairs, dtype="i8").T
            at = self._find_positions(rids)
            self.rows["seq_to"][at[at >= 0]] = ends[at >= 0]
            self._dead += len(pairs)

    def _add_rows(self, condition: Q, branch: int) -> None:
        for columns in load_versions(self.model, condition & Q(branch_id=branch), self.token_fields):
            self._append_rows(branch, columns)

    def _append_rows(self, branch: int, columns: Sequence[Any]) -> None:
        rid, seq_from, seq_to, deleted, found, uids, hashes, *tokens = columns
        codes = {f"code{i}": [_code(i, v) if v else 0 for v in values] for i, values in enumerate(tokens)}
        keys = [hash_key(value) for value in hashes]
        new = {key: value for key, value in zip(keys, hashes, strict=True) if key not in self._known}
        self._load_vectors(self.hash_slots(new.values()))
        vec = [self._known.get(key) for key in keys]
        self.rows.append(
            rid=rid,
            seq_from=seq_from,
            seq_to=seq_to,
            deleted=deleted,
            found=found,
            vec=vec,
            key=keys,
            branch=np.full(len(rid), branch),
            uid=[uid_low_bits(uid) for uid in uids],
            **codes,
        )

    # ---- vectors -------------------------------------------------------------------------------

    def _fetch_new(self, n: int) -> None:
        """Load vectors that became ready since the last update and that cached rows lack."""
        ready = self._ready_vectors().filter(n__gt=self._n, n__lte=n).values_list("slot", "content_hash")
        fresh = {hash_key(value): slot for slot, value in ready.iterator(5000)}
        waiting = self.rows["key"][self.rows["vec"] < 0]
        requested = np.unique(waiting[np.isin(waiting, list(fresh))])
        self._load_vectors([fresh[key] for key in requested.tolist()])
        self._n = n

    def _load_vectors(self, slots: Sequence[str]) -> None:
        """Load the vectors of these slots that are ready."""
        for part in load_vectors(slots):
            found = {hash_key(value): data for value, data in part if hash_key(value) not in self._known}
            # Models are never mixed, but one may have changed its dimensions under the same name.
            dimensions = self.vectors.dimensions or len(next(iter(found.values()), b"")) // 4
            found = {key: data for key, data in found.items() if len(data) == 4 * dimensions}
            if found:
                keys, matrix = build_matrix(found, dimensions)
                self._fill_vectors(keys, self.vectors.append(matrix))

    def _fill_vectors(self, keys: Sequence[int], positions: np.ndarray) -> None:
        """Assign the positions of new vectors to the rows that were missing them."""
        self._known.update(zip(keys, positions.tolist(), strict=True))
        waiting = np.flatnonzero(self.rows["vec"] < 0)
        rows = waiting[np.isin(self.rows["key"][waiting], keys)]
        self.rows["vec"][rows] = [self._known.get(key) for key in self.rows["key"][rows].tolist()]

    def _ready_vectors(self) -> models.QuerySet:
        ready = apps.get_model("memory", "Vector").objects
        return ready.filter(project=self.project_id, model=self.embedder, state="ready")

    # ---- files ---------------------------------------------------------------------------------

    def _map_files(self, n: int) -> None:
        """Begin with what another process has left in files, if the database bears it out."""
        if not conf().vector_file_rows:
            return
        if not (found := self.files.load_state(self._epoch, n, list(self.token_fields))):
            return
        self.rows = Columns.wrap_arrays(found.rows)
        self.vectors = CodedVectors.wrap_blocks(found.blocks, found.size)
        self._known = HashPositions(found.keys, found.positions)
        self._loaded, self._n, self._dead = found.loaded, found.n, found.dead
        self._filed = self.rows.size

    def _file_rows(self) -> None:
        """Leave files for the next process, once there are so many rows more that it is worth it."""
        least, more = conf().vector_file_rows, self.rows.size - self._filed
        if not least or not self.vectors.size or more < max(least, self._filed // 4):
            return
        self._filed = self.rows.size
        self.files.save_later(self._copy_state(), self.vectors.replace_blocks)

    def _copy_state(self) -> CacheState:
        keys, positions = self._known.to_arrays()
        return CacheState(
            epoch=self._epoch,
            n=self._n,
            dead=self._dead,
            commit=find_newest_commit(),
            loaded=dict(self._loaded),
            size=self.vectors.size,
            tokens=list(self.token_fields),
            rows={name: column.copy() for name, column in self.rows.list_columns()},
            keys=keys,
            positions=positions,
            blocks=self.vectors.list_blocks(),
        )

    # ---- past points -----------------------------------------------------------------------------

    def nearest_past(self, rows: VersionedQuerySet, vector: np.ndarray, k: int) -> Ranked:
        """Search a past point: versions still open are cached, versions closed since are read."""
        scan, closed = self._split_past(rows, vector)
        visible = scan.best_that_pass(rows, k) if scan else []
        return visible if closed is None else sort_hits(visible + self.nearest_read(closed, vector, k))[:k]

    def match_past(self, rows: VersionedQuerySet, vectors: np.ndarray, floor: float, k: int) -> list[Ranked]:
        """Search a past point by several vectors, in the same way."""
        scan, closed = self._split_past(rows, vectors)
        visible = scan.match_rows(rows, floor, k) if scan else [[] for _ in vectors]
        if closed is None:
            return visible
        read = self.match_read(closed, vectors, floor, k)
        return [sort_hits(one + other)[:k] for one, other in zip(visible, read, strict=True)]

    def _split_past(
        self, rows: VersionedQuerySet, vector: np.ndarray
    ) -> tuple[Scan | None, VersionedQuerySet | None]:
        """Return a scan of the cached versions of a past point, and the other rows, to be read.

        The branch's own past versions shadow those of its ancestors, cached or not: so the database decides
        about each row.
        """
        (branch, seq), *further = rows.lineage or ()
        with self._lock:
            if not self._refresh_lineage([(branch, self._load_head(branch)), *further]):
                return None, rows
            scan, complete = self._build_scan(rows, vector), self._loaded[branch][0]
        closed = rows.filter(branch_id=branch, seq_to__gt=seq, seq_to__lte=complete)
        return scan, None if complete <= seq else closed
