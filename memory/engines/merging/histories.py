"""The histories that a merge compares, from the database: versions that matter, and reverts of merges."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from uuid import UUID

from memory.db.raw_select import fetch_instances
from memory.engines.merging.agreed import History
from memory.engines.merging.fields import get_rules
from memory.engines.support.batches import batched
from memory.engines.versions.commits import MERGE, REVERT
from memory.engines.versions.graph import Pasts, Point
from memory.models import BranchedModel, Commit

BATCH_SIZE = 500
Pairs = Mapping[UUID, tuple[Any, Any]]  # the target's version and the source's, by memory


class Versions(dict[int, Any]):
    """Versions of one memory by vid; one that is missing is read when it is needed, which is rare."""

    def __init__(self, rows: Iterable[BranchedModel]) -> None:
        super().__init__((row.vid, row) for row in rows)

    def __missing__(self, vid: int) -> Any:
        known = next(iter(self.values()))
        self[vid] = type(known)._base_manager.filter(uid=known.uid, vid=vid)[0]
        return self[vid]


def load_histories(
    model: type[BranchedModel], pairs: Pairs, pasts: Mapping[UUID, Pasts]
) -> dict[UUID, History]:
    """Return the history of each pair of versions."""
    reverts = find_reverts(model, pairs, pasts)
    vids = {uid: list_needed(model, pasts[uid], pair) for uid, pair in pairs.items()}
    for uid, undone in reverts.items():
        vids[uid] |= {*undone, *undone.values()}
    rows: dict[UUID, list[Any]] = {uid: list(pair) for uid, pair in pairs.items()}
    known = {row.vid for pair in pairs.values() for row in pair}
    # Most versions are still where they were written first, as the row of that number.
    origins = set().union(*vids.values()) - known
    for row in fetch_instances(model._base_manager.all(), "rid", sorted(origins)):
        rows[row.uid].append(row)
    rules = get_rules(model)
    return {uid: History(pasts[uid], Versions(rows[uid]), rules, reverts.get(uid, {})) for uid in pairs}


def list_needed(model: type[BranchedModel], past: Pasts, pair: tuple[Any, Any]) -> set[int]:
    """Return the versions that are read to merge a pair; of what counts, every one."""
    vids = pair[0].vid, pair[1].vid
    fork = past.find_fork(*vids)
    if fork is not None and not model.KIND.counters:
        return {fork}
    region = past.find_region([vids])
    found = past.list_turns(region)
    return found | set(past.list_vids(region)) if model.KIND.counters else found


# ---- reverts of merges ---------------------------------------------------------------------------------


def find_reverts(
    model: type[BranchedModel], pairs: Pairs, pasts: Mapping[UUID, Pasts]
) -> dict[UUID, dict[int, int]]:
    """Return the versions that took a merge back and that one side of a pair alone has in its past, with the
    version that each took back.
    """
    made: dict[Point, list[tuple[UUID, int]]] = {}
    for uid, (ours, theirs) in pairs.items():
        past = pasts[uid]
        for vid in past.list_vids(past.get_past(ours.vid) ^ past.get_past(theirs.vid)):
            if point := past.graph.get_point(vid):
                made.setdefault(point, []).append((uid, vid))
    undone = find_undone_merges(load_reverts(made))
    reverts = {(point, uid): vid for point in undone for uid, vid in made[point]}
    found: dict[UUID, dict[int, int]] = {}
    for row in _load_replaced(model, reverts):
        key = (row.branch_id, row.seq_to), row.uid
        found.setdefault(row.uid, {})[reverts[key]] = row.vid
    return found


def _load_replaced(model: type[BranchedModel], keys: Iterable[tuple[Point, UUID]]) -> Iterator[Any]:
    """Yield the versions that were replaced at some points."""
    left = set(keys)
    for batch in batched(sorted(left), BATCH_SIZE):
        points, uids = zip(*batch, strict=True)
        rows = model._base_manager.filter(uid__in=set(uids), seq_to__in={seq for _branch, seq in points})
        yield from (row for row in rows if ((row.branch_id, row.seq_to), row.uid) in left)


def find_undone_merges(reverts: dict[Point, Commit]) -> set[Point]:
    """Return the reverts that took a merge back, at first or again after a revert had brought it back."""
    found: set[Point] = set()
    waiting, undoes = {key: one.reverts for key, one in reverts.items()}, True
    while waiting:
        undone = Commit.objects.in_bulk({pk for pk in waiting.values() if pk})
        commits = {key: undone[pk] for key, pk in waiting.items() if pk in undone}
        found |= {key for key, one in commits.items() if undoes and one.kind == MERGE}
        waiting = {key: one.reverts for key, one in commits.items() if one.kind == REVERT}
        undoes = not undoes
    return found


def load_reverts(points: Iterable[Point]) -> dict[Point, Commit]:
    """Return the reverts among the commits at these points."""
    found: dict[Point, Commit] = {}
    for batch in batched(list(points), BATCH_SIZE):
        found |= Commit.objects.filter(kind=REVERT).that_made(batch)
    return found
