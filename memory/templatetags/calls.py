"""Display of tool calls: input and output as readable text."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from django import template
from django.utils.text import Truncator

register = template.Library()
NAME_FIELDS, INPUT_FIELDS = ("name", "tool_name"), ("input", "arguments")
LISTED = 2000  # characters of a message in a list
MAX_DEPTH = 10  # levels that are indented: of a thousand, each bracket would be indented by 2,000 spaces


@register.filter
def shown_content(message: Any, whole: Any) -> str:
    """Return what a message says: whole, or its beginning in a list."""
    text: str = message.content
    # A truncator looks at each character, which takes a millisecond where nothing is to be cut.
    return text if whole or len(text) <= LISTED else Truncator(text[: 2 * LISTED]).chars(LISTED)


@register.filter
def call_name(call: Mapping[str, Any]) -> str:
    """Return the tool of a call in the format of several programs; "" where none is named."""
    return str(_first_field(call, NAME_FIELDS) or "")


@register.filter
def call_input(call: Mapping[str, Any]) -> str:
    """Return the input of the tool; the whole call where it is not separate."""
    value = _first_field(call, INPUT_FIELDS)
    return laid_out(call if value is None else value)


@register.filter
def laid_out(value: Any) -> str:
    """Format a value or its JSON: an object as one entry a line, a single text as it is."""
    # JSON can contain lone surrogates, which no page can hold: they stay escaped.
    return _render_lines(_parse_json(value)).encode(errors="backslashreplace").decode()


def _render_lines(value: Any) -> str:
    if isinstance(value, Mapping) and value:
        lone = len(value) == 1
        return "\n".join(
            _render_text(one) if lone else f"{name}: {_render_text(one)}" for name, one in value.items()
        )
    return _render_text(value)


def _first_field(call: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    """Return the first of these fields; some programs nest them in an object named function."""
    inner = call.get("function")
    both = [call, inner if isinstance(inner, Mapping) else {}]
    return next((one[name] for one in both for name in names if one.get(name) not in (None, "")), None)


def _parse_json(value: Any) -> Any:
    if isinstance(value, str) and value[:1] in ("{", "["):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):  # cut, or no JSON at all
            return value
    return value


def _render_text(value: Any) -> str:
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, indent=2 if _is_shallow(value) else None)


def _is_shallow(value: Any) -> bool:
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [inner for one in level for inner in _strip_wrapper(one)]
    return not level


def _strip_wrapper(value: Any) -> Iterable[Any]:
    if isinstance(value, Mapping):
        return value.values()
    return value if isinstance(value, list) else ()
