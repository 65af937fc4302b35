"""Filters of plain columns as conditions: the ORM takes longer to compile one than the database to run it."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from enum import Enum
from functools import cache
from typing import Any
from uuid import UUID

from django.core.exceptions import EmptyResultSet
from django.db import models
from django.db.models import Q

from memory.db.expressions import NATIVE_TYPES, ColumnIn, Condition, prepare_values

Filter = tuple[bool, tuple, dict]  # whether it is negated, its conditions, and its lookups
PLAIN_VALUES = (str, int, UUID)
OWN_TYPES: dict[Any, type] = {models.CharField: str, models.IntegerField: int, models.UUIDField: UUID}
PLAIN_FIELDS = tuple(OWN_TYPES)
MAX_INTEGER = 2**63  # the ORM knows that no row has one beyond it


class IsNull(Condition):
    """A condition: a column has no value."""

    def __init__(self, model: type[models.Model], name: str) -> None:
        super().__init__()
        self.of: Any = model._meta.get_field(name)

    def render(self, connection: Any) -> tuple[str, Sequence[Any]]:
        return f"{self.alias}.{connection.ops.quote_name(self.of.column)} IS NULL", ()


class EndsAfter(Condition):
    """A condition: a column's time, if it has one, is after another time."""

    def __init__(self, model: type[models.Model], name: str, at: datetime) -> None:
        super().__init__()
        self.of: Any = model._meta.get_field(name)
        self.at = at

    def render(self, connection: Any) -> tuple[str, Sequence[Any]]:
        column = f"{self.alias}.{connection.ops.quote_name(self.of.column)}"
        return f"({column} IS NULL OR {column} > %s)", prepare_values(self.of, [self.at], connection)


class IsNot(Condition):
    """A condition: another one is not met. That one is of rows elsewhere, and never unknown."""

    looks_elsewhere = True

    def __init__(self, other: Condition) -> None:
        super().__init__()
        self.other = other

    def render(self, connection: Any) -> tuple[str, Sequence[Any]]:
        sql, values = self.other.for_alias(self.alias).render(connection)
        return f"NOT {sql}", values


class IsBeyond(Condition):
    """A condition: a column is below a value, or above it."""

    def __init__(self, model: type[models.Model], name: str, value: Any, below: bool) -> None:
        super().__init__()
        self.of: Any = model._meta.get_field(name)
        self.value, self.below = value, below

    def render(self, connection: Any) -> tuple[str, Sequence[Any]]:
        column = f"{self.alias}.{connection.ops.quote_name(self.of.column)}"
        return f"{column} {'<' if self.below else '>'} %s", prepare_values(self.of, [self.value], connection)


def split_filters(
    model: type[models.Model], filters: Iterable[Filter]
) -> tuple[list[Condition], list[Filter]]:
    """Return the conditions of filters that consist of some, and the filters that the ORM has to compile.

    Raises EmptyResultSet for a column that is to have one of no values.
    """
    found: list[Any] = []
    others: list[Filter] = []
    for one in filters:
        negate, args, kwargs = one
        if negate:  # what no row has is no bar to the others
            others.append(one)
            continue
        each = [part for arg in args for part in split_q(model, arg)]
        each += [take_lookup(model, lookup, value) for lookup, value in kwargs.items()]
        if not all(isinstance(condition, Condition) for condition in each):
            others.append(one)
        else:
            found += each
    return found, others


def find_plain(
    model: type[models.Model], args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> list[Condition] | None:
    """Return the conditions of a filter that consists of some, with values of their columns' own types; None
    for others, which the ORM checks and converts.
    """
    try:
        found, others = split_filters(model, [(False, args, dict(kwargs))])
    except EmptyResultSet:
        return None
    return None if others or not all(map(has_own_types, found)) else found


def has_own_types(condition: Condition) -> bool:
    if not isinstance(condition, ColumnIn):
        return True
    kind = next(own for of, own in OWN_TYPES.items() if isinstance(condition.of, of))
    return all(type(value) is kind for value in condition.values)


def split_q(model: type[models.Model], part: Any) -> list[Any]:
    """Return the conditions that a part of a filter joins with AND; itself where it is something else."""
    if not isinstance(part, Q) or part.negated or part.connector != Q.AND:
        return [part]
    each = part.children
    return [take_lookup(model, *one) if isinstance(one, tuple) else one for one in each]


def replay_filters(rows: models.QuerySet, filters: Iterable[Filter]) -> models.QuerySet:
    """Apply filters to a queryset of the same model."""
    conditions = [(negate, Q(*args, **kwargs)) for negate, args, kwargs in filters]
    return rows.filter(*(~condition if negate else condition for negate, condition in conditions))


def take_lookup(model: type[models.Model], lookup: str, value: Any) -> Condition | None:
    """Return the condition of a lookup of a column whose values are stored as they are; None for others."""
    name, _, kind = lookup.partition("__")
    if name not in list_plain_columns(model) or kind not in ("", "in"):
        return None
    if not kind and value is None:
        return IsNull(model, name)
    if kind and not isinstance(value, list | tuple | set | frozenset):
        return None
    values = [one.value if isinstance(one, Enum) else one for one in (value if kind else (value,))]
    if not all(map(is_plain_value, values)):
        return None
    if not values:
        raise EmptyResultSet
    return ColumnIn(model, name, values)


def is_plain_value(value: Any) -> bool:
    return type(value) in PLAIN_VALUES and (type(value) is not int or abs(value) < MAX_INTEGER)


@cache
def list_plain_columns(model: type[models.Model]) -> set[str]:
    fields = (one for one in model._meta.concrete_fields if isinstance(one, PLAIN_FIELDS))
    stored = (*NATIVE_TYPES, models.UUIDField.get_prep_value)
    return {one.name for one in fields if type(one).get_prep_value in stored}
