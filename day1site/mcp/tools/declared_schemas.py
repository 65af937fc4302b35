"""JSON Schemas of the declared fields, as tools take them. base.py has the words that schemas are made of."""

from collections.abc import Callable, Iterable

from day1site.mcp.tools import base as b
from memory.engines.fields import types
from memory.engines.fields.base import Field
from memory.engines.fields.common import STATED
from memory.engines.fields.filters import FilterField

MAX_NAME_LENGTH = 200


def input_properties(fields: Iterable[Field], **about: str) -> b.Schema:
    """Return the properties of a tool's input; ``about`` says some of them in other words."""
    return {field.name: input_property(field, about.get(field.name, "")) for field in fields}


def input_property(field: Field, about: str = "") -> b.Schema:
    """Return one property, in the words for models."""
    makers = (_MAKERS[kind] for kind in type(field.type).__mro__ if kind in _MAKERS)
    return next(makers)(field, about or field.tool_help or field.help)


def filter_properties(filters: Iterable[FilterField]) -> b.Schema:
    """Return the properties of the filters that tools offer."""
    return {one.name: _filter(one) for one in filters if one.tool_help}


def _filter(field: FilterField) -> b.Schema:
    if not field.many:
        return input_property(field)
    one = input_property(field, field.tool_item) if field.tool_item else None
    return b.many(field.tool_help, one, minItems=1)


def _choice(field: Field, about: str) -> b.Schema:
    assert isinstance(field.type, types.Choice)
    values = [value for value, _ in field.type.open_choices]
    return b.choice(about, [value for value in values if value not in field.tool_excludes])


def _whole(field: Field, about: str) -> b.Schema:
    assert isinstance(field.type, types.Whole)
    return b.whole(about, field.type.low, field.type.high)


def _pattern(field: Field, about: str) -> b.Schema:
    assert isinstance(field.type, types.Pattern)
    return b.text(about, maxLength=field.type.max_length)


def _long_text(field: Field, about: str) -> b.Schema:
    assert isinstance(field.type, types.LongText)
    return b.text(about, maxLength=field.type.max_bytes)


def _list(field: Field, about: str) -> b.Schema:
    """Return a list of texts; those that may be sentences state their length: see arguments.py."""
    assert isinstance(field.type, types.ListOf)
    length = getattr(field.type.item, "max_length", 0)
    return b.many(about, {"type": "string", "maxLength": length} if length > MAX_NAME_LENGTH else None)


_MAKERS: dict[type[types.Type], Callable[[Field, str], b.Schema]] = {
    types.Text: lambda _, about: b.text(about),
    types.Pattern: _pattern,
    types.LongText: _long_text,
    types.Choice: _choice,
    types.Number: lambda _, about: b.number(about),
    types.Whole: _whole,
    types.Flag: lambda _, about: b.flag(about),
    types.Moment: lambda _, about: b.when(about),
    types.Identifier: lambda _, about: b.uid(about),
    types.TagList: lambda _, about: b.many(about),
    types.ListOf: _list,
    types.JSONObject: lambda _, about: b.plain(about),
    types.JSONValue: lambda _, about: {"description": about},
}

WHO = input_properties(STATED)
