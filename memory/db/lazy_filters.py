"""Querysets that apply their filters when a query of their own is first needed.

Ours mostly lend their filters to statements that are written directly, and the ORM takes longer to apply a
filter than the database to run the statement.
"""

from typing import TYPE_CHECKING, Any, Self, TypeVar

from django.db import models
from django.db.models.sql import Query

REFUSED = {"_connector", "_negated"}  # names of Q's own options, which are no filters
_django_query: Any = models.QuerySet.query
Row = TypeVar("Row", bound=models.Model)
if TYPE_CHECKING:  # while the program runs it is Django's own; its type stubs leave these methods out

    class QuerySet(models.QuerySet[Row, Row]):
        _query: Query

        def _chain(self) -> Self: ...
        def _clone(self) -> Self: ...
        def _filter_or_exclude(self, negate: bool, args: tuple, kwargs: dict) -> Self: ...
        def _filter_or_exclude_inplace(self, negate: bool, args: tuple, kwargs: dict) -> None: ...

else:
    QuerySet = models.QuerySet


class LazyFilters(QuerySet[Row]):
    """Queryset that keeps its last filters until its query is read. It is not to be shared by threads."""

    _waiting: tuple[tuple[bool, tuple, dict], ...] = ()
    _applies = False

    def _read_query(self) -> Any:
        while self._waiting and not self._applies:
            self._apply_filter(*self._waiting[0])
            self._waiting = self._waiting[1:]  # one that is refused stays, and is refused again
        return _django_query.fget(self)

    def _apply_filter(self, negate: bool, args: tuple, kwargs: dict) -> None:
        self._applies = True  # Django reads the query while it adds to it
        try:
            self._filter_or_exclude_inplace(negate, args, kwargs)
        finally:
            self._applies = False

    query: Any = property(_read_query, _django_query.fset)

    def _filter_or_exclude(self, negate: bool, args: tuple, kwargs: dict) -> Self:
        if not (args or kwargs) or self._query.is_sliced or REFUSED & kwargs.keys():  # by Django, at once
            return super()._filter_or_exclude(negate, args, kwargs)
        clone = self._chain()
        clone._waiting = (*clone._waiting, (negate, args, kwargs))
        return clone

    def _clone(self) -> Self:
        waiting, self._waiting = self._waiting, ()
        try:
            clone = super()._clone()
        finally:
            self._waiting = waiting
        clone._waiting = waiting
        return clone
