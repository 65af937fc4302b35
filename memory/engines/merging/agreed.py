"""What each side of a merge last agreed to, field by field, and what becomes of it: docs/merging.md.

No database: a history has the versions of one memory. What is worked out for two versions is worked out for
the parents of the merges in their past too: in steps, since a history may be longer than a stack.
"""

from collections.abc import Generator, Mapping, Sequence
from functools import cache, cached_property
from typing import Any, NamedTuple

from memory.engines.merging.fields import CONFLICT, DELETED, GONE, Field, FieldRules
from memory.engines.versions.graph import Pasts

Step = Generator[tuple[Any, ...], Any, Any]  # yields what it needs: a method and its arguments


class Trace(NamedTuple):
    """Where a side has a value from: the first versions that the other one knows, unless somebody decided."""

    known: frozenset[int]
    decided: bool = False


class Merged(NamedTuple):
    """A merged value, CONFLICT where no rule gives one, and the sides that it is taken from."""

    value: Any
    sides: tuple[int, ...]


class Agreed(NamedTuple):
    """What the sides of a field last agreed to: GONE for nothing, CONFLICT where that is no value."""

    ours: Any
    theirs: Any


class History:
    """Versions of one memory by vid, and the reverts of merges among them with what each took back."""

    def __init__(
        self, pasts: Pasts, rows: Mapping[int, Any], rules: FieldRules, reverts: Mapping[int, int]
    ) -> None:
        self.pasts, self.rows, self.rules, self.reverts = pasts, rows, rules, reverts
        self._results: dict[tuple[Any, ...], Any] = {}
        self._made: dict[tuple[int, Field], Any] = {}  # values of versions that no row has
        self._added: dict[tuple[int, str], Any] = {}  # what a version added to a counter
        self._find_fork = cache(pasts.find_fork)  # every field asks for it

    # ---- what a merge asks ---------------------------------------------------------------------

    def merge_field(self, ours: int, theirs: int, field: Field) -> Merged:
        """Return what becomes of a field when one version is merged into another."""
        fork = self._find_fork(ours, theirs)
        if fork is None or field == DELETED:
            found: Merged = self._run(self._merge, ours, theirs, field)
            return found
        agreed = self._read(fork, field)
        changed = [side for side in (ours, theirs) if self._differs(agreed, side, field)]
        return self._choose(ours, theirs, field, changed)

    def find_agreed(self, ours: int, theirs: int, field: Field) -> Agreed:
        """Return what each side last agreed to."""
        return Agreed(*(self._run(self._agree, *pair, field) for pair in ((ours, theirs), (theirs, ours))))

    def list_known(self, ours: int, theirs: int, field: Field) -> frozenset[int]:
        """Return the versions that say what the sides last agreed to."""
        fork = self._find_fork(ours, theirs)
        if fork is not None:
            return frozenset({fork})
        traces = [self._run(self._trace, *pair, field) for pair in ((ours, theirs), (theirs, ours))]
        return traces[0].known | traces[1].known

    def list_reverted(self, ours: int, theirs: int) -> set[Field]:
        """Return the fields that reverts put back of which one side knows and the other does not."""
        found: set[Field] = set()
        for revert, undone in self.reverts.items():
            if self._is_rejected(revert, undone, ours, theirs) or self._is_rejected(
                revert, undone, theirs, ours
            ):
                found |= self._list_put_back(revert, undone)
        return found

    def _is_rejected(self, revert: int, undone: int, side: int, other: int) -> bool:
        """Return whether a side knows a revert, and the other side alone what that took back."""
        rejected = self.pasts.get_past(undone) & ~self.pasts.get_past(revert)
        brought = self.pasts.get_past(other) & ~self.pasts.get_past(side)
        knows = self.pasts.knows(side, revert) and not self.pasts.knows(other, revert)
        return knows and bool(rejected & brought)

    def _list_put_back(self, revert: int, undone: int) -> set[Field]:
        row, before = self.rows[revert], self.rows[undone]
        if row.deleted or before.deleted:
            # The target had the memory never before, though the merge itself may have closed it.
            is_new = not self.pasts.get_parents(revert)
            return {DELETED} if row.deleted != before.deleted or is_new else set()
        fields = self.rules.list_differing(row, before)
        return {field for field in fields if field.name not in self.rules.uncounted}

    # ---- steps ---------------------------------------------------------------------------------

    def _run(self, *call: Any) -> Any:
        """Return the result of a step; what it needs is worked out before it, and once."""
        waiting: list[tuple[tuple[Any, ...], Step]] = [(call, call[0](*call[1:]))]
        result: Any = None
        while waiting:
            made, step = waiting[-1]
            try:
                needed = step.send(result)
            except StopIteration as done:
                result = self._results[made] = done.value
                waiting.pop()
                continue
            result = self._results.get(needed)
            if needed not in self._results:
                waiting.append((needed, needed[0](*needed[1:])))
        return result

    def _trace(self, vid: int, other: int, field: Field) -> Step:
        """Go back to the first versions that the other side knows."""
        while not self.pasts.knows(other, vid):
            parents = self.pasts.get_parents(vid)
            if not parents:
                return Trace(frozenset())
            if len(parents) > 1:
                return (yield from self._trace_merge(vid, other, field))
            vid = parents[0]
        return Trace(frozenset({vid}))

    def _trace_merge(self, vid: int, other: int, field: Field) -> Step:
        known, decided = set[int](), False
        sides = yield self._find_sides, vid, field
        for side in sides:
            trace = yield self._trace, side, other, field
            known, decided = known | trace.known, decided or trace.decided
        return Trace(frozenset(known), decided or not sides)

    def _find_sides(self, vid: int, field: Field) -> Step:
        """Return the parents from which a merge has a value by the rules; none where somebody decided."""
        ours, theirs = self.pasts.get_parents(vid)[:2]
        value, values = self._read(vid, field), [self._read(side, field) for side in (ours, theirs)]
        if field != DELETED and any(one is GONE for one in values):
            return tuple(
                side
                for side, one in zip((ours, theirs), values, strict=True)
                if self.rules.is_equal(field, one, value)
            )
        merged = yield self._merge, ours, theirs, field
        return merged.sides if self.rules.is_equal(field, merged.value, value) else ()

    def _merge(self, ours: int, theirs: int, field: Field) -> Step:
        changed = []
        for pair in ((ours, theirs), (theirs, ours)):
            if (yield self._is_changed, *pair, field):
                changed.append(pair[0])
        if field == DELETED:
            return (yield from self._merge_deleted(ours, theirs, changed))
        return self._choose(ours, theirs, field, changed)

    def _choose(self, ours: int, theirs: int, field: Field, changed: Sequence[int]) -> Merged:
        """Return the merged value of a field that some sides have changed."""
        sides = tuple(changed) if len(changed) == 1 else (ours, theirs)
        if field.name in self.rules.kind.counters:
            return Merged(self._add_up(ours, theirs, field), sides)
        values = self._read(ours, field), self._read(theirs, field)
        if self.rules.is_equal(field, *values):
            return Merged(values[0], sides)
        if len(sides) == 1:
            return Merged(values[sides[0] == theirs], sides)
        return Merged(self.rules.combine(field, *values), sides)

    def _merge_deleted(self, ours: int, theirs: int, changed: Sequence[int]) -> Step:
        """Settle whether the memory is there: a deletion must not undo a change that it did not know."""
        is_deleted = self._read(ours, DELETED)
        if is_deleted == self._read(theirs, DELETED):
            return Merged(is_deleted, tuple(changed) if len(changed) == 1 else (ours, theirs))
        if len(changed) != 1:
            return Merged(CONFLICT, (ours, theirs))
        side, other = (ours, theirs) if changed[0] == ours else (theirs, ours)
        if self._read(side, DELETED):
            for field in self._counted_fields:
                if (yield self._is_changed, other, side, field):
                    return Merged(CONFLICT, (side,))
        return Merged(self._read(side, DELETED), (side,))

    def _is_changed(self, vid: int, other: int, field: Field) -> Step:
        return self._differs((yield self._agree, vid, other, field), vid, field)

    def _differs(self, agreed: Any, vid: int, field: Field) -> bool:
        """Return whether a version says something else than what its side last agreed to."""
        value = self._read(vid, field)
        return not (
            self.rules.is_equal(field, agreed, value)
            or (agreed is GONE and self.rules.is_nothing(field, value))
        )

    def _agree(self, vid: int, other: int, field: Field) -> Step:
        """Return what a side last agreed to, of several versions what the rules make of them; CONFLICT where
        that is no value, or somebody decided since.
        """
        trace = yield self._trace, vid, other, field
        if trace.decided or not trace.known:
            return CONFLICT if trace.decided else GONE
        first, *others = sorted(self.pasts.list_nearest(trace.known))  # the oldest first, in both directions
        for one in others:
            values = self._read(first, field), self._read(one, field)
            if self.rules.is_equal(field, *values):
                continue
            if field != DELETED and GONE in values:
                return CONFLICT
            merged = yield self._merge, first, one, field
            if merged.value is CONFLICT:
                return CONFLICT
            first = self._make_version(first, one, field, merged.value)
        return self._read(first, field)

    # ---- values --------------------------------------------------------------------------------

    @cached_property
    def _counted_fields(self) -> list[Field]:
        """Return the fields of all versions in which a change is a reason to ask somebody."""
        fields = self.rules.list_fields(row for row in self.rows.values() if not row.deleted)
        return [field for field in fields if field.name not in self.rules.uncounted]

    def _add_up(self, ours: int, theirs: int, field: Field) -> Any:
        """Return what one side has counted, and what the other one has besides."""
        for vid in self.pasts.list_vids(self.pasts.find_region([(ours, theirs)])):
            if (vid, field.name) not in self._added:
                self._added[vid, field.name] = self._count(vid, field) - self._count_parents(vid, field)
        return self._count_both(ours, theirs, field)

    def _count_both(self, ours: int, theirs: int, field: Field) -> Any:
        brought = self.pasts.get_past(theirs) & ~self.pasts.get_past(ours)
        added = sum(self._added[vid, field.name] for vid in self.pasts.list_vids(brought))
        return self._count(ours, field) + added

    def _count_parents(self, vid: int, field: Field) -> Any:
        parents = self.pasts.get_parents(vid)
        if len(parents) > 1:
            return self._count_both(parents[0], parents[1], field)
        return self._count(parents[0], field) if parents else 0

    def _count(self, vid: int, field: Field) -> Any:
        value = self._read(vid, field)
        return 0 if value is GONE else value

    def _make_version(self, one: int, other: int, field: Field, value: Any) -> int:
        vid = self.pasts.add_merged(one, other)
        self._made[vid, field] = value
        return vid

    def _read(self, vid: int, field: Field) -> Any:
        if vid >= 0:
            return self.rules.read(self.rows[vid], field)
        if (vid, field) in self._made:
            return self._made[vid, field]
        ours, theirs = self.pasts.get_parents(vid)  # of which one is there, or is not, as their merge is
        return self._read(ours if self._read(ours, DELETED) == self._made[vid, DELETED] else theirs, field)
