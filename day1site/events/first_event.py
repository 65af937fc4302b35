"""GET /live/<project>/first-event: reports to a page that an agent's key was used."""

import asyncio
import json
import re

from day1site.asgi import Scope
from day1site.events.page_streams import BEAT_SECONDS, STILL_HERE, PageStreams, Say, read_query, wait
from memory.engines.access.key_activity import KeyActivity, KeyActivityEngine
from memory.exceptions import Day1Error
from memory.operations.inputs import read_id

POLL_SECONDS = 1.0


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
