"""What a call says, as the API is sent it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final
from urllib.parse import quote

from day1_client.codes import Invalid

HEADERS = {
    "idempotency_key": "Idempotency-Key",
    "if_match": "If-Match",
    "if_none_match": "If-None-Match",
    "day1_session": "Day1-Session",
}
WRITES = ("POST", "PATCH", "PUT")


class Null:
    """The type of NULL, which is sent as null where None is not sent at all."""

    def __repr__(self) -> str:
        return "NULL"


NULL: Final = Null()


@dataclass
class Call:
    """One request: of which operation, where it goes, and what it says."""

    name: str
    method: str
    path: str
    query: list[tuple[str, str]] = field(default_factory=list)
    headers: dict[str, str] = field(default_factory=dict)
    body: Any = None
    takes_key: bool = False

    @property
    def may_be_empty(self) -> bool:
        """Return whether a success may have nothing to tell."""
        return self.method == "DELETE" or self.name == "ingest.hook"

    @property
    def content(self) -> bytes | None:
        return encode_json(self.body) if self.method in WRITES else None


def build_call(
    name: str,
    address: str,
    given: Mapping[str, Any],
    defaults: Mapping[str, str],
    query: str = "",
    plain: str = "",
    nulls: str = "",
) -> Call:
    """Return the request of an operation. ``given`` are the arguments of its method.

    Of a write all but those of the address and the ``query`` make the body. Those that are ``plain`` take no
    default of the client; ``nulls`` are required and may be null.
    """
    method, _, path = address.partition(" ")
    stand_in = {name: value for name, value in defaults.items() if name not in plain.split()}
    values = {
        name.rstrip("_"): stand_in.get(name) if value is None else value
        for name, value in given.items()
        if name != "self"
    }
    takes_key = "idempotency_key" in values
    kept = {name: value for name, value in values.items() if value is not None or name in nulls.split()}
    places = {name: encode_place(name, kept.pop(name)) for name in list(kept) if f"{{{name}}}" in path}
    call = Call(name, method, path.format(**places), takes_key=takes_key)
    call.headers = {HEADERS[name]: encode_header(name, kept.pop(name)) for name in HEADERS if name in kept}
    asked = query.split() if method in WRITES else list(kept)
    call.query = [pair for name in asked if name in kept for pair in encode_query(name, kept.pop(name))]
    call.body = kept.get("body", kept) if "body" in values else kept
    return call


def encode_place(name: str, value: Any) -> str:
    """Return a value as a part of an address; an empty one would name the list instead, so it is a blank.

    Raises Invalid for a step up, which would lead to another operation: no name of Day1 has one.
    """
    text = str(value)
    if any(part in (".", "..") for part in text.split("/")):
        raise Invalid(f"{name} may not have a segment of dots alone.", field=name)
    if not text.strip("/"):
        return "%20"
    return quote(text, safe="/" if name in ("namespace", "name") else "", errors="surrogatepass")


def encode_header(name: str, value: Any) -> str:
    """Return a value as that of a header. Raises Invalid for what none can hold."""
    text = str(value)
    if not text.isascii() or not text.isprintable():
        raise Invalid(f"{name} may hold letters, digits and signs of ASCII alone, not {text!r}.", field=name)
    return text


def encode_query(name: str, value: Any) -> list[tuple[str, str]]:
    """Return the pairs of a query; a single text with commas would be split, so it is said twice."""
    if isinstance(value, (list, tuple, set, frozenset)):
        found = [encode_value(one) for one in value]
        return [(name, one) for one in (found * 2 if len(found) == 1 and "," in found[0] else found)]
    return [(name, encode_value(value))]


def encode_value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        return value.isoformat()
    return encode_json(value).decode() if isinstance(value, (dict, Null)) else str(value)


def encode_json(value: Any) -> bytes:
    """Return JSON in UTF-8 as it is; half a surrogate pair is escaped, which the API refuses."""
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, default=encode_other).encode()
    except UnicodeEncodeError:
        return json.dumps(value, allow_nan=False, default=encode_other).encode()


def encode_other(value: Any) -> Any:
    if isinstance(value, Null):
        return None
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, (set, frozenset)):
        return list(value)
    raise TypeError(f"{type(value).__name__} cannot be sent as JSON.")
