"""Filters of facts, the same for lists, search, explanation and every surface."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import Field, asdict, dataclass
from datetime import datetime
from typing import Any, ClassVar, Self, TypeVar

from django.db.models import Q, Value

from memory.actors import own_sessions
from memory.db.expressions import ContainsText, IndexCondition
from memory.db.fields import dumps
from memory.db.lineage import EndUser, get_end_user
from memory.db.querysets import Lineage, VersionedQuerySet
from memory.engines.facts.assessment import with_verification
from memory.engines.fields.fact_filters import FACT_FILTERS
from memory.engines.fields.filters import FilterField
from memory.engines.support import validation as c
from memory.engines.versions.repositories import filter_repository
from memory.exceptions import UserForbidden
from memory.models import Fact
from memory.models.facts import SOURCE_INDEX

Made = TypeVar("Made", bound="Filter")
AFTER_SLASH = chr(ord("/") + 1)
NARROWING = (
    "category",
    "kind",
    "status",
    "session_id",
    "agent_id",
    "user_id",
    "app_id",
)  # the index has tokens for these


class Filter:
    """Base of all filters. ``filters_by`` gives a subclass a field for each declared filter.

    A subclass states the types of those that code reads by name.
    """

    CHECKS: ClassVar[Mapping[str, c.Check]]
    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]  # of the subclass

    @classmethod
    def from_values(cls, values: Mapping[str, Any]) -> Self:
        """Build a filter from a caller's values; empty ones are left out. Raises UnknownField, Invalid."""
        filled = {name: value for name, value in values.items() if value not in (None, "", [], ())}
        return cls(**c.validate(filled, cls.CHECKS))

    def as_dict(self) -> dict[str, Any]:
        """Return the filters that are set, by name."""
        return {name: value for name in self.CHECKS if (value := getattr(self, name)) not in (None, "", ())}


def list_values(filters: Filter, rows: VersionedQuerySet) -> dict[str, Any]:
    """Return the filters that are set, with sessions as they are stored of the end user for whom rows are
    read, or whom the filters name. Raises UserForbidden for a filter by another.
    """
    values, reader = filters.as_dict(), get_end_user(rows.named_lineage)
    named = {name: values[name] for name in asdict(reader) if name in values}
    if any({*named.get(name, (own,))} != {own} for name, own in reader.list_columns().items()):
        raise UserForbidden()
    if "session_id" in values:
        single = {name: among[0] for name, among in named.items() if len(among) == 1}
        owner = EndUser(**{**single, **reader.list_columns()})
        values["session_id"] = own_sessions(values["session_id"], owner)
    return values


def filters_by(filters: Iterable[FilterField]) -> Callable[[type[Made]], type[Made]]:
    """Return a decorator that makes a frozen dataclass with these filters; those of many are tuples."""

    def make(cls: type[Made]) -> type[Made]:
        cls.CHECKS = {one.name: one.make_check() for one in filters}
        cls.__annotations__ = dict.fromkeys(cls.CHECKS, Any) | cls.__annotations__
        for one in filters:
            setattr(cls, one.name, () if one.many else None)
        return dataclass(frozen=True)(cls)

    return make


@filters_by(FACT_FILTERS)
class FactFilter(Filter):
    """Filter of facts: all fields must match, a tuple by any of its values, but ``tags`` by all of them."""

    kind: tuple[str, ...]
    status: tuple[str, ...]
    verification_status: tuple[str, ...]
    namespace: str | None

    def apply(self, rows: VersionedQuerySet, lineage: Lineage, archived: bool = False) -> VersionedQuerySet:
        """Filter the rows by all fields. On an ``archived`` branch every fact counts as archived."""
        for name, value in list_values(self, rows).items():
            if name == "status" and archived:
                rows = rows if Fact.Status.ARCHIVED in value else rows.none()
            elif name == "repository":
                rows = filter_repository(rows, value)
            elif name in NARROWING:
                rows = rows.filter_indexed(**{name: value})
            else:
                rows = rows.filter(*_build_conditions(name, value, lineage))
        return rows

    def split_filters(self) -> dict[str, Self]:
        """Return each set filter separately, by name, to find the one that excludes a fact."""
        return {name: type(self)(**{name: value}) for name, value in self.as_dict().items()}


def _build_conditions(name: str, value: Any, lineage: Lineage) -> list[Any]:
    if name == "tags":
        return [tag_condition(dumps(tag)) for tag in value]
    if name == "tag_prefix":
        return [tag_condition(dumps(value)[:-1])]  # without the quote that ends it
    if name == "source_id":
        return [IndexCondition(SOURCE_INDEX), Q(source_id__in=value)]
    if name == "own":
        (own, _limit), *_further = lineage
        return [Q(branch_id=own) if value else ~Q(branch_id=own)]
    if name == "verification_status":
        return [with_verification(value, lineage)]
    if isinstance(value, tuple):
        return [Q(**{f"{name}__in": value})]
    return [_RANGES[name](value) if name in _RANGES else Q(**{name: value})]


def tag_condition(tag: str) -> Q:
    """Return a condition on a tag in the JSON text: the production database cannot search lists.

    The character before the tag is part of the match; a quoted word inside another tag follows a backslash.
    """
    first, later = (ContainsText("tags", Value(before + tag)) for before in ("[", ","))
    return Q(first) | Q(later)


_RANGES: dict[str, Any] = {
    "min_confidence": lambda v: Q(confidence__gte=v),
    "max_confidence": lambda v: Q(confidence__lte=v),
    "created_after": lambda v: Q(created_at__gte=v),
    "created_before": lambda v: Q(created_at__lt=v),
    "valid_at": lambda v: _from_before(v, "lte") & _until_after(v),
    "valid_after": lambda v: _until_after(v),
    "valid_before": lambda v: _from_before(v, "lt"),
    "namespace": lambda v: is_below(v),
}


def filter_lasting(rows: VersionedQuerySet[Fact], now: datetime) -> VersionedQuerySet[Fact]:
    return rows.filter(~Q(expires_at__lte=now))


def is_below(namespace: str) -> Q:
    """Return a condition: items of a namespace and of all below it, in one range of an index."""
    return Q(path__gte=f"{namespace}/", path__lt=f"{namespace}{AFTER_SLASH}")


def _from_before(when: datetime, lookup: str) -> Q:
    return Q(valid_from=None) | Q(**{f"valid_from__{lookup}": when})


def _until_after(when: datetime) -> Q:
    return Q(valid_until=None) | Q(valid_until__gt=when)
