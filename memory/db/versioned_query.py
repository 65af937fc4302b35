"""A query that refuses to compile before a branch is named, and a queryset that records its filters."""

from collections.abc import Callable, Iterable, Iterator
from functools import wraps
from typing import TYPE_CHECKING, Any, NoReturn, Self, TypeVar

from django.db import models
from django.db.models import Q
from django.db.models.sql import Query
from django.db.models.sql.where import AND

from memory.db.expressions import Condition
from memory.db.plain_filters import find_plain

Row = TypeVar("Row", bound=models.Model)
if TYPE_CHECKING:  # while the program runs it is Django's own; its type stubs leave the method out

    class QuerySet(models.QuerySet[Row, Row]):
        query: Any

        def _clone(self) -> Self: ...

else:
    QuerySet = models.QuerySet


class BranchNotNamed(RuntimeError):
    """A programming error: versions of all branches and projects would have been read."""


class VersionedQuery(Query):
    """A query of versions that compiles only after a branch was named."""

    named: str = ""  # what the query reads: "branch" or "all"; "" refuses

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
        """Raise BranchNotNamed while no branch is named."""
        if not self.named:
            raise BranchNotNamed(f"{self._model_name}: say .on(branch) or .all_versions() first.")


def require_branch(name: str) -> Callable[..., Any]:
    """Wrap a QuerySet method that makes a query of another class: refuse it while no branch is named."""
    plain = getattr(models.QuerySet, name)

    @wraps(plain)
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        self.query.check()
        return plain(self, *args, **kwargs)

    return method


class RecordedFilters(QuerySet[Row]):
    """A queryset that records its filters, for statements that are written directly; it refuses the rest."""

    recorded_filters: tuple[tuple[bool, tuple, dict], ...] = ()

    def filter(self, *args: Any, **kwargs: Any) -> Self:
        args, kwargs = keep_values(args, kwargs)
        is_whole = not self.query.is_sliced and not self.query.combinator  # the ORM refuses others
        plain = find_plain(self.model, args, kwargs) if is_whole else None
        found = super().filter(*args, **kwargs) if plain is None else self.add_where(*plain)
        return found._record(False, args, kwargs)

    def exclude(self, *args: Any, **kwargs: Any) -> Self:
        args, kwargs = keep_values(args, kwargs)
        return super().exclude(*args, **kwargs)._record(True, args, kwargs)

    def add_where(self, *conditions: Condition) -> Self:
        """Add conditions as the filter would, which takes three times as long; they are not recorded."""
        clone = self.all()
        for condition in conditions:
            clone.query.where.add(condition.resolve_expression(clone.query), AND)
        return clone

    def _record(self, negate: bool, args: tuple, kwargs: dict) -> Self:
        if args or kwargs:
            self.recorded_filters = (*self.recorded_filters, (negate, args, kwargs))
        return self

    def complex_filter(self, filter_obj: Any) -> Self:
        return self.filter(filter_obj) if isinstance(filter_obj, Q) else self.filter(**filter_obj)

    def none(self) -> Self:
        return self.filter(pk__in=[])


def keep_values(args: Iterable[Any], lookups: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return a filter that can be applied again: its values are neither used up nor changed by the caller."""
    kept = {name: keep_value(name, value) for name, value in lookups.items()}
    return tuple(keep_part(part) for part in args), kept


def keep_part(part: Any) -> Any:
    if isinstance(part, Q):
        own = part.copy()
        own.children = [keep_part(one) for one in part.children]
        return own
    return (part[0], keep_value(*part)) if isinstance(part, tuple) else part


def keep_value(lookup: str, value: Any) -> Any:
    is_changing = isinstance(value, list | set | Iterator)
    return tuple(value) if is_changing and lookup.endswith("__in") else value
