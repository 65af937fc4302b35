"""Querysets of versions, which refuse to run before a branch is named.

``on(branch)`` is the visibility rule of docs/decisions/0001 as one condition. ``rows()`` gives the same rows
as a condition on each row, for ranked search reads; ``newest()`` and ``fetch_all()`` query arm by arm, so
that each uses its own index.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial, reduce
from heapq import merge
from itertools import islice
from operator import add, attrgetter
from typing import Any, Self

import numpy as np
from django.core.exceptions import EmptyResultSet
from django.db import models
from django.db.models import F, Q, Value
from django.db.models.functions import Length

from memory.db import raw_select
from memory.db.backend import Ranked, get_features, get_index
from memory.db.budget import split_by_size, text_fields
from memory.db.expressions import (
    CompiledWhere,
    Condition,
    NotHidden,
    StartedBefore,
    Visible,
    VisibleByColumn,
    VisibleOrdered,
    name_filled,
)
from memory.db.indexes import searchable_condition
from memory.db.lineage import freeze, get_end_user, hides_quarantined
from memory.db.neighbours import Reach, count_distances, newest_in_groups, read_neighbours, unite_neighbours
from memory.db.plain_filters import Filter, IsBeyond, replay_filters, split_filters
from memory.db.versioned_query import BranchNotNamed, RecordedFilters, Row, VersionedQuery, require_branch

Lineage = Sequence[tuple[int, int]]
FEW = 20_000  # rows up to which reading by their first seq is faster
FETCH_ROWS, FETCH_CHARACTERS = 4, 2**20  # of a stream, per fetch, and per portion that is read by keys


class VersionedQuerySet(RecordedFilters[Row]):
    lineage: Lineage | None = None
    tokens: dict[str, tuple[str, ...]] = {}
    only_searchable = False
    # Filters as compiled SQL, for statements that repeat them; shared by querysets of one lineage.
    _compiled: dict[tuple[int, ...], tuple[Sequence[Filter], CompiledWhere]]
    _known = 0  # number of filters that the index can apply by itself

    def __init__(self, model: Any = None, query: Any = None, using: Any = None, hints: Any = None) -> None:
        super().__init__(model, query or VersionedQuery(model), using, hints)
        self._compiled = {}

    # ---- naming the branch -------------------------------------------------------------------

    def on(self, branch: Any, seq: int | None = None) -> Self:
        """Filter rows visible on ``branch`` at ``seq`` (its head as read, when None)."""
        return self.in_lineage(branch.lineage(seq))

    def in_lineage(self, lineage: Lineage) -> Self:
        """Filter rows visible along a lineage: of each memory the nearest version, unless it is deleted."""
        if self.lineage is not None:
            raise BranchNotNamed("A branch was named already.")
        clone = self._with_branch("branch")
        clone.lineage, clone._compiled = freeze(lineage), {}
        # A union of one arm would be read row by row.
        shown = Visible(self.model, lineage, known=len(lineage) == 1)
        return clone.add_where(shown).mask_hidden(lineage)

    def mask_hidden(self, lineage: Lineage) -> Self:
        """Leave out what the lineage does not show: versions in quarantine, memory of other end users."""
        shown = self.filter(NotHidden()) if hides_quarantined(lineage) else self
        return shown.filter_indexed(**get_end_user(lineage).list_columns(self.model))

    def prefer_start_index(self) -> Self:
        """Return the same rows, read by their first seq where few began by then: at a point of the distant
        past nearly all versions end later. For statements on all rows.
        """
        return self.add_where(StartedBefore(self.named_lineage[0][1])) if self.has_few_started(FEW) else self

    def has_few_started(self, maximum: int) -> bool:
        """Return whether the lineage is one branch with at most so many versions written by its seq."""
        (branch, limit), *further = self.named_lineage
        begun = self.model._base_manager.using(self.db).filter(branch_id=branch, seq_from__lte=limit)
        return not further and begun.order_by()[: maximum + 1].count() <= maximum

    def all_versions(self) -> Self:
        """Select every version of every branch and project. For history, maintenance and tests."""
        return self._with_branch("all")

    def _with_branch(self, name: str) -> Self:
        clone = self.all()
        clone.query.named = name
        return clone

    def newest(self, k: int, before: Any = None) -> list[Row]:
        """Return the k rows with the highest uid, or the k below a uid; newest first."""
        return self.highest(k, "uid", before)

    def highest(self, k: int, by: str, before: Any = None) -> list[Row]:
        """Return the k rows with the highest values of a column, below ``before`` if given, highest first."""
        return self._edge_rows(k, by, down=True, beyond=before)

    def lowest(self, k: int, by: str, after: Any = None) -> list[Row]:
        """Return the k rows with the lowest values of a column, above ``after`` if given, lowest first."""
        return self._edge_rows(k, by, down=False, beyond=after)

    def _edge_rows(self, k: int, by: str, down: bool, beyond: Any) -> list[Row]:
        """Query each arm of the lineage for k rows by itself: sorting their union would read all of it."""
        is_by_key = get_features(self.db).sorts_whole_rows
        columns = [self.model._meta.pk.name] if is_by_key else raw_select.name_fields(self.model)
        values = raw_select.fetch_each(self.plan_edge(columns, k, by, down, beyond))
        if is_by_key:
            found = list(self.model._base_manager.using(self.db).filter(pk__in=[pk for (pk,) in values]))
        else:
            found = raw_select.build_instances(self.model, self.db, values)
        return sorted(found, key=attrgetter(by), reverse=down)[:k]

    def plan_edge(
        self, columns: Sequence[str], k: int, by: str, down: bool = True, beyond: Any = None
    ) -> list[raw_select.Statement]:
        """Return the statements that read columns of the rows of ``highest`` (``down``) or ``lowest``: of
        each arm of the lineage the first k.
        """
        known = [] if beyond is None else [IsBeyond(self.model, by, beyond, down)]
        plan = partial(raw_select.plan_first, self.db, self.model, columns, k, by, down)
        return [plan([*arm, *known]) for arm in self._walk_arms(down and by == "uid" and beyond is None)]

    def highest_keys(self, k: int, by: str) -> list[int]:
        """Return the primary keys of the same rows as ``highest``."""
        pairs = raw_select.fetch_each(self.plan_edge((by, str(self.model._meta.pk.name)), k, by))
        return [pk for _, pk in sorted(pairs, reverse=True)[:k]]

    def stream(self, k: int, by: str, *, down: bool, beyond: Any = None) -> Iterator[Row]:
        """Yield the rows of ``highest`` (``down``) or ``lowest`` one by one, beyond a value if given.

        Rows that the caller does not take are not read into memory.
        """
        condition = {} if beyond is None else {f"{by}__{'lt' if down else 'gt'}": beyond}
        walk, order = {"down": down and by == "uid" and beyond is None}, f"-{by}" if down else by
        arms = [self._stream_first(arm.order_by(order), k) for arm in self._arms(walk, **condition)]
        return islice(merge(*arms, key=attrgetter(by), reverse=down), k)

    def _stream_first(self, ordered: models.QuerySet, k: int) -> Iterator[Row]:
        if not get_features(self.db).sorts_whole_rows:
            return ordered[:k].iterator(FETCH_ROWS)
        return self.stream_keys(list(ordered.values_list("pk", flat=True)[:k]))

    def stream_keys(self, pks: Sequence[int]) -> Iterator[Row]:
        """Yield the rows with these keys in their order, read in portions of limited characters."""
        rows = self.model._base_manager.using(self.db)
        lengths = [Length(F(field.attname)) for field in text_fields(self.model)]
        sized = rows.filter(pk__in=pks if lengths else [])
        sizes = dict(sized.annotate(size=reduce(add, lengths, Value(0))).values_list("pk", "size"))
        for batch in split_by_size([(pk, sizes.get(pk) or 0) for pk in pks], FETCH_CHARACTERS):
            found = {row.pk: row for row in rows.filter(pk__in=batch)}
            yield from (found[pk] for pk in batch if pk in found)

    def _arms(self, walk: Mapping[str, bool] | None = None, **condition: Any) -> Iterator[models.QuerySet]:
        """Yield the rows of each branch of the lineage, with the queryset's filters and one more.

        ``walk`` are options of ``VisibleOrdered``; None where the order does not matter.
        """
        rows = self.model._base_manager.using(self.db)
        for i in range(len(self.named_lineage)):
            yield replay_filters(rows.filter(self._arm_row(i, walk)), self.recorded_filters).filter(
                **condition
            )

    def fetch_all(self) -> list[Row]:
        """Return all rows, unordered. For narrow filters: each arm of the lineage uses its own index."""
        return [row for arm in self._arms() for row in arm]

    def gather_values(self, *columns: str) -> list[tuple]:
        """Return columns of the same rows, which is much cheaper for many rows."""
        return [values for arm in self._arms() for values in arm.values_list(*columns)]

    def gather_groups(self, counted: Any, **groups: Any) -> list[tuple]:
        """Return an aggregate of the same rows by the values of expressions, which comes last.

        A group that several branches of the lineage have comes once for each.
        """
        named = (arm.order_by().annotate(**groups).values_list(*groups) for arm in self._arms())
        return [values for arm in named for values in arm.annotate(counted=counted)]

    def read_neighbours(
        self,
        pks: Sequence[int],
        same: str,
        columns: Sequence[str],
        reach: Reach,
        cut: int | None = None,
    ) -> dict[int, dict[int, tuple]]:
        """Map each row to columns, with uid, of those next to it by uid that have an equal ``same``, by their
        distance. With ``cut``, of long fields the beginning.
        """
        by_row = get_features(self.db).limits_correlated_subqueries
        base, found = self.model._base_manager.using(self.db), list[tuple]()
        for shown in map(self._arm_row, range(len(self.named_lineage) if pks else 0)):
            if by_row:
                each = self._where_conditions([shown])
                found += read_neighbours(self.db, self.model, each, pks, same, columns, reach, cut)
            else:
                arm = replay_filters(base.filter(shown), self.recorded_filters)
                known = base.filter(pk__in=pks)
                found += unite_neighbours(arm, known, same, columns, reach, cut)
        return count_distances(found, columns.index("uid"), reach)

    def newest_in_groups(self, columns: Sequence[str], groups: Sequence[Sequence[Any]]) -> list[Row]:
        """Return the newest rows of groups, each values of the columns and a uid that its row is below."""
        arms = self._walk_arms(False) if groups else ()
        pks = [pk for arm in arms for pk in newest_in_groups(self.db, self.model, arm, columns, groups)]
        return list(self.model._base_manager.using(self.db).filter(pk__in=pks)) if pks else []

    def history(self, lineage: Lineage, *uids: Any) -> Self:
        """Return all versions of memories along the lineage, newest first."""
        seen = Q()
        for branch, limit in lineage:
            seen |= Q(branch_id=branch, seq_from__lte=limit)
        every = type(self)(self.model, using=self.db).all_versions().filter(seen, uid__in=uids)
        return every.mask_hidden(lineage).order_by("-updated_at", "-version", "-pk")

    def filter_indexed(self, **fields: str | Iterable[str]) -> Self:
        """Filter by columns that the index has as tokens; searches then skip other rows unread."""
        clone = self
        for field, value in fields.items():
            values = (value,) if isinstance(value, str) else tuple(value)
            filled = all(values)  # an empty value has no token
            own = name_filled(self.model, field) if filled else ()
            clone = clone.filter(*own, **{f"{field}__in": values})
            if filled:
                both = [value for value in values if value in clone.tokens.get(field, values)]
                clone.tokens, clone._known = {**clone.tokens, field: tuple(both)}, clone._known + 1
        return clone

    def searchable(self) -> Self:
        """Filter rows that a search finds by default (the model defines which)."""
        clone = self.filter(searchable_condition(self.model))
        clone.only_searchable = True
        clone._known += 1
        return clone

    @property
    def known_to_index(self) -> bool:
        """Return whether the index can apply every filter by itself."""
        return self._known == len(self.recorded_filters)

    # ---- searching ---------------------------------------------------------------------------

    def match_words(self, words: Sequence[str], k: int, also: Sequence[int] = ()) -> tuple[Ranked, Ranked]:
        """Return the best k rows by BM25 over any of the words, and the scores of the rows ``also``."""
        return get_index(self.db).match_words(self, words, k, also)

    def knows_words(self) -> bool:
        """Return whether ``match_words`` finds these rows without a look at each in the database."""
        return get_index(self.db).knows_words(self)

    def search_vectors(self, vector: np.ndarray, k: int, model: str, project_id: Any) -> Ranked:
        """Return the best k rows by cosine with ``vector`` (unit length), embedded by ``model``."""
        return list(self.nearest_deferred(vector, k, model, project_id))

    def nearest_deferred(
        self, vector: np.ndarray, k: int, model: str, project_id: Any
    ) -> Sequence[tuple[int, float]]:
        """Return the same hits, deferred to a thread where this process compares vectors."""
        return get_index(self.db).search_vectors(self, vector, k, model, project_id)

    def match_vectors(
        self, vectors: np.ndarray, floor: float, k: int, model: str, project_id: Any
    ) -> list[Ranked]:
        """Return the best k rows for each row of a matrix of unit vectors, down to a cosine of ``floor``.

        All vectors are compared in one pass over the rows.
        """
        return get_index(self.db).match_vectors(self, vectors, floor, k, model, project_id)

    def score_cosines(self, rids: Sequence[int], vector: np.ndarray, model: str, project_id: Any) -> Ranked:
        """Return the cosine of each of these rows with ``vector``; rows without a vector are left out."""
        return get_index(self.db).score_cosines(rids, self, vector, model, project_id)

    def rows(self) -> models.QuerySet:
        """Return the same rows as a condition on each row, unordered, for look-ups by primary key."""
        base = self.model._base_manager.using(self.db)
        try:
            return base.filter(*self._where_conditions([Visible(self.model, self.named_lineage)]))
        except EmptyResultSet:  # filters that no row can pass
            return base.none()

    def select_by_key(
        self, columns: Sequence[str], by: str, values: Iterable[Any], cut: int | None = None
    ) -> list[tuple]:
        """Return columns of the rows whose ``by`` is one of the values, unordered. Fast for few values.

        With ``cut``, long fields are texts of at most so many characters.
        """
        return raw_select.fetch_each(self.plan_by_key(columns, by, values, cut))

    def plan_by_key(
        self, columns: Sequence[str], by: str, values: raw_select.Values, cut: int | None = None
    ) -> list[raw_select.Statement]:
        """Return the statements of ``select_by_key``, for ``read_together``."""
        few = values if isinstance(values, raw_select.Selected) else list(values)
        if not few:
            return []
        try:
            each = [self._where_conditions([visible]) for visible in self._visible_by(by)]
        except EmptyResultSet:
            return []
        plan = partial(raw_select.plan_by_key, self.db, self.model, columns, (by, few), cut=cut)
        return [statement for batch in each for statement in plan(conditions=batch)]

    def fetch_by_key(
        self,
        by: str,
        values: Iterable[Any],
        max_characters: int | None = None,
        columns: Sequence[str] = (),
    ) -> list[Row]:
        """Return the same rows as instances; with ``max_characters`` long fields are cut as by read_cut. Of
        some ``columns``, the primary key among them, others are read when they are asked for.
        """
        cut = None if max_characters is None else max_characters + 1
        found = self.select_by_key(columns or raw_select.name_fields(self.model), by, values, cut)
        rows = raw_select.build_instances(self.model, self.db, found, columns)
        return rows if max_characters is None else raw_select.cut_rows(rows, max_characters)

    def _visible_by(self, column: str) -> list[Visible]:
        """Return visibility conditions for statements that look rows up by a column."""
        lineage = self.named_lineage
        if column == self.model._meta.pk.name:
            return [Visible(self.model, lineage)]
        arm = VisibleByColumn if get_features(self.db).reads_open_rows_first else Visible
        # By another column each arm of the lineage uses its own index.
        return [arm(self.model, lineage, [level]) for level in range(len(lineage))]

    def visibility_sql(self, key: str) -> tuple[str, Sequence[Any]]:
        """Return an SQL condition: the row with this key, given as SQL, is one of these."""
        conditions = self._where_conditions([Visible(self.model, self.named_lineage)])
        return raw_select.exists_sql(self.db, self.model, conditions, key)

    def _where_conditions(self, visible: Sequence[Condition]) -> list[Condition]:
        """Combine conditions with the queryset's filters. Raises EmptyResultSet when no row can pass."""
        plain, others = split_filters(self.model, self.recorded_filters)
        key = tuple(map(id, others))
        known = self._compiled.get(key, ((), None))[0]
        if (
            others and tuple(map(id, known)) != key
        ):  # a copied or unpickled queryset knows others by these ids
            rows = replay_filters(self.model._base_manager.using(self.db).all(), others)
            self._compiled[key] = others, CompiledWhere.from_queryset(rows)
        return [*visible, *plain, *(self._compiled[key][1:] if others else ())]

    # ---- visibility ----------------------------------------------------------------------------

    def _arm_row(self, i: int, walk: Mapping[str, bool] | None = None) -> Visible:
        """Return the visibility on the i-th branch of the lineage, as a condition on one row."""
        if walk is not None and get_features(self.db).must_be_told_to_walk:
            return VisibleOrdered(self.model, self.named_lineage, [i], **walk)
        return Visible(self.model, self.named_lineage, [i])

    def _walk_arms(self, down: bool) -> list[list[Condition]]:
        """Return the conditions of each arm, for statements that read an index in order."""
        try:
            levels = range(len(self.named_lineage))
            return [self._where_conditions([self._arm_row(i, {"down": down})]) for i in levels]
        except EmptyResultSet:  # filters that no row can pass
            return []

    def _clone(self) -> Self:
        clone = super()._clone()
        clone.lineage, clone._compiled = self.lineage, self._compiled
        clone.recorded_filters, clone.tokens = self.recorded_filters, self.tokens
        clone.only_searchable, clone._known = self.only_searchable, self._known
        return clone

    @property
    def named_lineage(self) -> Lineage:
        """Return the lineage of the named branch. Raises BranchNotNamed without one."""
        if self.lineage is None:
            self.query.check()
            raise BranchNotNamed(f"{self.model.__name__}: all versions are no branch; say .on(branch).")
        return self.lineage


for _name in "update delete _update _raw_delete".split():
    setattr(VersionedQuerySet, _name, require_branch(_name))

# from_queryset copies the public methods, so that Fact.objects.on(…) works.
VersionedManager = models.Manager.from_queryset(VersionedQuerySet, class_name="VersionedManager")
