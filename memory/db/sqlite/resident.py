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
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from django.apps import apps
from django.db import connection, models
from django.db.models import BooleanField, ExpressionWrapper, Q, Value

from memory.conf import conf
from memory.db.indexes import full_text_index
from memory.db.querysets import Lineage, Ranked, VersionedQuerySet
from memory.db.reading import picked
from memory.db.sqlite.columns import Blocks, Columns
from memory.db.tokens import code, vector_slot

CHUNK = 500
LOAD = 5000  # rows
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
            deleted="?",
            found="?",
            **codes,
        )
        self.vectors = Blocks()
        self._known: dict[int, int] = {}  # hash -> position of its vector
        self._missing: dict[int, list[int]] = {}  # hash -> rows that wait for it
        self._loaded: dict[int, tuple[int, int]] = {}  # branch -> (lowest, highest) seq that is complete
        self._masks: OrderedDict[tuple[Lineage, bool], Shown] = OrderedDict()
        self._sorted: tuple[int, np.ndarray] = (0, np.empty(0, dtype="i8"))
        self._n, self._epoch, self._dead = 0, epoch, 0

    # ---- answers -------------------------------------------------------------------------------

    def scan(self, rows: VersionedQuerySet, vector: np.ndarray) -> "Scan | None":
        """What is to be compared with a vector: the visible rows that have all tokens.

        None where this reader's view of the database is older than what memory would have to load.
        """
        with self._lock:
            if not self._refresh(rows._lineage or ()):
                return None
            at, vec = self._narrowed(self._shown(rows), rows)
            vectors, rids = self.vectors, self.rows["rid"]
        if vectors.dimensions != len(vector):
            at, vec = at[:0], vec[:0]
        return Scan(rids, at, vec, vectors, vector)

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

    def _shown(self, rows: VersionedQuerySet) -> "Shown":
        """The visible rows; remembered, since along one lineage they cannot change. Vectors come later."""
        key = (tuple(rows._lineage or ()), rows._only_searchable)
        shown = self._masks.get(key)
        if shown is None or shown.vectors != self.vectors.size:
            visible = self._visible(*key) if shown is None else shown.visible
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
        if n > self._n:
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
        searchable = self.model.searchable_q()  # type: ignore[attr-defined]
        found = ExpressionWrapper(searchable, BooleanField()) if searchable else Value(True)
        values = (
            self.model._base_manager.filter(condition, branch_id=branch)
            .annotate(found=found)
            .values_list(
                "rid", "seq_from", "seq_to", "deleted", "found", "uid", "content_hash", *self.token_fields
            )
        )
        rows = values.iterator(LOAD)
        while some := list(islice(rows, LOAD)):  # in parts: all at once, they take more room than the vectors
            self._append(branch, [list(column) for column in zip(*some, strict=True)])

    def _append(self, branch: int, columns: list[list]) -> None:
        rid, seq_from, seq_to, deleted, found, uids, hashes, *tokens = columns
        codes = {f"code{i}": [_code(i, v) if v else 0 for v in values] for i, values in enumerate(tokens)}
        keys = [_key(value) for value in hashes]
        self._ensure_vectors(dict(zip(keys, hashes, strict=True)))
        vec = [self._known.get(key, -1) for key in keys]
        at = self.rows.append(
            rid=rid, seq_from=seq_from, seq_to=seq_to, deleted=deleted, found=found, vec=vec,
            branch=np.full(len(rid), branch), uid=[_low(uid) for uid in uids], **codes,
        )  # fmt: skip
        for place, key, known in zip(at.tolist(), keys, vec, strict=True):
            if known < 0:
                self._missing.setdefault(key, []).append(place)

    # ---- vectors -------------------------------------------------------------------------------

    def _ensure_vectors(self, hashes: dict[int, str]) -> None:
        """Fetch the vectors of texts that are new here, as far as they are ready."""
        new = [value for key, value in hashes.items() if key not in self._known and key not in self._missing]
        for start in range(0, len(new), CHUNK):
            self._keep(self._slots(new[start : start + CHUNK]))

    def _fetch_new(self, n: int) -> None:
        """Vectors that became ready since the last look, where a row waits for them."""
        fresh = self._ready().filter(n__gt=self._n, n__lte=n).values_list("slot", "content_hash")
        slots = [slot for slot, value in fresh.iterator(5000) if _key(value) in self._missing]
        for start in range(0, len(slots), CHUNK):
            self._keep(slots[start : start + CHUNK])
        self._n = n

    def _keep(self, slots: Sequence[str]) -> None:
        pairs = [
            (_key(value), data) for value, data in self._vectors(slots) if _key(value) not in self._known
        ]
        # Models are never mixed, but one may have changed its dimensions under the same name.
        dimensions = self.vectors.dimensions or (len(pairs[0][1]) if pairs else 0)
        pairs = [(key, data) for key, data in pairs if len(data) == dimensions]
        if not pairs:
            return
        at = self.vectors.append(np.stack([data for _, data in pairs]))
        for place, (key, _) in zip(at.tolist(), pairs, strict=True):
            self._known[key] = place
            for row in self._missing.pop(key, ()):
                self.rows["vec"][row] = place

    def _ready(self) -> models.QuerySet:
        vectors = apps.get_model("memory", "Vector").objects
        return vectors.filter(project=self.project_id, model=self.embedder, state="ready")

    def _vectors(self, slots: Sequence[str]) -> list[tuple[str, np.ndarray]]:
        """(content hash, vector) of those that are ready. By key alone, or the planner reads all that are."""
        rows = apps.get_model("memory", "Vector").objects.filter(slot__in=slots)
        found = rows.values_list("content_hash", "state", "data")
        return [(value, data) for value, state, data in found if state == "ready" and data is not None]

    def _slots(self, hashes: Iterable[str]) -> list[str]:
        return [vector_slot(self.project_id, self.embedder, value) for value in hashes]

    # ---- the past ------------------------------------------------------------------------------

    def nearest_past(self, rows: VersionedQuerySet, vector: np.ndarray, k: int) -> Ranked:
        """Any other point of time: the vectors of what was visible then, read from the database."""
        by_hash: dict[str, list[int]] = {}
        for rid, value in rows.early().order_by().values_list("pk", "content_hash").iterator(5000):
            by_hash.setdefault(value, []).append(rid)
        return self._scored(by_hash, vector)[:k]

    def cosines_past(self, rids: Sequence[int], rows: VersionedQuerySet, vector: np.ndarray) -> Ranked:
        """The same for some rows."""
        by_hash: dict[str, list[int]] = {}
        for rid, value in self.model._base_manager.filter(pk__in=rids).values_list("pk", "content_hash"):
            by_hash.setdefault(value, []).append(rid)
        return self._scored(by_hash, vector)

    def _scored(self, by_hash: dict[str, list[int]], vector: np.ndarray) -> Ranked:
        hashes, hits = list(by_hash), []
        for start in range(0, len(hashes), CHUNK):
            for value, data in self._vectors(self._slots(hashes[start : start + CHUNK])):
                if len(data) == len(vector):
                    hits += [(rid, float(data @ vector)) for rid in by_hash[value]]
        return sorted(hits, key=lambda hit: (-hit[1], hit[0]))


class Shown(NamedTuple):
    """Positions of the rows that a lineage shows; of those among them with a vector, and of that."""

    visible: np.ndarray
    at: np.ndarray
    vec: np.ndarray
    vectors: int  # how many there were when this was made

    @classmethod
    def of(cls, visible: np.ndarray, vec: np.ndarray, vectors: int) -> "Shown":
        have = vec[visible] >= 0
        at = visible if have.all() else visible[have]
        return cls(visible, at, vec[at].astype("i4"), vectors)


class Scan(NamedTuple):
    """Rows to be compared with a vector. Nothing of it changes, so that any thread may do the work."""

    rids: np.ndarray  # of all rows
    at: np.ndarray  # those to be compared
    vec: np.ndarray  # the positions of their vectors
    vectors: Blocks
    vector: np.ndarray

    def best(self, k: int) -> Ranked:
        """The k best by cosine; ties by row id."""
        return _best(self.rids, self.at, self.scores(), k)

    def scores(self) -> np.ndarray:
        return self.vectors.dot(self.vec, self.vector)

    def best_that_pass(self, rows: VersionedQuerySet, k: int) -> Ranked:
        """The k best that pass filters which memory does not know: the database is asked in rank order."""
        scores, passed = self.scores(), list[tuple[int, float]]()
        looked, take = 0, 4 * k
        while len(passed) < k and looked < len(self.at):
            ranked = _best(self.rids, self.at, scores, take)
            passed += _passing(ranked[looked:], rows)
            looked = len(ranked)
            # As many more as it takes if they pass as seldom as these did, and half as many again.
            take = looked + max(k, int(1.5 * looked * (k - len(passed)) / max(len(passed), looked / 20)))
        return passed[:k]


def _best(rids: np.ndarray, at: np.ndarray, scores: np.ndarray, k: int) -> Ranked:
    """The best k of the rows at these positions; ties by row id."""
    if 0 < k < len(scores):
        # All that tie with the k-th stay in, so that the order by row id decides.
        edge = np.partition(scores, len(scores) - k)[len(scores) - k]
        some = np.flatnonzero(scores >= edge)
        at, scores = at[some], scores[some]
    rids = rids[at]
    order = np.lexsort((rids, -scores))[:k]
    return list(zip(rids[order].tolist(), scores[order].tolist(), strict=True))


def _passing(ranked: Ranked, rows: VersionedQuerySet) -> Ranked:
    passed: set[int] = set()
    for start in range(0, len(ranked), CHUNK):
        some = [rid for rid, _ in ranked[start : start + CHUNK]]
        passed.update(rid for (rid,) in rows.picked(("rid",), "rid", some))
    return [hit for hit in ranked if hit[0] in passed]


def _key(content_hash: str) -> int:
    return int(content_hash[:15], 16)


def _low(uid: Any) -> int:
    """The random half of a UUID as a signed 64-bit number."""
    low = uid.int & (2**64 - 1)
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
