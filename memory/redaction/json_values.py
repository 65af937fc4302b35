"""Redaction of JSON values: their texts, and whatever stands under the name of a secret."""

import json
import re
from collections.abc import Mapping
from typing import Any

from memory.redaction.named_values import is_literal, starts_name
from memory.redaction.names import NAME
from memory.redaction.spans import MARK, NAMED
from memory.redaction.texts import fold_case, redact_text

MAX_DEPTH = 50  # levels of a JSON value; deeper values are stored as their JSON text
MAX_NAME = 200  # characters of a name
NAME_OF_SECRET = re.compile(r"(?i)(?:^|[_.-])(?:credentials?|authorization)$")
LABELS = ("name", "key", "field", "label")  # names beside "value" that say what it is


def redact_all(value: Any, depth: int = 0) -> Any:
    """Redact every string of a JSON value; any string under a name such as password is a secret.

    Values nested deeper than MAX_DEPTH become their JSON text.
    """
    if isinstance(value, str):
        return redact_text(value)
    if isinstance(value, Mapping | list | tuple) and depth >= MAX_DEPTH:
        return redact_text(json_text(value))
    if isinstance(value, Mapping):
        return redact_mapping(value, depth)
    if isinstance(value, list | tuple):
        return [redact_all(part, depth + 1) for part in value]
    return value


def redact_mapping(value: Mapping[Any, Any], depth: int) -> dict[str, Any]:
    """Redact names and values; beside a name such as "PASSWORD" a "value" is a secret."""
    named = "value" in value and any(
        is_name_of_secret(value[label]) for label in LABELS if isinstance(value.get(label), str)
    )
    return {
        redact_text(str(name)): redact_value(
            "password" if named and name == "value" else str(name), part, depth + 1
        )
        for name, part in value.items()
    }


def redact_value(name: str, value: Any, depth: int) -> Any:
    """Redact a value that stands under a name."""
    if isinstance(value, str) and len(value) >= 4 and is_name_of_secret(name):
        return value if not is_literal(value) else f"{MARK}{NAMED}]"
    if isinstance(value, list | tuple) and depth < MAX_DEPTH and is_name_of_secret(name):
        return [redact_value(name, part, depth + 1) for part in value]
    if isinstance(value, int) and value > 999 and "pass" in name.lower() and is_name_of_secret(name):
        return f"{MARK}{NAMED}]"
    return redact_all(value, depth)


def is_name_of_secret(name: str) -> bool:
    """Return whether a name such as dbPassword ends with the name of a secret."""
    name = name[-MAX_NAME:]
    if NAME_OF_SECRET.search(name):
        return True
    return any(
        found.end() == len(name) and starts_name(name, found) for found in NAME.finditer(fold_case(name))
    )


def limit_depth(value: Any, depth: int = 0) -> Any:
    """Return a JSON value whose parts deeper than MAX_DEPTH are replaced with their JSON text."""
    if isinstance(value, Mapping | list | tuple) and depth >= MAX_DEPTH:
        return json_text(value)
    if isinstance(value, Mapping):
        return {name: limit_depth(part, depth + 1) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [limit_depth(part, depth + 1) for part in value]
    return value


def is_deep(value: Any, depth: int = 0) -> bool:
    """Return whether a JSON value is nested deeper than MAX_DEPTH."""
    if not isinstance(value, Mapping | list | tuple):
        return False
    parts = value.values() if isinstance(value, Mapping) else value
    return depth >= MAX_DEPTH or any(is_deep(part, depth + 1) for part in parts)


def json_text(value: Any) -> str:
    """Return the JSON of a value, or a marker where it is nested too deeply."""
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except RecursionError:
        return "[nested too deeply]"


def count_marks(value: Any) -> int:
    """Count the secrets that were redacted in a text or JSON value."""
    if isinstance(value, str):
        return value.count(MARK)
    if isinstance(value, Mapping):
        return sum(name.count(MARK) + count_marks(part) for name, part in value.items())
    return sum(map(count_marks, value)) if isinstance(value, list) else 0
