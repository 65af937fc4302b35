"""How a request gets its answer: over httpx, again where that is safe, with errors of this package."""

from __future__ import annotations

import asyncio
import os
import random
import time
import uuid
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar
from urllib.parse import urlsplit

import httpx

from day1_client.answers import explain, is_too_old, no_answer, parse_version, read_answer
from day1_client.codes import Invalid, NotFound, Unauthenticated
from day1_client.errors import Day1Error
from day1_client.events import EventStream
from day1_client.values import Call, build_call
from day1_client.version import __version__

PREFIX = "/api/v1"
MAX_PAUSE = 60.0  # a server that asks for more is not waited for
CONDITIONS = {"If-Match", "If-None-Match", "only_new", "only_present", "expected_version"}
READS = {"facts.search"}  # that say in a body what they ask
NEVER_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)
Http = TypeVar("Http")
C = TypeVar("C", bound="Connected[Any]")


@dataclass(frozen=True)
class Target:
    """Which server, with which key, and what a call leaves out."""

    url: str
    key: str
    defaults: Mapping[str, str] = field(default_factory=dict)
    retries: int = 3

    def __post_init__(self) -> None:
        parts = urlsplit(self.url)
        is_plain = not (parts.username or parts.query or parts.fragment) and self.url.isprintable()
        if parts.scheme not in ("http", "https") or not parts.hostname or not is_plain:
            raise ValueError(f"url must be an address such as http://127.0.0.1:8765, not {self.url!r}.")
        if not self.key:
            raise Unauthenticated("No key: say key=…, or set DAY1_KEY.")
        if not self.key.isascii() or not self.key.isprintable() or " " in self.key:
            raise Unauthenticated("The key holds characters that no key has.")

    def build(self, call: Call, **headers: str) -> dict[str, Any]:
        """Return what httpx is told of a request."""
        told = {"Authorization": f"Bearer {self.key}", "User-Agent": f"day1-client/{__version__}"}
        told |= {"Content-Type": "application/json"} if call.content is not None else {}
        if call.takes_key:
            call.headers.setdefault("Idempotency-Key", str(uuid.uuid4()))
        try:
            url = httpx.URL(f"{self.url}{PREFIX}{call.path}", params=call.query)
        except (httpx.InvalidURL, UnicodeEncodeError) as error:
            raise Invalid(f"{call.name} cannot be asked: {error}.") from None
        return {
            "method": call.method,
            "url": url,
            "headers": told | call.headers | headers,
            "content": call.content,
        }


class Tries:
    """How often a request is sent, and the pauses between."""

    def __init__(self, call: Call, target: Target) -> None:
        self.call, self.target, self.left = call, target, target.retries

    @property
    def is_safe(self) -> bool:
        """Return whether a second request does no more than one whose answer was lost."""
        if self.call.method == "PUT":  # done already, it would not meet its own condition
            return not CONDITIONS & {*self.call.headers, *self.call.body}
        return self.call.method == "GET" or self.call.takes_key or self.call.name in READS

    def pause(self, error: Exception) -> float:
        """Return how long to wait before the next try. Raises what went wrong where there is none."""
        told = error if isinstance(error, Day1Error) else no_answer(error, self.target.url)
        if self.left < 1 or not self._may_repeat(error):
            raise told from (None if told is error else error)
        number, self.left = self.target.retries - self.left, self.left - 1
        usual = min(0.25 * 2**number, 8.0) * random.uniform(0.75, 1.25)
        wanted = told.retry_after
        if wanted is not None and wanted > MAX_PAUSE:
            raise told
        return usual if wanted is None else wanted

    def _may_repeat(self, error: Exception) -> bool:
        if isinstance(error, NEVER_SENT):
            return True
        if isinstance(error, httpx.TimeoutException):
            return False  # the caller has said how long to wait
        if isinstance(error, httpx.TransportError):
            return self.is_safe
        code, status = getattr(error, "code", ""), getattr(error, "status", 0)
        if code in ("rate_limited", "unavailable"):  # what was refused has left nothing behind
            return True
        return self.is_safe and (
            code == "outcome_unknown" or (code == "not_day1" and status in (502, 503, 504))
        )


class Connected(Generic[Http]):
    """Which server is sent to, over which connections, and what is known of it."""

    def __init__(self, target: Target, http: Http, make: Callable[[], Http] | None = None) -> None:
        self.target, self.http, self.make, self.process = target, http, make, os.getpid()
        self.version: str | None = None
        self.project: str | None = None  # that of the key, until it was looked at

    def like(self: C, target: Target) -> C:
        """Return a sender over the same connections."""
        other = type(self)(target, self.open_http(), self.make)
        other.version, other.project = self.version, self.project
        return other

    def open_http(self) -> Http:
        """Return connections of this process: two that share them after a fork read each other's answers."""
        if self.make and self.process != os.getpid():
            self.http, self.process = self.make(), os.getpid()
        return self.http


class Sender(Connected[httpx.Client]):
    """Requests that wait for their answers."""

    def send(self, name: str, address: str, given: Mapping[str, Any], **how: str) -> Any:
        """Return what an operation answers. Raises Day1Error."""
        if project := self.project:
            self._check_project(project)
        return self._answer(name, address, given, **how)

    def _answer(self, name: str, address: str, given: Mapping[str, Any], **how: str) -> Any:
        call = build_call(name, address, given, self.target.defaults, **how)
        tries = Tries(call, self.target)
        while True:
            try:
                answer = self.open_http().request(**self.target.build(call))
                return read_answer(answer, self.target.url, call.may_be_empty)
            except Day1Error as error:
                if is_too_old(error):
                    raise explain(error, name, self.server_version()) from None
                time.sleep(tries.pause(error))
            except httpx.RequestError as error:
                time.sleep(tries.pause(error))

    def _check_project(self, project: str) -> None:
        """Refuse a key of another project than the one that was said. Raises NotFound."""
        try:
            self._answer("projects.get", "GET /projects/{slug}", {"slug": project})
        except NotFound as error:
            raise NotFound(f"The key is not of the project {project}.", status=error.status) from None
        self.project = None  # every call is checked until one check came to its end

    def server_version(self) -> str:
        """Return the release of the server; "" where it does not tell."""
        if self.version is None:
            try:
                answer = self.open_http().get(f"{self.target.url}{PREFIX}/")
                self.version = parse_version(read_answer(answer, self.target.url))
            except (httpx.RequestError, Day1Error):
                return ""
        return self.version

    def follow(self, name: str, address: str, given: Mapping[str, Any], **how: str) -> Iterator[Any]:
        """Yield events for ever; a lost connection is taken up where it was. Raises Day1Error."""
        if project := self.project:
            self._check_project(project)
        stream = EventStream(build_call(name, address, given, self.target.defaults, **how))
        while True:
            try:
                http = self.open_http()
                request = http.build_request(
                    **self.target.build(stream.call, **stream.headers), timeout=stream.timeout
                )
                answer = http.send(request, stream=True)
                try:
                    if answer.status_code != 200:
                        answer.read()
                    stream.begin(answer, self.target.url)
                    for line in answer.iter_lines():
                        yield from stream.take(line)
                finally:
                    answer.close()
            except (httpx.RequestError, Day1Error) as error:
                stream.lose(error, self.target.url)
            time.sleep(stream.pause())


class AsyncSender(Connected[httpx.AsyncClient]):
    """Requests whose answers are awaited."""

    async def send(self, name: str, address: str, given: Mapping[str, Any], **how: str) -> Any:
        """Return what an operation answers. Raises Day1Error."""
        if project := self.project:
            await self._check_project(project)
        return await self._answer(name, address, given, **how)

    async def _answer(self, name: str, address: str, given: Mapping[str, Any], **how: str) -> Any:
        call = build_call(name, address, given, self.target.defaults, **how)
        tries = Tries(call, self.target)
        while True:
            try:
                answer = await self.open_http().request(**self.target.build(call))
                return read_answer(answer, self.target.url, call.may_be_empty)
            except Day1Error as error:
                if is_too_old(error):
                    raise explain(error, name, await self.server_version()) from None
                await asyncio.sleep(tries.pause(error))
            except httpx.RequestError as error:
                await asyncio.sleep(tries.pause(error))

    async def _check_project(self, project: str) -> None:
        """Refuse a key of another project than the one that was said. Raises NotFound."""
        try:
            await self._answer("projects.get", "GET /projects/{slug}", {"slug": project})
        except NotFound as error:
            raise NotFound(f"The key is not of the project {project}.", status=error.status) from None
        self.project = None  # every call is checked until one check came to its end

    async def server_version(self) -> str:
        """Return the release of the server; "" where it does not tell."""
        if self.version is None:
            try:
                answer = await self.open_http().get(f"{self.target.url}{PREFIX}/")
                self.version = parse_version(read_answer(answer, self.target.url))
            except (httpx.RequestError, Day1Error):
                return ""
        return self.version

    async def follow(
        self, name: str, address: str, given: Mapping[str, Any], **how: str
    ) -> AsyncIterator[Any]:
        """Yield events for ever; a lost connection is taken up where it was. Raises Day1Error."""
        if project := self.project:
            await self._check_project(project)
        stream = EventStream(build_call(name, address, given, self.target.defaults, **how))
        while True:
            try:
                http = self.open_http()
                request = http.build_request(
                    **self.target.build(stream.call, **stream.headers), timeout=stream.timeout
                )
                answer = await http.send(request, stream=True)
                try:
                    if answer.status_code != 200:
                        await answer.aread()
                    stream.begin(answer, self.target.url)
                    async for line in answer.aiter_lines():
                        for event in stream.take(line):
                            yield event
                finally:
                    await answer.aclose()
            except (httpx.RequestError, Day1Error) as error:
                stream.lose(error, self.target.url)
            await asyncio.sleep(stream.pause())
