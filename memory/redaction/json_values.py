"""Redaction of JSON values: their texts, and whatever stands under the name of a secret."""

import json
from collections.abc import Mapping
from functools import lru_cache
from types import NoneType
from typing import Any

from memory.patterns import lazy_pattern
from memory.redaction.named_values import OF, is_sure, starts_name
from memory.redaction.names import NAME
from memory.redaction.spans import MARK, NAMED, fold_case
from memory.redaction.texts import redact_text, redact_words
from memory.redaction.values import is_literal, looks_drawn, looks_mixed, looks_secret
from memory.texts import MAX_DEPTH

MAX_NAME = 200  # characters of a name
NAME_OF_SECRET = lazy_pattern(
    r"(?i)(?:^|[_.-])(?:credentials?|authorization|pw)$|(?:secret|password)[_-]?(?:string|value)$"
)
COOKIE = lazy_pattern(r"(?i)(?:set-)?cookie")
AUTH = lazy_pattern(r"(?i)(?:.*[_.-])?auth(?:orization)?")
SCHEME = lazy_pattern(r"(?i)(?:basic|bearer|token|digest|api-?key)\s+(?=\S*[\d=])\S{4,}")
PURPOSE = lazy_pattern(OF)  # "for the server" behind a name
NUMBER = lazy_pattern(r"(?i)pass|(?:^|[_. -])pin$")  # names of secrets that may be numbers
VALUES = ("value", "default", "val", "v")  # names under the name of a secret that hold it
LABELS = ("name", "key", "field", "label", "id", "k", "property")  # beside those, what says what it is
MAX_NAMES = 4096  # that are remembered
SINGLE, WHOLE = (
    (str, int, float, NoneType),
    (dict, list, tuple, Mapping),
)  # values without and with parts


def redact_all(value: Any) -> Any:
    """Redact every string of a JSON value; any string under a name such as password is a secret.

    Values nested deeper than MAX_DEPTH become their JSON text.
    """
    if isinstance(value, str):
        return redact_text(value)
    return Announcements().redact(redact_part(value, 0))


class Announcements:
    """Texts that announce the one behind them, as a line of a text does the next: "Passwort:"."""

    def __init__(self) -> None:
        self.before = ""

    def redact(self, value: Any) -> Any:
        """Redact the texts that the text before them announces."""
        if isinstance(value, str):
            before, self.before = self.before, value
            return f"{MARK}{NAMED}]" if announces(before, value) else value
        if isinstance(value, dict):
            return {name: self.redact(part) for name, part in value.items()}
        return [self.redact(part) for part in value] if isinstance(value, list) else value


def announces(before: str, value: str) -> bool:
    """Return whether a text announces that the next one is a secret."""
    if " " in value or not before or max(len(before), len(value)) > MAX_NAME:
        return False
    looks_like_one = looks_secret if before.rstrip()[-1:] in ":=：?" else looks_mixed
    if not (looks_like_one(value) and has_name(before)):
        return False
    return count_marks(redact_text(f"{before}\n{value}")) > count_marks(before)


@lru_cache(MAX_NAMES)
def has_name(text: str) -> bool:
    """Return whether a text has the name of a secret."""
    return any(starts_name(text, found) for found in NAME.finditer(fold_case(text)))


def redact_part(value: Any, depth: int) -> Any:
    """Redact a part of a JSON value."""
    if isinstance(value, str):
        return redact_text(value)
    if isinstance(value, SINGLE) or not isinstance(value, WHOLE):
        return value
    if depth >= MAX_DEPTH:
        return redact_text(json_text(value))
    return redact_mapping(value, depth) if isinstance(value, Mapping) else redact_list(value, depth)


def redact_list(value: list[Any] | tuple[Any, ...], depth: int) -> list[Any]:
    """Redact the parts of a list; of texts alone it may be a command, or a header and its value."""
    parts = [redact_part(part, depth + 1) for part in value]
    if not all(isinstance(part, str) for part in value):
        return parts
    if len(value) == 2 and (COOKIE.fullmatch(value[0]) or is_header(*value)):
        return [parts[0], redact_value(value[0], value[1], depth + 1)]
    return redact_words(parts)


def is_header(name: str, value: str) -> bool:
    """Return whether two texts are the name of a secret and a value that looks drawn."""
    return bool(SCHEME.fullmatch(value) or looks_drawn(value)) and is_name_of_secret(name)


def redact_mapping(value: Mapping[Any, Any], depth: int, owner: str = "") -> dict[str, Any]:
    """Redact names and values; a "value" is a secret beside a name such as "PASSWORD", or under an owner."""
    if not owner and any(map(is_value, value)) and any(map(is_label, value, value.values())):
        owner = "password"
    return {
        redact_text(str(name)): redact_value(
            owner if owner and (is_value(name) or is_one_of_several(owner, part)) else str(name),
            part,
            depth + 1,
        )
        for name, part in value.items()
    }


def is_one_of_several(owner: str, value: Any) -> bool:
    """Return whether a text under "passwords", or under "password" with others, is one."""
    return "pass" in owner.lower() and isinstance(value, str) and looks_mixed(value)


def is_value(name: Any) -> bool:
    """Return whether a name says that the value of something stands under it."""
    return isinstance(name, str) and (name.lower() in VALUES or name.endswith("Value"))


def is_label(name: Any, value: Any) -> bool:
    """Return whether the name of a secret stands under the name of a label."""
    if not isinstance(name, str) or not isinstance(value, str):
        return False
    return (name.lower() in LABELS or name.endswith(("Key", "Name"))) and is_name_of_secret(value)


def redact_value(name: str, value: Any, depth: int) -> Any:
    """Redact a value that stands under a name."""
    if isinstance(value, str):
        return redact_named(name, value)
    if isinstance(value, int) and value > 999 and NUMBER.search(name) and is_name_of_secret(name):
        return f"{MARK}{NAMED}]"
    if isinstance(value, SINGLE) or depth >= MAX_DEPTH or not (is_name_of_secret(name) or is_plural(name)):
        return redact_part(value, depth)
    if isinstance(value, list | tuple):
        return [redact_value(name, part, depth + 1) for part in value]
    return redact_mapping(value, depth, name) if isinstance(value, Mapping) else value


def redact_named(name: str, value: str) -> str:
    """Redact a text that stands under a name."""
    if len(name) <= MAX_NAME and tells_nothing(name):  # as most names do
        return redact_text(value)
    if len(value) >= 4 and is_name_of_secret(name):
        return value if not is_literal(value) else f"{MARK}{NAMED}]"
    if AUTH.fullmatch(name) and SCHEME.fullmatch(value):
        return f"{MARK}{NAMED}]"
    if COOKIE.fullmatch(name):
        return redact_text(f"cookie: {value}").removeprefix("cookie: ")
    if may_name_secret(name, value) and is_literal(value):
        return f"{MARK}{NAMED}]"
    return redact_text(value)


@lru_cache(MAX_NAMES)
def tells_nothing(name: str) -> bool:
    """Return whether a name alone says that what stands under it is a text as any other."""
    is_special = is_name_of_secret(name) or is_plural(name) or has_name(name)
    return not (is_special or AUTH.fullmatch(name) or COOKIE.fullmatch(name))


def is_plural(name: str) -> bool:
    """Return whether a name such as "passwords" is that of several secrets."""
    return name.endswith("s") and is_name_of_secret(name[:-1])


def may_name_secret(name: str, value: str) -> bool:
    """Return whether a name holds that of a secret, as "passwords" does, and the value looks like one."""
    if is_plural(name):
        return looks_secret(value) and (looks_drawn(value) or not name.lower().endswith("tokens"))
    name = name[-MAX_NAME:]
    if not has_name(name) or not looks_secret(value):  # few names do, and it is known of each
        return False
    return any(
        is_sure(name, found) and starts_name(name, found) and PURPOSE.fullmatch(name, found.end())
        for found in NAME.finditer(fold_case(name))
    )


def is_name_of_secret(name: str) -> bool:
    """Return whether a name such as dbPassword ends with the name of a secret."""
    return ends_with_name(name[-MAX_NAME:])


@lru_cache(MAX_NAMES)
def ends_with_name(name: str) -> bool:
    if NAME_OF_SECRET.search(name):
        return True
    return any(
        found.end() == len(name) and starts_name(name, found) for found in NAME.finditer(fold_case(name))
    )


def limit_depth(value: Any, depth: int = 0) -> Any:
    """Return a JSON value whose parts deeper than MAX_DEPTH are replaced with their JSON text."""
    if isinstance(value, SINGLE) or not isinstance(value, WHOLE):
        return value
    if depth >= MAX_DEPTH:
        return json_text(value)
    if isinstance(value, Mapping):
        return {name: limit_depth(part, depth + 1) for name, part in value.items()}
    return [limit_depth(part, depth + 1) for part in value]


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
