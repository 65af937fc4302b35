"""A server's stream of events, taken up where it was after a connection is lost."""

import json
import time
from collections.abc import Iterable, Iterator
from http.client import HTTPException
from urllib.error import HTTPError
from urllib.request import Request

from day1site.cli.output import note
from day1site.cli.transport.rest import Answer
from day1site.http_opener import open_url

TIMEOUT_SECONDS = 60.0  # a server that is there gives a sign of life more often
RETRY_SECONDS = 2.0  # until a lost connection is tried again
MAX_RETRY_SECONDS = 3600.0  # however long a server says
TRANSIENT = frozenset({429, 502, 503, 504})  # answers of servers, and of proxies before one that restarts


def follow_stream(address: str, key: str) -> Iterator[Answer]:
    """Yield the events of a server, for ever.

    Raises HTTPError for a refusal, and OSError when it was never there.
    """
    position: int | None = None
    while True:
        pause = RETRY_SECONDS
        try:
            for name, data in read_stream(address, key, position):
                position = data["id"]
                if not name:
                    yield data
        except HTTPError as error:
            if position is None or error.code not in TRANSIENT:
                raise
            pause = retry_seconds(error)
        except (OSError, HTTPException) as error:
            if position is None:
                raise
            note(f"The connection was lost ({error}); trying again.")
        time.sleep(pause)


def retry_seconds(refusal: HTTPError) -> float:
    """Return the pause before the next try: as the server says in whole seconds, if it does."""
    text = refusal.headers.get("Retry-After", "")
    return max(RETRY_SECONDS, min(float(text), MAX_RETRY_SECONDS)) if text.isdecimal() else RETRY_SECONDS


def read_stream(address: str, key: str, position: int | None) -> Iterator[tuple[str, Answer]]:
    headers = {"Authorization": f"Bearer {key}", "Accept": "text/event-stream"}
    headers |= {} if position is None else {"Last-Event-ID": str(position)}
    with open_url(Request(address, headers=headers), timeout=TIMEOUT_SECONDS) as answer:
        yield from parse_stream(line.decode().rstrip("\r\n") for line in answer)


def parse_stream(lines: Iterable[str]) -> Iterator[tuple[str, Answer]]:
    """Yield the name and the data of each message of a stream."""
    fields: dict[str, str] = {}
    for line in lines:
        if not line and "data" in fields:
            yield fields.get("event", ""), json.loads(fields["data"])
        if not line:
            fields = {}
        name, _, value = line.partition(":")
        if name:
            fields[name] = value.removeprefix(" ")
