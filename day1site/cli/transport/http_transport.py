"""Requests to a server's REST API over HTTP, with the standard library only."""

import json
import time
from collections.abc import Iterator, Mapping
from http.client import HTTPException, HTTPResponse
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import Request

from day1site.cli.errors import CliError, Refused, name_changed
from day1site.cli.output import keep_secrets
from day1site.cli.transport.rest import (
    PREFIX,
    REDACTED,
    Answer,
    encode_body,
    encode_query,
    list_redacted,
    require_address,
    session_header,
)
from day1site.http_opener import REDIRECTS, open_url

TIMEOUT_SECONDS = 60.0  # without a word from the server
RETRY_SECONDS = (2, 5, 15, 30, 0)  # where the server answers that it is too much at once
NO_SERVER = "What answers at {url} is no Day1 server."


class HttpTransport:
    """One server and one key. Raises Refused, and CliError where no answer comes."""

    def __init__(self, url: str, key: str, timeout: float = TIMEOUT_SECONDS) -> None:
        require_address("DAY1_URL", url)
        if not key.isascii() or not key.isprintable():
            raise CliError("unauthenticated", "DAY1_KEY holds characters that no key has.")
        self.url, self.key, self.timeout = url, key, timeout

    def request(
        self, method: str, path: str, query: Mapping[str, Any], body: Mapping[str, Any] | None
    ) -> Answer:
        """Return the JSON of the answer; {} when it has none."""
        data = None if body is None else encode_body(body)
        headers = {"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"}
        headers |= session_header()
        address = self.address(path, query)
        for pause in RETRY_SECONDS:
            try:
                return self._send(Request(address, data, headers, method=method))
            except Refused as error:
                if error.code != "rate_limited" or not pause:
                    raise
                time.sleep(pause)
        raise AssertionError("the last pause is none")

    def address(self, path: str, query: Mapping[str, Any]) -> str:
        text = encode_query(query)
        return f"{self.url}{PREFIX}{path}" + (f"?{text}" if text else "")

    def follow_events(self, query: Mapping[str, Any]) -> Iterator[Answer]:
        """Yield events for ever."""
        from day1site.cli.transport.event_stream import follow_stream

        try:
            yield from follow_stream(self.address("/events", query), self.key)
        except HTTPError as error:
            raise read_refusal(error) from None

    def _send(self, request: Request) -> Answer:
        try:
            with open_url(request, timeout=self.timeout) as answer:
                found = self._read(answer)
                keep_secrets(int(answer.headers.get(REDACTED) or 0), list_redacted(found))
                return found
        except HTTPError as error:
            raise read_refusal(error) from None
        except URLError as error:
            raise self._unreachable(getattr(error.reason, "strerror", None) or error.reason) from None
        except (OSError, HTTPException) as error:
            raise self._unreachable(error) from None

    def _read(self, answer: HTTPResponse) -> Answer:
        content = answer.read()
        try:
            return json.loads(content) if content else {}
        except ValueError:
            raise CliError("unreachable", NO_SERVER.format(url=self.url)) from None

    def _unreachable(self, reason: Any) -> CliError:
        return CliError("unreachable", f"The server at {self.url} does not answer: {reason}.")


def read_refusal(error: HTTPError) -> Refused:
    """Return the server's refusal, in its own words where it is Day1."""
    if 300 <= error.code < 400:
        address = error.headers.get("Location")
        return Refused("unreachable", REDIRECTS.format(code=error.code, address=address))
    try:
        problem = json.loads(error.read())
        text = problem.get("detail") or problem["title"]
        text = name_changed(problem["code"], text, problem.get("data") or {})
        return Refused(problem["code"], text, problem.get("field") or "")
    except (ValueError, KeyError, TypeError, OSError):
        return Refused(
            "unreachable", f"The server answered {error.code} {error.reason}, which Day1 does not."
        )
