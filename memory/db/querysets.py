"""Reading versions: nothing is answered until a branch was named.

``on(branch)`` is the visibility rule of docs/decisions/0001 as one condition. ``rows()`` gives the same rows
as a condition on each row, for the ranked walks of search; ``newest()`` and ``gather()`` ask arm by arm,
so that each uses its own index.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import wraps
from operator import attrgetter
from typing import Any, NoReturn, Self, TypeVar

import numpy as np
from django.core.exceptions import EmptyResultSet
from django.db import connections, models
from django.db.models import Q, Value
from django.db.models.sql import Query

from memory.db.expressions import Aside, Begun, Condition, Visible, Walked, Written
from memory.db.reading import by_key, exists, followed

Row = TypeVar("Row", bound=models.Model)
Lineage = Sequence[tuple[int, int]]
FEW = 20_000  # rows that are read by when they began
Ranked = list[tuple[int, float]]  # (rid, score), the best first


class BranchNotNamed(RuntimeError):
    """A programming error: versions of all branches and projects would have been read."""


class VersionedQuery(Query):
    """The SQL of a queryset of versions: not made before a branch was named, whoever asks for it."""

    named: str = ""  # what was read, once somebody may

    def get_compiler(self, *args: Any, **kwargs: Any) -> Any:
        self.check()
        return super().get_compiler(*args, **kwargs)

    def resolve_expression(self, *args: Any, **kwargs: Any) -> Any:
        self.check()
        return super().resolve_expression(*args, **kwargs)

    def combine(self, rhs: Any, connector: str) -> NoReturn:
        raise BranchNotNamed(
            "Querysets of versions cannot be joined with &, | or ^: use filter with Q objects."
        )

    @property
    def _model_name(self) -> str:
        return str(self.model and self.model.__name__)

    def check(self) -> None:
        """Refuses while no branch was named."""
        if not self.named:
            raise BranchNotNamed(f"{self._model_name}: say .on(branch) or .all_versions() first.")


class VersionedQuerySet(models.QuerySet[Row, Row]):
    _lineage: Lineage | None = None
    _said: tuple[tuple[bool, tuple, dict], ...] = ()
    _tokens: dict[str, tuple[str, ...]] = {}
    _only_searchable = False
    _filters: Written | None = None  # what was said in SQL, for statements that repeat it
    _known = 0  # how many of the filters said the index knows by itself

    def __init__(self, model: Any = None, query: Any = None, using: Any = None, hints: Any = None) -> None:
        super().__init__(model, query or VersionedQuery(model), using, hints)

    # ---- naming the branch -------------------------------------------------------------------

    def on(self, branch: Any, seq: int | None = None) -> Self:
        """Rows visible on ``branch`` at ``seq`` (its head as read, when None)."""
        return self.along(branch.lineage(seq))

    def along(self, lineage: Lineage) -> Self:
        """Rows visible along a lineage: of each memory the nearest version, none if that is deleted."""
        if self._lineage is not None:
            raise BranchNotNamed("A branch was named already.")
        clone = self._named("branch")
        clone._lineage = tuple(lineage)
        if len(lineage) == 1:
            return clone._unsaid(Q(branch_id=lineage[0][0], deleted=False) & _open_at(lineage[0][1]))
        return clone._unsaid(Visible(self.model, lineage, known=False))

    def early(self) -> Self:
        """The same rows, for statements about all of them: by when they began, where few had begun then.

        At a point of the distant past nearly all that was written since is open later than that too.
        """
        return self._unsaid(Begun(self._known_lineage()[0][1])) if self.had_begun(FEW) else self

    def had_begun(self, most: int) -> bool:
        """Whether the lineage is one branch, on which at most so many versions were written by then."""
        (branch, limit), *further = self._known_lineage()
        begun = self.model._base_manager.using(self.db).filter(branch_id=branch, seq_from__lte=limit)
        return not further and begun.order_by()[: most + 1].count() <= most

    def all_versions(self) -> Self:
        """Every version of every branch and project. For history, maintenance and tests."""
        return self._named("all")

    def _named(self, what: str) -> Self:
        clone = self._chain()  # type: ignore[attr-defined]
        clone.query.named = what
        return clone

    def newest(self, k: int, before: Any = None, after: Any = None) -> list[Row]:
        """The k rows with the highest uid (the newest), or the k next to a uid; newest first."""
        return self.lowest(k, "uid", after)[::-1] if after is not None else self.highest(k, "uid", before)

    def highest(self, k: int, by: str, before: Any = None) -> list[Row]:
        """The k rows with the highest values of a column, below ``before`` if given; the highest first.

        Each arm of the lineage is asked for k rows by itself: sorting their union would read it whole.
        """
        below = {} if before is None else {f"{by}__lt": before}
        walk = {"down": by == "uid" and before is None}
        found = [row for arm in self._arms(walk, **below) for row in self._first(arm.order_by(f"-{by}"), k)]
        return sorted(found, key=attrgetter(by), reverse=True)[:k]

    def lowest(self, k: int, by: str, after: Any = None) -> list[Row]:
        """The same from the other end: the lowest values first, above ``after`` if given."""
        above = {} if after is None else {f"{by}__gt": after}
        walk = {"down": False}
        found = [row for arm in self._arms(walk, **above) for row in self._first(arm.order_by(by), k)]
        return sorted(found, key=attrgetter(by))[:k]

    def _arms(self, walk: Mapping[str, bool] | None = None, **condition: Any) -> Iterator[models.QuerySet]:
        """What each branch of the lineage shows, with the filters that were said and one more.

        ``walk`` is how ``Walked`` is to read it; None where the order does not matter.
        """
        base = self.model._base_manager.using(self.db)
        for i in range(len(self._known_lineage())):
            yield self._replay(base.filter(self._arm_row(i, walk))).filter(**condition)

    def _first(self, ordered: models.QuerySet, k: int) -> Iterable[Row]:
        if not connections[self.db].features.sorts_whole_rows:  # type: ignore[attr-defined]
            return ordered[:k]
        pks = list(ordered.values_list("pk", flat=True)[:k])
        return self.model._base_manager.using(self.db).filter(pk__in=pks)

    def gather(self) -> list[Row]:
        """All the rows, in no order. For narrow filters: each arm of the lineage uses its own index."""
        return [row for arm in self._arms() for row in arm]

    def gather_values(self, *columns: str) -> list[tuple]:
        """These columns of the same rows: a fraction of the work where many rows are read."""
        return [values for arm in self._arms() for values in arm.values_list(*columns)]

    def following(self, pks: Sequence[int], same: str) -> dict[int, int]:
        """Of each row the visible row of the next higher uid with the same value of ``same``, by key."""
        if not pks:
            return {}
        features: Any = connections[self.db].features
        look = self._next_by_row if features.limits_correlated_subqueries else self._next_by_union
        found: dict[int, list[int]] = {}
        for place in range(len(self._known_lineage())):
            for pk, next_pk in look(place, pks, same):
                found.setdefault(pk, []).append(next_pk)
        return self._nearest_uid(found)

    def _next_by_row(self, place: int, pks: Sequence[int], same: str) -> Iterable[tuple[int, int]]:
        """Each of some rows with the next one of an arm that has the same value."""
        return followed(self.db, self.model, self._conditions([self._arm_row(place)]), pks, same)

    def _next_by_union(self, place: int, pks: Sequence[int], same: str) -> Iterable[tuple[int, int]]:
        """The same, for a database that cannot take the first row of a subquery about another row."""
        base = self.model._base_manager.using(self.db)
        arm = self._replay(base.filter(self._arm_row(place)))
        ones = [
            arm.filter(**{same: value}, uid__gt=uid)
            .annotate(before=Value(pk, models.BigIntegerField()))
            .order_by("uid")
            .values_list("before", "pk")[:1]
            for pk, uid, value in base.filter(pk__in=pks).values_list("pk", "uid", same)
        ]
        return ones[0].union(*ones[1:], all=True) if ones else ()

    def _nearest_uid(self, found: dict[int, list[int]]) -> dict[int, int]:
        """Of the rows that the arms offer for each row, the one with the lowest uid."""
        several = [pk for offered in found.values() if len(offered) > 1 for pk in offered]
        rows = self.model._base_manager.using(self.db).filter(pk__in=several)
        uids = dict(rows.values_list("pk", "uid")) if several else {}
        return {pk: min(offered, key=lambda other: uids.get(other, 0)) for pk, offered in found.items()}

    def history(self, lineage: Lineage, uid: Any) -> Self:
        """All versions of one memory that the lineage passed through, newest first."""
        seen = Q()
        for branch, limit in lineage:
            seen |= Q(branch_id=branch, seq_from__lte=limit)
        every = type(self)(self.model, using=self.db).all_versions()
        return every.filter(seen, uid=uid).order_by("-updated_at", "-version", "-pk")

    def narrowed(self, **fields: str | Iterable[str]) -> Self:
        """Filter by columns that the index knows as tokens; searches then skip the rest unread."""
        clone = self
        for field, value in fields.items():
            values = (value,) if isinstance(value, str) else tuple(value)
            clone = clone.filter(**{f"{field}__in": values})
            if all(values):  # an empty value has no token
                both = [value for value in values if value in clone._tokens.get(field, values)]
                clone._tokens = {**clone._tokens, field: tuple(both)}
                clone._known += 1
        return clone

    def searchable(self) -> Self:
        """Only rows that a search finds without being asked for more (the model says which)."""
        clone = self.filter(self.model.searchable_q())  # type: ignore[attr-defined]
        clone._only_searchable = True
        clone._known += 1
        return clone

    @property
    def known_to_index(self) -> bool:
        """Whether the index can apply every filter by itself."""
        return self._known == len(self._said)

    # ---- searching ---------------------------------------------------------------------------

    def keyword(self, words: Sequence[str], k: int, also: Sequence[int] = ()) -> tuple[Ranked, Ranked]:
        """The best k rows by BM25 over any of the words, and the scores of the rows ``also``."""
        return connections[self.db].index.keyword(self, words, k, also)  # type: ignore[attr-defined]

    def nearest(self, vector: np.ndarray, k: int, model: str, project_id: Any) -> Ranked:
        """The best k rows by cosine with ``vector`` (unit length) among those embedded by ``model``."""
        return list(self.nearest_later(vector, k, model, project_id))

    def nearest_later(
        self, vector: np.ndarray, k: int, model: str, project_id: Any
    ) -> Sequence[tuple[int, float]]:
        """The same, worked out while the caller goes on where the database leaves that to this process."""
        return connections[self.db].index.nearest(self, vector, k, model, project_id)  # type: ignore[attr-defined]

    def cosines(self, rids: Sequence[int], vector: np.ndarray, model: str, project_id: Any) -> Ranked:
        """The cosine of each of some of these rows with ``vector``; rows without a vector are left out."""
        return connections[self.db].index.cosines(rids, self, vector, model, project_id)  # type: ignore[attr-defined]

    def rows(self) -> models.QuerySet:
        """The same rows as a predicate on each row, unordered, for use under a known primary key."""
        base = self.model._base_manager.using(self.db)
        try:
            return base.filter(*self._conditions([Visible(self.model, self._known_lineage())]))
        except EmptyResultSet:  # filters that nothing can pass
            return base.none()

    def picked(self, columns: Sequence[str], by: str, values: Iterable[Any]) -> list[tuple]:
        """These columns of those rows whose ``by`` is one of some values, in no order. Quick for few."""
        few = list(values)
        if not few:
            return []
        try:
            each = [self._conditions([visible]) for visible in self._visible_by(by)]
        except EmptyResultSet:
            return []
        return [row for some in each for row in by_key(self.db, self.model, columns, (by, few), some)]

    def _visible_by(self, column: str) -> list[Visible]:
        """What is visible, for statements that look for rows by a column."""
        lineage = self._known_lineage()
        if column == self.model._meta.pk.name:  # type: ignore[union-attr]
            return [Visible(self.model, lineage)]
        features: Any = connections[self.db].features
        arm = Aside if features.reads_open_rows_first else Visible
        # By another column each arm of the lineage uses its own index.
        return [arm(self.model, lineage, [place]) for place in range(len(lineage))]

    def shows(self, key: str) -> tuple[str, Sequence[Any]]:
        """A condition in SQL: that the row with this key, given as SQL, is one of these."""
        conditions = self._conditions([Visible(self.model, self._known_lineage())])
        return exists(self.db, self.model, conditions, key)

    def _conditions(self, visible: Sequence[Condition]) -> list[Condition]:
        """These, and the filters that were said. Raises EmptyResultSet where nothing can pass them."""
        if not self._said:
            return list(visible)
        if self._filters is None:
            self._filters = Written.of(self._replay(self.model._base_manager.using(self.db).all()))
        return [*visible, self._filters]

    # ---- the rule ----------------------------------------------------------------------------

    def _arm_row(self, i: int, walk: Mapping[str, bool] | None = None) -> Visible:
        """What the i-th branch of the lineage shows, as a condition on one row."""
        features: Any = connections[self.db].features
        if walk is not None and features.must_be_told_to_walk:
            return Walked(self.model, self._known_lineage(), [i], **walk)
        return Visible(self.model, self._known_lineage(), [i])

    def _replay(self, rows: models.QuerySet) -> models.QuerySet:
        """The filters that were said, on another queryset of the same model."""
        said = [(negate, Q(*args, **kwargs)) for negate, args, kwargs in self._said]
        return rows.filter(*(~condition if negate else condition for negate, condition in said))

    # ---- keeping what was said, refusing what was not ------------------------------------------

    def _unsaid(self, condition: Q | Condition) -> Self:
        return super()._filter_or_exclude(False, (condition,), {})  # type: ignore[misc]

    def _filter_or_exclude(self, negate: bool, args: tuple, kwargs: dict) -> Self:
        clone = super()._filter_or_exclude(negate, args, kwargs)  # type: ignore[misc]
        if args or kwargs:
            clone._said = (*self._said, (negate, args, kwargs))
        return clone

    def complex_filter(self, filter_obj: Any) -> Self:
        return self.filter(filter_obj) if isinstance(filter_obj, Q) else self.filter(**filter_obj)

    def none(self) -> Self:
        return self.filter(pk__in=[])

    def _clone(self) -> Self:
        clone = super()._clone()  # type: ignore[misc]
        clone._lineage = self._lineage
        clone._said, clone._tokens = self._said, self._tokens
        clone._only_searchable, clone._known = self._only_searchable, self._known
        return clone

    def _known_lineage(self) -> Lineage:
        """The lineage of the branch that was named. Refuses while none was."""
        if self._lineage is None:
            self.query.check()  # type: ignore[attr-defined]
            raise BranchNotNamed(f"{self.model.__name__}: all versions are no branch; say .on(branch).")
        return self._lineage


def _open_at(limit: int) -> Q:
    return Q(seq_from__lte=limit, seq_to__gt=limit)


def _guarded(name: str) -> Callable[..., Any]:
    """The method of QuerySet, refused while no branch was named: these make a query of another class."""
    plain = getattr(models.QuerySet, name)

    @wraps(plain)
    def method(self: VersionedQuerySet, *args: Any, **kwargs: Any) -> Any:
        self.query.check()  # type: ignore[attr-defined]
        return plain(self, *args, **kwargs)

    return method


for _name in "update delete _update _raw_delete".split():
    setattr(VersionedQuerySet, _name, _guarded(_name))

# from_queryset copies the public methods, so that Fact.objects.on(…) works.
VersionedManager = models.Manager.from_queryset(VersionedQuerySet, class_name="VersionedManager")
