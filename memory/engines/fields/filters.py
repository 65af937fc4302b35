"""A filter of a list or search: declared as a field is, read from an address or from JSON."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from memory.engines.fields.base import Field, Option
from memory.engines.fields.common import END_USER, NAMESPACE_LENGTH
from memory.engines.fields.types import Choice, Flag, Moment, Number, Reference, Repository, Type
from memory.engines.support import validation as c
from memory.exceptions import Invalid

MAX_VALUES = 50
RECORDED_AFTER = Option("recorded then or later", metavar="TIME")
RECORDED_BEFORE = Option("recorded before", metavar="TIME")


@dataclass(frozen=True)
class FilterField(Field):
    """A filter. ``many`` takes one of some values; without ``tool_help`` no MCP tool offers it."""

    many: bool = False
    tool_item: str = ""  # what one of many values is, for models

    def make_check(self) -> c.Check:
        """Return the check of what a caller gave; an address gives texts."""
        check = self.type.build_check()
        if self.many:
            return list_check(check)
        if isinstance(self.type, Flag):
            return c.check_flag
        return _check_fraction if isinstance(self.type, Number) else check


def any_of(field: Field, help: str, kind: Type | None = None, **traits: Any) -> FilterField:
    """Return the filter of rows with one of some values of a field."""
    if isinstance(field.type, Choice):
        kind = Choice(field.type.choices)  # reserved ones may be looked for
    return one_of(field.name, kind or Reference(200, 1), help, many=True, **traits)


def one_of(name: str, kind: Type, help: str, tools: bool = False, **traits: Any) -> FilterField:
    """Return a filter that takes one value; ``tools`` offers it to models in the same words."""
    if tools:
        traits.setdefault("tool_help", f"Only {help[0].lower()}{help[1:]}")
    return FilterField(name, kind, help, **traits)


def learned_in(rows: str, **traits: Any) -> FilterField:
    """Return the filter of rows by repository."""
    kind = Repository(any=True)
    traits.setdefault("option", Option("of this repository", metavar="NAME"))
    return one_of("repository", kind, f"{rows} of this repository, in any form; * is any.", **traits)


def owned_by(rows: str, **traits: Any) -> tuple[FilterField, ...]:
    """Return the filters of rows by end user and by app."""
    return tuple(
        any_of(one, f"{rows} of one of these {name}.", **({"option": select_owner(one, name)} | traits))
        for one, name in zip(END_USER, ("end users", "apps"), strict=True)
    )


def select_owner(field: Field, name: str) -> Option:
    assert field.option
    return Option(f"of one of these {name}", field.option.flag)


def in_namespace() -> FilterField:
    """Return the filter of items by namespace."""
    option = Option("items of this namespace and of all below it", metavar="PATH")
    return one_of(
        "namespace",
        Reference(NAMESPACE_LENGTH),
        "Items of this namespace and of all below it.",
        option=option,
    )


def recorded(rows: str, **traits: Any) -> tuple[FilterField, FilterField]:
    """Return the filters of when rows were recorded."""
    return (
        one_of("after", Moment(), f"{rows} recorded at this time or later.", **traits, option=RECORDED_AFTER),
        one_of("before", Moment(), f"{rows} recorded before this time.", **traits, option=RECORDED_BEFORE),
    )


def make_filter_checks(filters: Iterable[FilterField]) -> dict[str, c.Check]:
    """Return the checks of a list's filters by their names; an empty one filters nothing."""
    return {one.name: c.blank_or(one.make_check()) for one in filters}


def list_check(check: c.Check) -> c.Check:
    """Return a check of one value or a list of up to 50, as a tuple; a text may have commas."""

    def check_values(name: str, value: Any) -> tuple:
        values = value.split(",") if isinstance(value, str) else value
        if not isinstance(values, list | tuple) or not 0 < len(values) <= MAX_VALUES:
            raise Invalid("{field} must be a value or a list of 1 to 50.", field=name)
        return tuple(check(name, item) for item in values)

    return check_values


def _check_fraction(name: str, value: Any) -> float:
    try:
        return c.number_check(0, 1)(name, float(value) if isinstance(value, str) else value)
    except ValueError:
        raise Invalid("{field} must be a number from 0 to 1.", field=name) from None
