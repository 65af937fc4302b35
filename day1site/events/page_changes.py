"""GET /live/<project>/changes: tells a page that there is something new, which it reads with its own rights.

?branch= names the branch of the page (without it: all of them), ?after= the position that its content has.
One look a second at each project serves all its pages.
"""

import asyncio
import json
import re
from collections.abc import Set
from concurrent.futures import Executor
from dataclasses import dataclass, field
from uuid import UUID

from day1site.asgi import Scope
from day1site.events.hub import tried
from day1site.events.page_streams import BEAT_SECONDS, STILL_HERE, PageStreams, Say, read_query
from memory.engines.activity.events import EventEngine
from memory.exceptions import Day1Error

POLL_SECONDS = 1.0
NEWS_CHECK_SECONDS = 2.0  # since the last check, before something new is told
CHECK_SECONDS = 60.0  # between two checks of who reads: a stream tells nothing but that there is something


@dataclass(eq=False)
class OpenPage:
    """A page that somebody looks at. ``wake`` is set when there is something new, or the end."""

    project: UUID
    branch: str
    position: int  # that it was told, or has
    wake: asyncio.Event = field(default_factory=asyncio.Event)
    is_due: bool = False

    def note(self, branches: Set[str], position: int) -> None:
        """Take in that these branches changed, or something of the project that is on none."""
        self.position = position
        if not self.branch or self.branch in branches:
            self.is_due = True
            self.wake.set()

    def take_message(self) -> str:
        """Return what is to be sent now: that there is something new, or that the stream is open still."""
        is_due, self.is_due = self.is_due, False
        self.wake.clear()
        data = json.dumps({"position": self.position})
        return f"event: change\ndata: {data}\n\n" if is_due else STILL_HERE


class ChangeStreams(PageStreams):
    path = re.compile(r"/live/([-a-zA-Z0-9_]+)/changes")
    max_streams = 500  # of the 1,000 requests that may be in progress

    def __init__(self, threads: Executor) -> None:
        super().__init__(threads)
        self.pages: set[OpenPage] = set()
        self.positions: dict[UUID, int] = {}  # read of each project that pages are open of
        self.has_pages = asyncio.Event()

    def end_all(self) -> None:
        super().end_all()
        for page in self.pages:
            page.wake.set()

    def begin(self, scope: Scope) -> OpenPage:
        """Return the page that a request comes from. Raises Unauthenticated, NotFound, BranchNotFound."""
        actor, query = self.read_actor(scope), read_query(scope)
        branch, after = query.get("branch", ""), query.get("after", "")
        newest = EventEngine().open_watch(actor=actor, branches=[branch] if branch else []).newest
        is_due = after.isdecimal() and int(after[:18]) < newest
        return OpenPage(actor.project_id, branch, newest, is_due=is_due)

    async def tell(self, state: OpenPage, scope: Scope, ended: asyncio.Event, say: Say) -> None:
        """Send the position each time that the branch has changed."""
        self.join(state)
        try:
            await self.follow(state, scope, ended, say)
        finally:
            self.leave(state)

    async def follow(self, page: OpenPage, scope: Scope, ended: asyncio.Event, say: Say) -> None:
        loop = asyncio.get_running_loop()
        checked_at = loop.time()
        await say(": open\n\n")
        while not ended.is_set():
            await say(page.take_message())
            await wait_for_either(page.wake, ended, BEAT_SECONDS)
            due = NEWS_CHECK_SECONDS if page.wake.is_set() else CHECK_SECONDS
            if loop.time() > checked_at + due:
                checked_at = loop.time()
                if not await self.may_read_on(scope):
                    return

    async def may_read_on(self, scope: Scope) -> bool:
        """Return whether the person is logged in and a member still."""
        try:
            await self.work(self.read_actor, scope)
        except Day1Error:
            return False
        return True

    # ---- pages -----------------------------------------------------------------------------------

    def join(self, page: OpenPage) -> None:
        self.pages.add(page)
        self.positions.setdefault(page.project, page.position)
        self.has_pages.set()

    def leave(self, page: OpenPage) -> None:
        self.pages.discard(page)
        if not any(other.project == page.project for other in self.pages):
            self.positions.pop(page.project, None)
        if not self.pages:
            self.has_pages.clear()

    async def run(self) -> None:
        """Look for what is new while pages are open. A failure is tried again with the next look."""
        while True:
            await self.has_pages.wait()
            for project in list(self.positions):
                await tried(self.poll(project), "Changes for pages could not be read.")
            await asyncio.sleep(POLL_SECONDS)

    async def poll(self, project: UUID) -> None:
        before = self.positions[project]
        branches, position = await self.work(read_branches, project, before)
        if position > before and project in self.positions:
            self.positions[project] = position
            for page in self.pages:
                if page.project == project:
                    page.note(branches, position)


def read_branches(project: UUID, after: int) -> tuple[set[str], int]:
    """Return the branches that changed after a position, and the last position that was read."""
    events, position = EventEngine().read_events(project_id=project, after=after)
    return {event.branch for event in events}, position


async def wait_for_either(one: asyncio.Event, other: asyncio.Event, seconds: float) -> None:
    """Wait until one of the events is set, or so long."""
    waiting = [asyncio.create_task(event.wait()) for event in (one, other)]
    await asyncio.wait(waiting, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    for task in waiting:
        task.cancel()
