"""Display of tool calls: input and output as readable text."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from django import template
from django.utils.text import Truncator

register = template.Library()
NAMES, GIVEN = ("name", "tool_name"), ("input", "arguments")
LISTED = 2000  # characters of a message in a list
MAX_DEPTH = 10  # levels that are indented: of a thousand, each bracket would be indented by 2,000 spaces


@register.filter
def content_of(message: Any, whole: Any) -> str:
    """Return what a message says: whole, or its beginning in a list."""
    return message.content if whole else Truncator(message.content).chars(LISTED)


@register.filter
def call_name(call: Mapping[str, Any]) -> str:
    """Return the tool of a call in the format of several programs; "" where none is named."""
    return str(_first(call, NAMES) or "")


@register.filter
def call_input(call: Mapping[str, Any]) -> str:
    """Return the input of the tool; the whole call where it is not separate."""
    given = _first(call, GIVEN)
    return laid_out(call if given is None else given)


@register.filter
def laid_out(value: Any) -> str:
    """Format a value or its JSON: an object as one entry a line, a single text as it is."""
    # JSON can contain lone surrogates, which no page can hold: they stay escaped.
    return _lines(_parsed(value)).encode(errors="backslashreplace").decode()


def _lines(value: Any) -> str:
    if isinstance(value, Mapping) and value:
        lone = len(value) == 1
        return "\n".join(_text(one) if lone else f"{name}: {_text(one)}" for name, one in value.items())
    return _text(value)


def _first(call: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    """Return the first of these fields; some programs nest them in an object named function."""
    inner = call.get("function")
    both = [call, inner if isinstance(inner, Mapping) else {}]
    return next((one[name] for one in both for name in names if one.get(name) not in (None, "")), None)


def _parsed(value: Any) -> Any:
    if isinstance(value, str) and value[:1] in ("{", "["):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):  # cut, or no JSON at all
            return value
    return value


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, indent=2 if _shallow(value) else None)


def _shallow(value: Any) -> bool:
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [inner for one in level for inner in _inside(one)]
    return not level


def _inside(value: Any) -> Iterable[Any]:
    if isinstance(value, Mapping):
        return value.values()
    return value if isinstance(value, list) else ()
