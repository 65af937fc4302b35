"""Django as an ASGI application: each request is one call in a pool of permanent threads.

A thread is taken when the whole body is there, and gives back the whole response, so that event loop and
thread meet twice for a request. Only a response of unknown length, a list as a file, comes in parts: each is
made in a thread when the one before it was taken, and none when the reader has gone.
"""

import asyncio
import sys
from collections.abc import Awaitable, Callable, Iterator, MutableMapping
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass
from io import BytesIO
from typing import Any

from a2wsgi.wsgi import build_environ

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Environ = MutableMapping[str, Any]
WSGIApp = Callable[..., Any]  # stubs of Django promise less of a response than WSGI: it is iterable
LENGTH = b"content-length"


@dataclass(frozen=True)
class Answer:
    """The head of a response, and its content, or the response itself where it comes in parts."""

    start: Message
    content: bytes = b""
    parts: Any = None


class WSGIBridge:
    """ASGI application that calls a WSGI application in threads that stay."""

    def __init__(self, app: WSGIApp, executor: ThreadPoolExecutor) -> None:
        self.app, self.executor = app, executor

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        body = (await receive()).get("body", b"")
        # Its types are those of its own body and scope, which it only passes on.
        made: dict[str, Any] = dict(build_environ(scope, BytesIO(body)))  # type: ignore[arg-type]
        environ: Environ = made | {"wsgi.errors": sys.stderr}
        answer = await asyncio.get_running_loop().run_in_executor(
            self.executor, copy_context().run, self.run, environ
        )
        await send(answer.start)
        if answer.parts is not None:
            await self.send_parts(answer.parts, receive, send)
        await send({"type": "http.response.body", "body": answer.content})

    async def send_parts(self, response: Any, receive: Receive, send: Send) -> None:
        """Send the parts of a response as long as somebody reads them."""
        loop, parts = asyncio.get_running_loop(), iter(response)
        gone = asyncio.ensure_future(receive())  # what comes after the body is the end of the connection
        try:
            while part := await loop.run_in_executor(self.executor, read_part, parts):
                if gone.done():
                    break
                await send({"type": "http.response.body", "body": part, "more_body": True})
        finally:
            gone.cancel()
            await loop.run_in_executor(self.executor, response.close)

    def run(self, environ: Environ) -> Answer:
        """Call the application; return its response."""
        heads: list[Message] = []

        def start_response(status: str, headers: list[tuple[str, str]], _error: Any = None) -> None:
            raw = [
                (name.lower().encode("latin-1"), value.strip().encode("latin-1")) for name, value in headers
            ]
            code = int(status.partition(" ")[0])
            heads.append({"type": "http.response.start", "status": code, "headers": raw})

        response = self.app(environ, start_response)
        if getattr(response, "streaming", False) and LENGTH not in dict(heads[-1]["headers"]):
            return Answer(heads[-1], parts=response)
        try:
            content = b"".join(response)
        finally:
            if close := getattr(response, "close", None):
                close()  # Django ends the request here, in the thread of its connection
        return Answer(heads[-1], content)


def read_part(parts: Iterator[bytes]) -> bytes:
    """Return the next part that is not empty; b"" at the end."""
    return next(filter(None, parts), b"")
