"""Forms of records: why a line that is JSON is not what a program writes, in words for its reader."""

from collections.abc import Callable, Mapping
from typing import Any

from conversations.capture.text_cleaning import read_id

NEEDED = {  # kind of a part -> the field without which it says nothing
    "text": "text",
    "input_text": "text",
    "output_text": "text",
    "thinking": "thinking",
    "tool_use": "id",
    "tool_result": "tool_use_id",
}
CONTENTS = frozenset(  # fields of a part without a type, of which each part has one
    "text thought inlineData fileData functionCall functionResponse executableCode codeExecutionResult "
    "content_type".split()
)
KINDS: tuple[tuple[Any, str], ...] = (
    (type(None), "null"),
    (bool, "true or false"),
    (int | float, "a number"),
    (str, "a text"),
    (list, "a list"),
)


def name_kind(value: Any) -> str:
    """Return what a value of JSON is."""
    return next((name for kind, name in KINDS if isinstance(value, kind)), "an object")


def find_field_fault(record: Mapping[str, Any], name: str, kind: type, named: str) -> str:
    """Return why a field is not what it must be; "" where it is."""
    if name not in record:
        return f"has no {name}"
    value = record[name]
    return "" if isinstance(value, kind) else f"its {name} is {name_kind(value)}, not {named}"


def find_content_fault(record: Mapping[str, Any], name: str = "content", is_typed: bool = True) -> str:
    """Return why not all of a message's content can be read; "" where it can. Parts of some programs have
    a type.
    """
    content = record.get(name)
    if isinstance(content, str):
        return ""
    if name not in record:
        return f"has no {name}"
    parts = [content] if isinstance(content, Mapping) else content
    if not isinstance(parts, list):
        return f"its {name} is {name_kind(content)}, not a text or a list"
    return find_first("part", parts, _find_typed_fault if is_typed else _find_part_fault)


def find_first(noun: str, values: list[Any], find_fault: Callable[[Any], str]) -> str:
    """Return the first fault of several values, with the number of that one; "" where all are good."""
    found = ((number, find_fault(value)) for number, value in enumerate(values, 1))
    return next((f"{noun} {number} {fault}" for number, fault in found if fault), "")


def _find_part_fault(part: Any) -> str:
    if part is None or isinstance(part, str):
        return ""
    if not isinstance(part, Mapping):
        return f"is {name_kind(part)}"
    if not CONTENTS.intersection(part):
        return "has neither text nor anything else that is known"
    return find_field_fault(part, "text", str, "a text") if part.get("text") is not None else ""


def _find_typed_fault(part: Any) -> str:
    if isinstance(part, str):
        return ""
    if not isinstance(part, Mapping):
        return f"is {name_kind(part)}"
    if fault := find_field_fault(part, "type", str, "a text"):
        return fault
    needed = NEEDED.get(part["type"])
    if needed in ("id", "tool_use_id"):
        return "" if read_id(part.get(needed)) else f"has no {needed}"
    return find_field_fault(part, needed, str, "a text") if needed else ""
