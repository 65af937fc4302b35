"""Arguments as models send them, read by the tool's schema: the one place that knows their odd shapes.

Where the schema has no text, a text is read as JSON; a value alone is a list of one; null, "" and nothing are
the same. What cannot be read so stays as it is, and the tool refuses it by its name.
"""

import json
from collections.abc import Mapping
from typing import Any

from memory.exceptions import TooLarge

MAX_LENGTH = 2_000_000  # characters of one argument; a message, the longest text, has 1 MiB
PART_LENGTH = 3  # of the signs around a value
Schema = Mapping[str, Any]


def read_arguments(schema: Schema, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments in the schema's types. Raises TooLarge."""
    for name, value in values.items():
        if measure_value({name: value}) > MAX_LENGTH:
            raise TooLarge(what=name[:100], limit=f"{MAX_LENGTH:,} characters")
    return read_fields(schema, values)


def measure_value(value: Any) -> int:
    """Return about the characters of a value in JSON; it is not read on where they are too many."""
    size, parts = 0, [value]
    while parts and size <= MAX_LENGTH:
        part = parts.pop()
        size += PART_LENGTH + (len(part) if isinstance(part, str) else 0)
        if isinstance(part, dict):
            parts += [*part, *part.values()]
        elif isinstance(part, list):
            parts += part
    return size


def read_fields(schema: Schema, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return an object's fields in the schema's types, without optional ones that say nothing."""
    known, needed = schema.get("properties", {}), schema.get("required", ())
    read = {name: read_value(known[name], one) if name in known else one for name, one in values.items()}
    return {
        name: one
        for name, one in read.items()
        if name not in known or not says_nothing(known[name], one) or (name in needed and one is not None)
    }


def says_nothing(schema: Schema, value: Any) -> bool:
    if "type" not in schema and "anyOf" not in schema:
        return False
    return value is None or value == "" or (value == [] and "minItems" in schema)


def read_value(schema: Schema, value: Any) -> Any:
    """Return a value in the schema's type, or as it is."""
    kind = schema.get("type")
    if kind is None:  # anything, kept as it is
        return value
    if kind == "string":
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        return str(value) if is_number else value
    found = parse_json(value.lower() if kind == "boolean" else value) if isinstance(value, str) else value
    if found is None:
        return None
    if kind == "array":
        items = schema.get("items", {})
        is_read = isinstance(found, list) or (isinstance(found, dict) and items.get("type") != "string")
        return read_list(items, found if is_read else value)
    if kind == "object":
        return read_fields(schema, found) if isinstance(found, dict) else value
    if kind == "boolean":
        return bool(found) if found in (0, 1) else value
    return found if isinstance(found, int | float) else value


def read_list(items: Schema, value: Any) -> list[Any] | None:
    """Return a list, or a value alone as one; a text with commas is one value where its length is stated,
    since it may be a sentence, else several. A list of nothing but blanks is None.
    """
    if isinstance(value, str) and items.get("type") == "string" and "maxLength" not in items:
        value = [part.strip() for part in value.split(",")]
    values = value if isinstance(value, list) else [value]
    found = [one for one in (read_value(items, one) for one in values) if one not in (None, "")]
    return found if found or not values else None


def parse_json(text: str) -> Any:
    """Return the value that a text of JSON holds; "" is nothing, and any other text itself."""
    if not text.strip():
        return None
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        return text


def _refuse_constant(name: str) -> Any:
    raise ValueError(name)
