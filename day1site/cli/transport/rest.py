"""The words of the REST API: addresses, queries, pages. The same over HTTP and in this process."""

import json
import os
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Protocol
from urllib.parse import quote, urlencode, urlsplit

from day1site.cli.errors import CliError, UsageError

PREFIX = "/api/v1"
PAGE_SIZE = 100
SESSION = "Day1-Session"  # the header for the session in whose name is searched
SESSION_VARIABLE = "DAY1_SESSION"
REDACTED = "Day1-Redacted"  # the header that counts secrets which were not stored

REDACTED_FIELDS = "redacted_fields"  # in an answer: those that held them

Answer = dict[str, Any]
Fields = Mapping[str, Any]
Page = Callable[[dict[str, Any]], Answer]  # the page for the words of its paging


def list_redacted(answer: Any) -> list[str]:
    """Return the names of the fields of which an answer says that they held secrets."""
    return answer.get(REDACTED_FIELDS, []) if isinstance(answer, dict) else []


def require_address(name: str, url: str) -> None:
    """Refuse what is no address of a server. Raises UsageError."""
    try:
        parts = urlsplit(url)
        known = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:  # an unclosed bracket, or no port
        known = False
    if not known or not url.isprintable() or " " in url:
        raise UsageError(f"{name} must be an address such as http://127.0.0.1:8765, not {url}.")


class Transport(Protocol):
    """How a request of the REST API gets its answer. Raises Refused."""

    timeout: float  # seconds that a server may be silent

    def request(
        self, method: str, path: str, query: Mapping[str, Any], body: Mapping[str, Any] | None
    ) -> Answer: ...

    def follow_events(self, query: Mapping[str, Any]) -> Iterator[Answer]: ...


def session_header() -> dict[str, str]:
    """Return the header that names the caller's session, where the environment does."""
    session = os.environ.get(SESSION_VARIABLE, "")
    if not session.isascii() or not session.isprintable():
        raise UsageError(f"{SESSION_VARIABLE} holds characters that no header takes.")
    return {SESSION: session} if session else {}


class Api:
    """The methods of the REST API over one transport; values of None are not sent."""

    def __init__(self, transport: Transport) -> None:
        self.transport = transport

    def get(self, path: str, **query: Any) -> Answer:
        return self.transport.request("GET", path, query, None)

    def post(self, path: str, **body: Any) -> Answer:
        return self.transport.request("POST", path, {}, body)

    def patch(self, path: str, **body: Any) -> Answer:
        return self.transport.request("PATCH", path, {}, body)

    def put(self, path: str, **body: Any) -> Answer:
        return self.transport.request("PUT", path, {}, body)

    def delete(self, path: str, **query: Any) -> Answer:
        return self.transport.request("DELETE", path, query, None)


def fact_path(fact_id: str) -> str:
    return f"/facts/{quote_id(fact_id)}"


def quote_place(text: str) -> str:
    """Return a text as one segment of an address; an empty one is a blank: nothing would name the list."""
    return quote(text, safe="") if text.strip("/") else "%20"


def quote_id(text: str) -> str:
    """Return an id as one segment of an address; nothing would name the list instead. Raises CliError."""
    if not text.strip("/"):
        raise CliError("invalid", "id must be a UUID.")
    return quote(text, safe="")


NULL: Any = object()  # the value of a field that is sent as null: None is not sent at all


def drop_none(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def encode_body(values: Mapping[str, Any] | None) -> bytes:
    """Return the JSON of a body, in UTF-8 as it is: escapes would make most scripts twice as long."""
    if values is None:
        return b""
    values = {name: None if value is NULL else value for name, value in drop_none(values).items()}
    try:
        return json.dumps(values, ensure_ascii=False).encode()
    except UnicodeEncodeError:  # half a surrogate pair, which the API refuses in its own words
        return json.dumps(values).encode()


def encode_query(values: Mapping[str, Any]) -> str:
    return urlencode({name: _encode(value) for name, value in drop_none(values).items()}, doseq=True)


def _encode(value: Any) -> Any:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return json.dumps(value)
    # A single value would be split at its commas; values that are given several times are not.
    single = isinstance(value, list | tuple) and len(value) == 1 and "," in value[0]
    return [*value, *value] if single else value


def iterate_pages(page: Page, paging: Mapping[str, Any] | None = None) -> Iterator[Answer]:
    """Yield every page; a cursor knows the point that the first one was read at, but not the order."""
    words: dict[str, Any] = {"limit": PAGE_SIZE, **(paging or {})}
    while True:
        answer = page(words)
        yield answer
        if not answer["next"]:
            return
        words = {name: words[name] for name in ("limit", "ordering") if name in words}
        words["cursor"] = answer["next"]


def iterate_rows(page: Page, paging: Mapping[str, Any] | None = None) -> Iterator[Answer]:
    """Yield the rows of every page."""
    for answer in iterate_pages(page, paging):
        yield from answer["results"]
