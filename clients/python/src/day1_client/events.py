"""A stream of events that goes on where it was, whatever stopped meanwhile."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import httpx

from day1_client.answers import no_answer, read_refusal
from day1_client.errors import Day1Error, NotDay1
from day1_client.values import Call

SILENCE = 60.0  # seconds; a server that is there gives a sign of life every 15
MAX_PAUSE = 30.0
TRANSIENT = frozenset({429, 502, 503, 504})


class EventStream:
    """Where a stream is, and when it is taken up again."""

    def __init__(self, call: Call) -> None:
        self.call, self.timeout = call, httpx.Timeout(10.0, read=SILENCE)
        self.position: str | None = None
        self.was_there = False  # a server that never answered is an error, one that went away is not
        self.failures, self.wanted = 0, 0.0
        self.fields: dict[str, str] = {}

    @property
    def headers(self) -> dict[str, str]:
        usual = {"Accept": "text/event-stream"}
        return usual if self.position is None else usual | {"Last-Event-ID": self.position}

    def begin(self, answer: httpx.Response, url: str) -> None:
        """Take an answer as the stream, or as what it is instead. Raises Day1Error."""
        if answer.status_code != 200:
            raise read_refusal(answer, url)
        if "text/event-stream" not in answer.headers.get("Content-Type", ""):
            raise NotDay1(f"What answers at {url} is no stream of events.", status=200)
        self.was_there, self.fields = True, {}

    def take(self, line: str) -> Iterator[Any]:
        """Yield the event that a line ends, if it ends one."""
        if line:
            name, _, value = line.partition(":")
            self.fields[name] = value.removeprefix(" ")
            return
        fields, self.fields = self.fields, {}
        if "data" not in fields:
            return
        try:
            data = json.loads(fields["data"])
            self.position = str(fields.get("id") or data["id"])
        except (ValueError, KeyError, TypeError):
            raise NotDay1("The stream holds what is no event.", status=200) from None
        self.failures, self.wanted = 0, 0.0
        if not fields.get("event"):  # start and beat have a name, and only tell the position
            yield data

    def lose(self, error: Exception, url: str) -> None:
        """Note that the connection is lost. Raises Day1Error where trying again is of no use."""
        told = error if isinstance(error, Day1Error) else no_answer(error, url)
        if not self.was_there or (isinstance(error, Day1Error) and told.status not in TRANSIENT):
            raise told from (None if told is error else error)
        self.wanted = told.retry_after or 0.0

    def pause(self) -> float:
        """Return how long to wait before the next try: not at all after the first loss."""
        usual = min(2.0 ** (self.failures - 1), MAX_PAUSE) if self.failures else 0.0
        self.failures += 1
        return max(usual, min(self.wanted, 3600.0))
