"""The vectors of a project in memory, with what is needed to know who may see them.

The rows in the database are the truth; this is a copy that is brought up to date by counters: the heads
of the lineage, and the project's vector clock. It never looks at row ids or times to find what is new:
transactions commit in another order than they begin.
"""

import os
import threading
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from django.apps import apps
from django.db import connection, models
from django.db.models import Q

from memory.conf import conf
from memory.db.indexes import full_text_index
from memory.db.querysets import Lineage, Ranked, VersionedQuerySet
from memory.db.reading import picked
from memory.db.sqlite.columns import Blocks, Columns, product
from memory.db.sqlite.loading import matrix, vectors, versions
from memory.db.sqlite.scanning import Scan, Shown
from memory.db.tokens import code, vector_slots

CHUNK = 500
MASKS = 32

_code = lru_cache(maxsize=50_000)(code)


class Resident:
    """One project's rows of one model, with the vectors that one embedding model made of them."""

    def __init__(self, model: type[models.Model], project_id: Any, embedder: str) -> None:
        self.model, self.project_id, self.embedder = model, project_id, embedder
        index = full_text_index(model)
        self.token_fields = index.tokens if index else ()
        self._lock = threading.RLock()
        self._reset(epoch=0)

    def _reset(self, epoch: int) -> None:
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
        self.vectors = Blocks()
        self._known: dict[int, int] = {}  # hash -> position of its vector
        self._loaded: dict[int, tuple[int, int]] = {}  # branch -> (lowest, highest) seq that is complete
        self._masks: OrderedDict[tuple[Lineage, bool, int], Shown] = OrderedDict()
        self._sorted: tuple[int, np.ndarray] = (0, np.empty(0, dtype="i8"))
        self._n, self._epoch, self._dead = 0, epoch, 0

    # ---- answers -------------------------------------------------------------------------------

    def scan(self, rows: VersionedQuerySet, vector: np.ndarray) -> Scan | None:
        """What is to be compared with a vector: the visible rows that have all tokens.

        None where this reader's view of the database is older than what memory would have to load.
        """
        with self._lock:
            return self._scan(rows, vector) if self._refresh(rows._lineage or ()) else None

    def _scan(self, rows: VersionedQuerySet, vector: np.ndarray) -> Scan:
        at, vec = self._narrowed(self._shown(rows), rows)
        if self.vectors.dimensions != len(vector):
            at, vec = at[:0], vec[:0]
        return Scan(self.rows["rid"], at, vec, self.vectors, vector)

    def load(self, lineage: Lineage) -> None:
        """Bring in what a search along a lineage needs, before somebody asks."""
        with self._lock:
            self._refresh(lineage)

    def cosines(self, rids: Sequence[int], rows: VersionedQuerySet, vector: np.ndarray) -> Ranked | None:
        """The cosine of each of some rows that has a vector; None as for ``scan``."""
        with self._lock:
            if not self._refresh(rows._lineage or ()):
                return None
            wanted = np.asarray(rids, dtype="i8")
            at = self._find(wanted)
            wanted, at = wanted[at >= 0], at[at >= 0]
            vec = self.rows["vec"][at]
            if self.vectors.dimensions != len(vector):
                return []
            scores = self.vectors.dot(vec[vec >= 0], vector)
        return list(zip(wanted[vec >= 0].tolist(), scores.tolist(), strict=True))

    # ---- who is visible ------------------------------------------------------------------------

    def _shown(self, rows: VersionedQuerySet) -> Shown:
        """The visible rows, as far as they are here; remembered, since along one lineage they cannot change.
        Vectors come later, and so do rows of a point before those that the branch is complete at.
        """
        lineage = tuple(rows._lineage or ())
        key = (lineage, rows._only_searchable, self._loaded[lineage[0][0]][0])
        shown = self._masks.get(key)
        if shown is None or shown.vectors != self.vectors.size:
            visible = self._visible(*key[:2]) if shown is None else shown.visible
            shown = self._masks[key] = Shown.of(visible, self.rows["vec"], self.vectors.size)
            if len(self._masks) > MASKS:
                self._masks.popitem(last=False)
        self._masks.move_to_end(key)
        return shown

    def _visible(self, lineage: Lineage, searchable: bool) -> np.ndarray:
        at = self._arms(lineage)
        return (at[self.rows["found"][at]] if searchable else at).astype("i4")

    def _arms(self, lineage: Lineage) -> np.ndarray:
        rows, arms, spoken = self.rows, [], np.empty(0, dtype="i8")
        for branch, limit in lineage:
            here = (rows["branch"] == branch) & (rows["seq_from"] <= limit) & (rows["seq_to"] > limit)
            at = np.flatnonzero(here)
            uids = rows["uid"][at]
            shown = ~rows["deleted"][at]
            if len(spoken):
                shown &= ~np.isin(uids, spoken)
            arms.append(at[shown])
            spoken = np.concatenate([spoken, uids])
        return np.concatenate(arms)

    def _narrowed(self, shown: "Shown", rows: VersionedQuerySet) -> tuple[np.ndarray, np.ndarray]:
        """Those of the rows with a vector that have the tokens, and the positions of their vectors."""
        at, vec = shown.at, shown.vec
        for name, values in rows._tokens.items():
            field = self.token_fields.index(name)
            keep = np.isin(self.rows[f"code{field}"][at], [_code(field, v) for v in values])
            at, vec = at[keep], vec[keep]
        return at, vec

    def _find(self, rids: np.ndarray) -> np.ndarray:
        """The position of each row id, -1 where it is not here."""
        if self._sorted[0] != self.rows.size:
            self._sorted = (self.rows.size, np.argsort(self.rows["rid"], kind="stable"))
        order = self._sorted[1]
        if not len(order):
            return np.full(len(rids), -1)
        place = np.searchsorted(self.rows["rid"], rids, sorter=order)
        at = order[np.minimum(place, len(order) - 1)]
        return np.where(self.rows["rid"][at] == rids, at, -1)

    # ---- keeping up ----------------------------------------------------------------------------

    def _refresh(self, lineage: Lineage) -> bool:
        """Load what is missing for a lineage; False when this connection sees too old a state for that."""
        n, epoch = self._clock()
        if epoch < self._epoch:
            return False
        if epoch > self._epoch or self._dead > max(20_000, self.rows.size // 2):
            self._reset(epoch)
        before = self.rows.size
        if not all(self._load(branch, limit) for branch, limit in lineage):
            return False
        if not before:  # all that is ready was looked for just now
            self._n = n
        elif n > self._n:
            self._fetch_new(n)
        elif self.rows.size > before:
            # An older snapshot has brought rows in without the vectors that it could not see: look again.
            self._n = n
        return True

    def _clock(self) -> tuple[int, int]:
        notes = {} if connection.notes is None else connection.notes  # type: ignore[attr-defined]
        if ("clock", self.project_id) not in notes:
            clocks = apps.get_model("memory", "VectorClock").objects.all()
            (clock,) = picked(clocks, ("n", "epoch"), "project", [self.project_id]) or [(0, 0)]
            notes["clock", self.project_id] = clock
        return notes["clock", self.project_id]

    def _load(self, branch: int, limit: int) -> bool:
        """Make the branch complete from its lowest to its highest seq in use."""
        if branch not in self._loaded:
            self._add(Q(seq_from__lte=limit, seq_to__gt=limit), branch)
            self._loaded[branch] = (limit, limit)
            return True
        low, high = self._loaded[branch]
        if limit > high:
            self._close(branch, high, limit)
            self._add(Q(seq_from__gt=high, seq_from__lte=limit), branch)
            self._loaded[branch] = (low, limit)
        elif limit < low:
            if self._head(branch) < low:
                return False  # versions closed up to `low` still look open from here
            self._add(Q(seq_to__gt=limit, seq_to__lte=low), branch)
            self._loaded[branch] = (limit, high)
        return True

    def _head(self, branch: int) -> int:
        """The branch's head as this connection sees it."""
        branches = apps.get_model("memory", "Branch").objects
        return branches.filter(pk=branch).values_list("head", flat=True).first() or 0

    def _close(self, branch: int, high: int, limit: int) -> None:
        """Rows that commits after ``high`` have closed."""
        closed = self.model._base_manager.filter(
            branch_id=branch, seq_to__gt=high, seq_to__lte=limit, seq_from__lte=high
        ).values_list("rid", "seq_to")
        if pairs := list(closed):
            rids, ends = np.array(pairs, dtype="i8").T
            at = self._find(rids)
            self.rows["seq_to"][at[at >= 0]] = ends[at >= 0]
            self._dead += len(pairs)

    def _add(self, condition: Q, branch: int) -> None:
        for columns in versions(self.model, condition & Q(branch_id=branch), self.token_fields):
            self._append(branch, columns)

    def _append(self, branch: int, columns: Sequence[Any]) -> None:
        rid, seq_from, seq_to, deleted, found, uids, hashes, *tokens = columns
        codes = {f"code{i}": [_code(i, v) if v else 0 for v in values] for i, values in enumerate(tokens)}
        keys = [_key(value) for value in hashes]
        new = {key: value for key, value in zip(keys, hashes, strict=True) if key not in self._known}
        self._keep(self._slots(new.values()))
        vec = [self._known.get(key, -1) for key in keys]
        self.rows.append(
            rid=rid, seq_from=seq_from, seq_to=seq_to, deleted=deleted, found=found, vec=vec, key=keys,
            branch=np.full(len(rid), branch), uid=[_low(uid) for uid in uids], **codes,
        )  # fmt: skip

    # ---- vectors -------------------------------------------------------------------------------

    def _fetch_new(self, n: int) -> None:
        """Vectors that became ready since the last look, where a row waits for them."""
        ready = self._ready().filter(n__gt=self._n, n__lte=n).values_list("slot", "content_hash")
        fresh = {_key(value): slot for slot, value in ready.iterator(5000)}
        waiting = self.rows["key"][self.rows["vec"] < 0]
        wanted = np.unique(waiting[np.isin(waiting, list(fresh))])
        self._keep([fresh[key] for key in wanted.tolist()])
        self._n = n

    def _keep(self, slots: Sequence[str]) -> None:
        """Fetch these vectors, as far as they are ready."""
        for part in vectors(slots):
            found = {_key(value): data for value, data in part if _key(value) not in self._known}
            # Models are never mixed, but one may have changed its dimensions under the same name.
            dimensions = self.vectors.dimensions or len(next(iter(found.values()), b"")) // 4
            found = {key: data for key, data in found.items() if len(data) == 4 * dimensions}
            if found:
                self._fill(list(found), self.vectors.append(matrix(found.values(), dimensions)))

    def _fill(self, keys: Sequence[int], places: np.ndarray) -> None:
        """Vectors came to these places: rows that waited for them have them now."""
        self._known.update(zip(keys, places.tolist(), strict=True))
        waiting = np.flatnonzero(self.rows["vec"] < 0)
        rows = waiting[np.isin(self.rows["key"][waiting], keys)]
        self.rows["vec"][rows] = [self._known[key] for key in self.rows["key"][rows].tolist()]

    def _ready(self) -> models.QuerySet:
        ready = apps.get_model("memory", "Vector").objects
        return ready.filter(project=self.project_id, model=self.embedder, state="ready")

    def _slots(self, hashes: Iterable[str]) -> list[str]:
        slot = vector_slots(self.project_id, self.embedder)
        return [slot(value) for value in hashes]

    # ---- the past ------------------------------------------------------------------------------

    def nearest_past(self, rows: VersionedQuerySet, vector: np.ndarray, k: int) -> Ranked:
        """Any other point of time: what is open still is here, what was closed since is read.

        What a branch showed itself then hides what its ancestors have, whether it is here or not: so the
        database decides about each row.
        """
        (branch, seq), *further = rows._lineage or ()
        with self._lock:
            known = self._refresh([(branch, self._head(branch)), *further])
            scan, complete = (self._scan(rows, vector), self._loaded[branch][0]) if known else (None, 0)
        if scan is None:
            return self.nearest_read(rows, vector, k)
        here = scan.best_that_pass(rows, k)
        if complete <= seq:
            return here
        closed = rows.filter(branch_id=branch, seq_to__gt=seq, seq_to__lte=complete)
        return sorted(here + self.nearest_read(closed, vector, k), key=lambda hit: (-hit[1], hit[0]))[:k]

    def nearest_read(self, rows: VersionedQuerySet, vector: np.ndarray, k: int) -> Ranked:
        """Everything from the database."""
        return self._scored(rows.early().order_by(), vector)[:k]

    def cosines_past(self, rids: Sequence[int], rows: VersionedQuerySet, vector: np.ndarray) -> Ranked:
        """The same for some rows."""
        return self._scored(self.model._base_manager.filter(pk__in=rids), vector)

    def _scored(self, rows: models.QuerySet, vector: np.ndarray) -> Ranked:
        by_hash: dict[str, list[int]] = {}
        for rid, value in rows.values_list("pk", "content_hash").iterator(5000):
            by_hash.setdefault(value, []).append(rid)
        hits: Ranked = []
        for part in vectors(self._slots(by_hash)):
            fitting = {value: data for value, data in part if len(data) == 4 * len(vector)}
            scores = product(matrix(fitting.values(), len(vector)), vector)
            for value, score in zip(fitting, scores.tolist(), strict=True):
                hits += [(rid, score) for rid in by_hash[value]]
        return sorted(hits, key=lambda hit: (-hit[1], hit[0]))


def _key(content_hash: str) -> int:
    return int(content_hash[:15], 16)


def _low(uid: str) -> int:
    """The random half of a UUID, of its digits, as a signed 64-bit number."""
    low = int(uid[16:], 16)
    return low - 2**64 if low >= 2**63 else low


_residents: OrderedDict[tuple, Resident] = OrderedDict()
_registry = threading.Lock()


def _after_fork() -> None:
    global _registry
    _registry = threading.Lock()
    _residents.clear()


os.register_at_fork(after_in_child=_after_fork)


def resident_of(connection: Any, model: type[models.Model], project_id: Any, embedder: str) -> Resident:
    """The resident copy; those used longest ago are dropped when there are too many."""
    key = (str(connection.settings_dict["NAME"]), model._meta.label, str(project_id), embedder)
    with _registry:
        found = _residents.get(key) or _residents.setdefault(key, Resident(model, project_id, embedder))
        _residents.move_to_end(key)
        while len(_residents) > conf().resident_projects:
            _residents.popitem(last=False)
    return found
