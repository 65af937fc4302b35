"""A parameter of an operation: its field, the check of a value, and how it is taken from a request."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import cached_property
from inspect import Parameter as Argument
from typing import Any, get_args

from memory.engines.fields.base import Field, describe_field
from memory.engines.fields.common import AT, BRANCH, EXPECTED_VERSION
from memory.engines.fields.filters import FilterField
from memory.engines.fields.types import Choice, Identifier, JSONObject, ListOf, Record, Reference, Whole
from memory.engines.support import validation as c
from memory.exceptions import Invalid
from memory.operations.inputs import Input, parse_ids, parse_integer, parse_names, parse_object

PAGING = (
    Field("limit", Whole(1, 100), "Results on a page."),
    Field("cursor", Reference(1500), "``next`` or ``previous`` of another page."),
)
ORDERING = Field("ordering", Reference(100), "What to sort by; with ``-`` downwards.")
COMMON: dict[str, Field] = {
    **{one.name: one for one in (*PAGING, ORDERING, AT, EXPECTED_VERSION)},
    "branch_name": BRANCH,
}
COUNT = Whole()  # without a range that an engine knows of


@dataclass(frozen=True)
class Group:
    """An argument that takes several values together: the filters of a list, or what is changed."""

    argument: str
    build: Callable[[dict[str, Any]], Any]


@dataclass(frozen=True)
class Parameter:
    """One value that an operation takes: its field, the argument of the method, and what it is by default.

    One of a ``group`` goes into its argument, by its name. One that ``is_written`` becomes a field of a row,
    whose limits hold.
    """

    field: Field
    argument: str
    default: Any = None
    is_written: bool = False
    group: Group | None = None

    @property
    def name(self) -> str:
        return self.field.name

    @property
    def required(self) -> bool:
        return self.field.required

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names by which a caller may give it."""
        return (self.name, self.field.alias) if self.field.alias else (self.name,)

    @cached_property
    def check(self) -> c.Check:
        """Return the check of a value; ranges of what is no field of a noun are left to the engine."""
        check = self._find_check()
        return c.optional_check(check) if self.field.null else check

    def _find_check(self) -> c.Check:
        match self.field:
            case FilterField():
                return c.blank_or(self.field.make_check())
            case Field(type=Whole() as kind) if kind != COUNT and not self.is_written:
                return parse_integer
            case Field(type=Choice() as choice):
                check = c.one_of([value for value, _ in choice.open_choices])
                check = c.let_pass(choice.reserved, check)  # the engine says why
                return c.blank_or(check) if self.default == "" else check
            case Field(type=ListOf(item=Identifier())):
                return parse_ids
            case Field(type=ListOf(item=Record())):
                return lambda _, value: value
            case Field(type=ListOf(max_items=0) as kind) if not self.is_written:
                return check_names(kind.item.build_check())
            case Field(type=JSONObject() | Record()):
                return parse_object
        return self.field.type.build_check()

    def describe(self) -> dict[str, Any]:
        """Return it as plain data."""
        about = describe_field(self.field)
        traits = {"is_on": self.default is True}
        traits["many"] = isinstance(self.field, FilterField) and self.field.many
        return about | {name: True for name, value in traits.items() if value}


def take_parameters(inputs: Collection[Parameter], payload: Input) -> dict[str, Any]:
    """Take what was given of some parameters, as arguments of the method. Raises Invalid, TooLarge."""
    groups = {one.group.argument: one.group for one in inputs if one.group}
    found: dict[str, Any] = {name: {} for name in groups}
    for one in inputs:
        field = one.field
        if field.alias:
            payload.accept_alias(field.alias, field.name)
        if payload.holds(field.name):
            value = payload.take_value(field.name, one.check, None, field.type.read_text)
            if value or one.argument != "branch_name":
                (found[one.group.argument] if one.group else found)[one.argument] = value
                continue
        if field.required:
            raise Invalid("{field} is needed.", field=field.name)
    return found | {name: group.build(found[name]) for name, group in groups.items()}


def check_names(check: c.Check) -> c.Check:
    """Return the check of a list of texts, of which one may stand alone."""
    return lambda name, value: [check(name, one) for one in parse_names(name, value)]


def make_filter_group(hint: Any) -> Group:
    """Return the argument that takes filters as one object, of the class that the signature names."""
    made = next(iter(get_args(hint)), hint)  # of ``FactFilter | None``
    return Group("filters", made.from_values)


def make_parameter(known: Field, argument: Argument | None = None) -> Parameter:
    """Return the parameter of a field; one of ``**fields`` has no argument of its own."""
    if argument is None:
        return Parameter(known, known.name)
    is_needed = argument.default is Argument.empty
    default = None if is_needed else argument.default
    known = known.with_traits(required=True) if is_needed else known
    return Parameter(known, argument.name, default)
