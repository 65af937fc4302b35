"""/live/…: streams for the pages of people, beside Django. See day1site/asgi.py."""

import asyncio
import json
import re
from collections.abc import AsyncIterator
from concurrent.futures import Executor
from contextlib import asynccontextmanager

from day1site.asgi import App, Receive, Scope, Send
from day1site.events.page_changes import ChangeStreams
from day1site.events.page_streams import BEAT_SECONDS, STILL_HERE, PageStreams, Say, read_query, wait
from day1site.server.asgi_auth import refuse
from memory.engines.access.key_activity import KeyActivity, KeyActivityEngine
from memory.exceptions import Day1Error
from memory.operations.inputs import read_id

POLL_SECONDS = 1.0


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


class FirstEventStreams(PageStreams):
    path = re.compile(r"/live/([-a-zA-Z0-9_]+)/first-event")
    max_streams = 50  # each reads the database once a second

    def begin(self, scope: Scope) -> KeyActivity:
        """Return what the page's keys did last. Raises Unauthenticated, NotFound, Invalid."""
        actor = self.read_actor(scope)
        return KeyActivityEngine().get_latest(actor=actor, key_id=read_id(read_query(scope), "key"))

    async def tell(self, state: KeyActivity | None, scope: Scope, ended: asyncio.Event, say: Say) -> None:
        """Send an event for the state now, and one for each change."""
        loop = asyncio.get_running_loop()
        known, said_at = None, 0.0
        while state is not None:
            if state != known or loop.time() > said_at + BEAT_SECONDS:
                await say(message(state) if state != known else STILL_HERE)
                known, said_at = state, loop.time()
            await wait(ended, POLL_SECONDS)
            state = None if ended.is_set() else await self.read_again(scope)

    async def read_again(self, scope: Scope) -> KeyActivity | None:
        """Return the activity; None when the person logged out or is no member any more."""
        try:
            return await self.work(self.begin, scope)
        except Day1Error:
            return None


def message(activity: KeyActivity) -> str:
    at = activity.at.isoformat() if activity.at else None
    data = {"state": activity.state, "label": activity.label, "at": at}
    return f"event: activity\ndata: {json.dumps(data)}\n\n"
