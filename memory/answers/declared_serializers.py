"""Serializers from the declared fields, for OpenAPI: what a request may hold, what an answer has."""

from collections.abc import Callable, Iterable
from functools import cache
from typing import Any, TypeVar

from drf_spectacular.drainage import set_override
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers as s

from memory.engines.fields import types as t
from memory.engines.fields.base import Field, Noun, Use
from memory.engines.fields.common import AT
from memory.engines.fields.filters import MAX_VALUES, FilterField

Traits = dict[str, Any]
Shape = TypeVar("Shape", bound="DeclaredShape")
POINT: dict[str, Any] = {
    "anyOf": [
        {"type": "integer", "minimum": 0, "maximum": 2**53},
        *({"type": "string", "format": kind} for kind in ("uuid", "date-time", "date")),
    ],
    "description": str(AT.help),
}


@extend_schema_field(POINT)
class PointField(s.Field):
    """A point in a branch's past, see POINT."""


@extend_schema_field(
    {
        "type": "object",
        "propertyNames": {"format": "uuid"},
        "additionalProperties": {"type": "integer", "minimum": 0, "maximum": 2**53},
    }
)
class VersionsField(s.DictField):
    """Versions by id."""


@extend_schema_field({"type": ["object", "array", "string", "number", "boolean"]})
class AnyJSONField(s.JSONField):
    """JSON of any kind."""


class DeclaredShape(s.Serializer):
    """A serializer with declared fields."""

    @classmethod
    def make_field(cls, field: Field) -> s.Field:
        """Return the serializer's field for a declared one."""
        raise NotImplementedError


class RequestShape(DeclaredShape):
    """What a request holds."""

    @classmethod
    def make_field(cls, field: Field) -> s.Field:
        return request_field(field)


class AnswerShape(DeclaredShape):
    """What an answer has."""

    @classmethod
    def make_field(cls, field: Field) -> s.Field:
        return answer_field(field)


def declare_fields(fields: Iterable[Field]) -> Callable[[type[Shape]], type[Shape]]:
    """Return a decorator that puts fields into a shape: after inherited ones, before those it names."""

    def add_fields(shape: type[Shape]) -> type[Shape]:
        made = {field.name: shape.make_field(field) for field in fields}
        old = {name for base in shape.__bases__ for name in getattr(base, "_declared_fields", ())}
        inherited = {name: field for name, field in shape._declared_fields.items() if name in old}
        own = {name: field for name, field in shape._declared_fields.items() if name not in old}
        shape._declared_fields = {**inherited, **made, **own}
        return shape

    return add_fields


def declare_answer(noun: Noun, about: str) -> type[AnswerShape]:
    """Return the shape of a noun's answers, where it has nothing beside the declared fields."""
    name = noun.name.title().replace("_", "")
    shape = type(f"{name}Shape", (AnswerShape,), {"__doc__": about, "__module__": __name__})
    set_override(shape, "component_name", name)
    return declare_fields(noun.select_fields(Use.ANSWER))(shape)


def request_field(field: Field, **traits: Any) -> s.Field:
    """Return the field of a request, with its limits."""
    null: Traits = {"allow_null": True} if field.null else {}
    required: Traits = {} if field.required else {"required": False}
    many = isinstance(field, FilterField) and field.many
    kind = t.ListOf(field.type, 1, MAX_VALUES) if many else field.type
    return _make_field(_REQUEST, kind, **{**_describe_traits(field.help), **required, **null, **traits})


def answer_field(field: Field, **traits: Any) -> s.Field:
    """Return the field of an answer: its type, without limits."""
    null: Traits = {"allow_null": True} if field.null or field.answer_null else {}
    source: Traits = {"source": field.attribute} if field.attribute else {}
    return _make_field(
        _ANSWER, field.type, **{**_describe_traits(field.answer_help), **source, **null, **traits}
    )


def _describe_traits(text: str) -> Traits:
    return {"help_text": text} if text else {}


def _make_field(makers: dict[type[t.Type], Callable[..., s.Field]], kind: t.Type, **traits: Any) -> s.Field:
    maker = next(makers[one] for one in type(kind).__mro__ if one in makers)
    return maker(kind, **traits)


# ---- requests --------------------------------------------------------------------------------------


def _short_text(kind: t.Text, **traits: Any) -> s.Field:
    bounds: Traits = {} if kind.min_length else {"allow_blank": True}
    if kind.min_length and kind.published:
        bounds = {"min_length": kind.min_length}
    return s.CharField(max_length=kind.max_length, **bounds, **traits)


def _long_text(kind: t.LongText, **traits: Any) -> s.Field:
    bounds: Traits = {"max_length": kind.max_bytes} if kind.published else {}
    blank: Traits = {"allow_blank": True} if kind.blank else {}
    return s.CharField(**bounds, **blank, **traits)


def _make_list(kind: t.ListOf, **traits: Any) -> s.Field:
    bounds: Traits = {"min_length": kind.min_items} if kind.min_items else {}
    bounds |= {"max_length": kind.max_items} if kind.max_items else {}
    return s.ListField(child=_make_field(_REQUEST, kind.item), **bounds, **traits)


@cache
def _make_record(kind: t.Record) -> type[RequestShape]:
    shape = type(kind.name, (RequestShape,), {"__doc__": kind.about})
    set_override(shape, "component_name", kind.name)
    return declare_fields(kind.fields)(shape)


def _cut_text(kind: t.CutText, **traits: Any) -> s.Field:
    return s.JSONField(**traits) if kind.json else s.CharField(allow_blank=True, **traits)


def _make_range(kind: t.Number | t.Whole) -> Traits:
    return {"min_value": kind.low, "max_value": kind.high}


_REQUEST: dict[type[t.Type], Callable[..., s.Field]] = {
    t.Text: _short_text,
    t.Pattern: lambda kind, **traits: s.RegexField(kind.regex, max_length=kind.max_length, **traits),
    t.ListOf: _make_list,
    t.LongText: _long_text,
    t.CutText: _cut_text,
    t.Choice: lambda kind, **traits: s.ChoiceField(choices=kind.open_choices, **traits),
    t.Number: lambda kind, **traits: s.FloatField(**_make_range(kind), **traits),
    t.Whole: lambda kind, **traits: s.IntegerField(**_make_range(kind), **traits),
    t.Flag: lambda _, **traits: s.BooleanField(**traits),
    t.Moment: lambda _, **traits: s.DateTimeField(**traits),
    t.Point: lambda _, **traits: PointField(**traits),
    t.Identifier: lambda _, **traits: s.UUIDField(**traits),
    t.TagList: lambda kind, **traits: s.ListField(
        child=s.CharField(max_length=kind.max_length), max_length=kind.max_items, **traits
    ),
    t.JSONObject: lambda _, **traits: s.DictField(**traits),
    t.JSONValue: lambda _, **traits: AnyJSONField(**traits),
    t.ObjectList: lambda _, **traits: s.ListField(child=s.DictField(), **traits),
    t.Record: lambda kind, **traits: _make_record(kind)(**traits),
    t.Versions: lambda _, **traits: VersionsField(**traits),
}


# ---- answers ---------------------------------------------------------------------------------------

_ANSWER: dict[type[t.Type], Callable[..., s.Field]] = {
    t.Text: lambda _, **traits: s.CharField(**traits),
    t.LongText: lambda _, **traits: s.CharField(**traits),
    t.CutText: lambda _, **traits: s.CharField(**traits),
    t.Choice: lambda kind, **traits: s.ChoiceField(choices=kind.choices, **traits),
    t.Number: lambda _, **traits: s.FloatField(**traits),
    t.Whole: lambda _, **traits: s.IntegerField(**traits),
    t.Flag: lambda _, **traits: s.BooleanField(**traits),
    t.Moment: lambda _, **traits: s.DateTimeField(**traits),
    t.Identifier: lambda _, **traits: s.UUIDField(**traits),
    t.TagList: lambda _, **traits: s.ListField(child=s.CharField(), **traits),
    t.ListOf: lambda _, **traits: s.ListField(child=s.CharField(), **traits),
    t.JSONObject: lambda _, **traits: s.DictField(**traits),
    t.JSONValue: lambda _, **traits: AnyJSONField(**traits),
    t.ObjectList: lambda _, **traits: s.ListField(child=s.DictField(), **traits),
}
