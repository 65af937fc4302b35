"""Answers whose fields an engine declares once, as a dataclass: their shape, and what is rendered."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import datetime
from functools import cache
from types import UnionType
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints
from uuid import UUID

from drf_spectacular.drainage import set_override
from rest_framework import serializers as s

SIMPLE: dict[Any, Callable[..., s.Field]] = {
    str: s.CharField,
    int: s.IntegerField,
    float: s.FloatField,
    bool: s.BooleanField,
    datetime: s.DateTimeField,
    UUID: s.UUIDField,
}


@cache
def derive_shape(kind: type) -> type[s.Serializer]:
    """Return the serializer of a dataclass or NamedTuple; the text in ``Annotated[int, "…"]`` tells what a
    field is.
    """
    hints = get_type_hints(kind, include_extras=True)
    names = [one.name for one in fields(kind)] if is_dataclass(kind) else list(hints)
    made = {one: _make_field(hints[one]) for one in names}
    has_text = not str(kind.__doc__).startswith(f"{kind.__name__}(")  # which Python writes where none stands
    about = {"__doc__": kind.__doc__ if has_text else None, "__module__": kind.__module__}
    shape = type(f"{kind.__name__}Shape", (s.Serializer,), {**about, **made})
    set_override(shape, "component_name", kind.__name__)
    return shape


def _make_field(hint: Any, **traits: Any) -> s.Field:
    if get_origin(hint) is Annotated:
        inner, text = get_args(hint)
        return _make_field(inner, help_text=text, **traits)
    if isinstance(hint, UnionType):
        return _make_field(get_args(hint)[0], allow_null=True, **traits)
    origin, inner = get_origin(hint), get_args(hint)
    if origin is Literal:
        return s.ChoiceField(list(inner), **traits)
    if origin is Counter:
        return s.DictField(child=s.IntegerField(), **traits)
    if origin is Mapping:
        traits |= {} if inner[1] is Any else {"child": _make_field(inner[1])}
        return s.DictField(**traits)
    if origin is Sequence and inner[0] in SIMPLE:
        return s.ListField(child=SIMPLE[inner[0]](), **traits)
    if origin is Sequence:
        return derive_shape(inner[0])(many=True, **traits)
    return SIMPLE[hint](**traits) if hint in SIMPLE else derive_shape(hint)(**traits)


def render_derived(value: Any) -> Any:
    """Return a value of such a dataclass as JSON has it."""
    if is_dataclass(value):
        return {one.name: render_derived(getattr(value, one.name)) for one in fields(value)}
    if hasattr(value, "_asdict"):
        return render_derived(value._asdict())
    if isinstance(value, Mapping):
        return {name: render_derived(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [render_derived(inner) for inner in value]
    return str(value) if isinstance(value, UUID) else value
