"""Who follows what: one reader of the database for all streams of this process."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from concurrent.futures import Executor
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar
from uuid import UUID

from day1site.entrance import in_thread
from memory.api.event_shapes import message
from memory.engines.events import Event, EventEngine, Watch
from memory.engines.keys import KeyEngine
from memory.exceptions import RateLimited, Unavailable

logger = logging.getLogger(__name__)
T = TypeVar("T")
Told = tuple[Event, bytes]  # an event, and the message that tells of it

LOOK_SECONDS = 0.25  # between two looks at what came
KEY_SECONDS = 2.0  # between two looks at the keys of those who follow
KEPT = 1000  # newest events of a project in memory; who is further behind reads the database
OF_A_KEY = 100  # streams at once
IN_ALL = 500  # of the 1,000 requests that may be in progress


@dataclass(eq=False)
class Stream:
    """One who follows. ``wake`` is set when there may be something to do, ``over`` says why it must end."""

    watch: Watch
    wake: asyncio.Event = field(default_factory=asyncio.Event)
    over: str = ""

    def __post_init__(self) -> None:
        self.place = self.watch.after  # up to which it has been told

    @property
    def key(self) -> UUID:
        return UUID(self.watch.actor.id)

    @property
    def project(self) -> UUID:
        return self.watch.actor.project_id

    def end(self, why: str) -> None:
        self.over = self.over or why
        self.wake.set()


class Feed:
    """The newest events of one project: all those after the place ``since``, up to ``place``."""

    def __init__(self, place: int) -> None:
        self.since = self.place = place
        self.recent: list[Told] = []

    def add(self, told: list[Told], place: int) -> None:
        self.recent += told
        self.place = place
        if (many := len(self.recent) - KEPT) > 0:
            self.since = self.recent[many - 1][0].place
            del self.recent[:many]

    def after(self, place: int) -> list[Told]:
        return [one for one in self.recent if one[0].place > place]


class Hub:
    def __init__(self, threads: Executor) -> None:
        self.threads = threads
        self.streams: set[Stream] = set()
        self.feeds: dict[UUID, Feed] = {}
        self.wanted = asyncio.Event()  # somebody follows

    async def work(self, do: Callable[..., T]) -> T:
        """Something with the database, in one of the threads that serve Django."""
        return await asyncio.get_running_loop().run_in_executor(self.threads, partial(in_thread, do))

    # ---- who follows -----------------------------------------------------------------------------

    def join(self, stream: Stream) -> None:
        """Raises RateLimited, Unavailable when there are too many streams."""
        if sum(other.key == stream.key for other in self.streams) >= OF_A_KEY:
            raise RateLimited("A key may hold {most} streams at once.", most=OF_A_KEY, retry_after=5)
        if len(self.streams) >= IN_ALL:
            raise Unavailable("The server has {most} streams at once; try again.", most=IN_ALL, retry_after=5)
        self.streams.add(stream)
        self.feeds.setdefault(stream.project, Feed(stream.watch.newest))
        self.wanted.set()

    def leave(self, stream: Stream) -> None:
        self.streams.discard(stream)
        if not any(other.project == stream.project for other in self.streams):
            self.feeds.pop(stream.project, None)
        if not self.streams:
            self.wanted.clear()

    def end_all(self, why: str) -> None:
        for stream in self.streams:
            stream.end(why)

    # ---- what comes ------------------------------------------------------------------------------

    async def next(self, stream: Stream) -> tuple[list[Told], int]:
        """What follows a stream's place, as far as one look finds it, and up to which place that is."""
        feed = self.feeds[stream.project]
        if stream.place < feed.since:
            return await self.work(partial(read, stream.project, stream.place))
        return feed.after(stream.place), max(feed.place, stream.place)

    async def run(self) -> None:
        """Look for what comes, as long as somebody follows. What fails is tried again at the next look."""
        keys_at = 0.0
        while True:
            await self.wanted.wait()
            for project in list(self.feeds):
                await tried(self.look(project), "Events could not be read.")
            if (now := asyncio.get_running_loop().time()) > keys_at + KEY_SECONDS:
                keys_at = now
                await tried(self.check_keys(), "The keys of those who follow could not be checked.")
            await asyncio.sleep(LOOK_SECONDS)

    async def look(self, project: UUID) -> None:
        if (feed := self.feeds.get(project)) is None:
            return
        told, place = await self.work(partial(read, project, feed.place))
        if place > feed.place:
            feed.add(told, place)
            for stream in self.streams:
                if stream.project == project:
                    stream.wake.set()

    async def check_keys(self) -> None:
        keys = {stream.key for stream in self.streams}
        still = await self.work(partial(KeyEngine().still_open, key_ids=keys))
        for stream in self.streams:
            if stream.key in keys - still:
                stream.end("the key has ended")


async def tried(work: Awaitable[None], failure: str) -> None:
    """No failure of one ends the others: all streams depend on the one task."""
    try:
        await work
    except Exception:
        logger.exception(failure)


def read(project: UUID, after: int) -> tuple[list[Told], int]:
    events, place = EventEngine().read(project_id=project, after=after)
    return [(event, message(event)) for event in events], place
