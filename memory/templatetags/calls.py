"""What a tool was given and gave back, laid out for a person."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from django import template

register = template.Library()
NAMES, GIVEN = ("name", "tool_name"), ("input", "arguments")
DEEPEST = 10  # levels that are indented: of a thousand, each bracket would stand behind 2,000 blanks


@register.filter
def call_name(call: Mapping[str, Any]) -> str:
    """The tool of a call, as one of several programs writes it; "" where none is named."""
    return str(_first(call, NAMES) or "")


@register.filter
def call_input(call: Mapping[str, Any]) -> str:
    """What the tool was given; the whole call where that is not told apart."""
    given = _first(call, GIVEN)
    return laid_out(call if given is None else given)


@register.filter
def laid_out(value: Any) -> str:
    """A value, or the JSON of one: an object as its entries, one a line, and a lone text as it is."""
    # JSON can name half a surrogate pair, which no page can hold: it stays as it was written.
    return _lines(_parsed(value)).encode(errors="backslashreplace").decode()


def _lines(value: Any) -> str:
    if isinstance(value, Mapping) and value:
        lone = len(value) == 1
        return "\n".join(_text(one) if lone else f"{name}: {_text(one)}" for name, one in value.items())
    return _text(value)


def _first(call: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    """Some programs put the call's own fields into an object named function."""
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
    for _ in range(DEEPEST):
        level = [inner for one in level for inner in _inside(one)]
    return not level


def _inside(value: Any) -> Iterable[Any]:
    if isinstance(value, Mapping):
        return value.values()
    return value if isinstance(value, list) else ()
