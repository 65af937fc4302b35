"""/live/…: streams for the pages of people, beside Django. See day1site/asgi.py."""

import asyncio
from collections.abc import AsyncIterator
from concurrent.futures import Executor
from contextlib import asynccontextmanager

from day1site.asgi import App, Receive, Scope, Send
from day1site.events.first_event import FirstEventStreams
from day1site.events.page_changes import ChangeStreams
from day1site.events.page_streams import PageStreams
from day1site.server.asgi_auth import refuse


@asynccontextmanager
async def running(threads: Executor) -> AsyncIterator[App]:
    """Yield the application; its end ends the streams."""
    changes = ChangeStreams(threads)
    kinds: list[PageStreams] = [FirstEventStreams(threads), changes]
    looking = asyncio.create_task(changes.run())

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        for streams in kinds:
            if streams.path.fullmatch(scope["path"]):
                await streams.answer(scope, receive, send)
                return
        await refuse(send, 404, "not_found", "There is no such address.")

    try:
        yield answer
    finally:
        for streams in kinds:
            streams.end_all()
        looking.cancel()
        await asyncio.gather(looking, return_exceptions=True)
