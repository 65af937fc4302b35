"""Django as an ASGI application: each request is one call in a pool of permanent threads.

A thread is taken when the whole body is there, and gives back the whole response: nothing of Django streams.
So event loop and thread meet twice for a request, not at each part of its response.
"""

import asyncio
import sys
from collections.abc import Awaitable, Callable, MutableMapping
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO
from typing import Any

from a2wsgi.wsgi import build_environ

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Environ = MutableMapping[str, Any]
WSGIApp = Callable[..., Any]  # stubs of Django promise less of a response than WSGI: it is iterable


class WSGIBridge:
    """ASGI application that calls a WSGI application in threads that stay."""

    def __init__(self, app: WSGIApp, executor: ThreadPoolExecutor) -> None:
        self.app, self.executor = app, executor

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        body = (await receive()).get("body", b"")
        # Its types are those of its own body and scope, which it only passes on.
        made: dict[str, Any] = dict(build_environ(scope, BytesIO(body)))  # type: ignore[arg-type]
        environ: Environ = made | {"wsgi.errors": sys.stderr}
        loop = asyncio.get_running_loop()
        start, content = await loop.run_in_executor(self.executor, self.run, environ)
        await send(start)
        await send({"type": "http.response.body", "body": content})

    def run(self, environ: Environ) -> tuple[Message, bytes]:
        """Call the application; return the messages of its response."""
        heads: list[Message] = []

        def start_response(status: str, headers: list[tuple[str, str]], _error: Any = None) -> None:
            raw = [
                (name.lower().encode("latin-1"), value.strip().encode("latin-1")) for name, value in headers
            ]
            code = int(status.partition(" ")[0])
            heads.append({"type": "http.response.start", "status": code, "headers": raw})

        response = self.app(environ, start_response)
        try:
            content = b"".join(response)
        finally:
            if close := getattr(response, "close", None):
                close()  # Django ends the request here, in the thread of its connection
        return heads[-1], content
