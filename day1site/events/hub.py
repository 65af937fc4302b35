"""The hub of event streams: one reader of the database for all streams of this process."""

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from concurrent.futures import Executor
from dataclasses import dataclass, field
from functools import partial
from typing import Generic, TypeVar
from uuid import UUID

from day1site.connections import Complaint
from day1site.server.asgi_auth import in_thread
from memory.answers.events import stream_message
from memory.db.errors import StorageRefused
from memory.engines.access.keys import KeyEngine
from memory.engines.activity.events import BATCH_SIZE, Event, EventEngine, Watch
from memory.exceptions import RateLimited, StoreDamaged, Unavailable
from memory.limits import LIMITS

logger = logging.getLogger(__name__)
T = TypeVar("T")
EncodedEvent = tuple[Event, bytes]  # an event, and its encoded message
_complaint = Complaint()
POLL_SECONDS = 0.25  # between two polls for new events
KEY_SECONDS = 2.0  # between two checks of the streams' keys
MAX_KEPT_EVENTS = 1000  # newest events of a project in memory; a stream further behind reads the database
KEY_STREAMS = LIMITS["key_streams"]
MAX_STREAMS = 500  # of the 1,000 requests that may be in progress
PAGE_SIZE = BATCH_SIZE  # positions per page; the number read at once
MAX_PAGES = 8  # kept for streams that are close together
Page = tuple[list[T], int]  # the events, and the last position read
Key = tuple[UUID, int]  # a project, and the position before a page


@dataclass(eq=False)
class Stream:
    """Stream of one client. ``wake`` is set when there is work, ``over`` is the reason to end it."""

    watch: Watch
    key_limit: int = KEY_STREAMS.default
    project_limit: int = 0  # none
    wake: asyncio.Event = field(default_factory=asyncio.Event)
    over: str = ""

    def __post_init__(self) -> None:
        self.position = self.watch.after  # the last position sent

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
    """Newest events of one project: all those after the position ``since``, up to ``position``."""

    def __init__(self, position: int) -> None:
        self.since = self.position = position
        self.recent: list[EncodedEvent] = []

    def add(self, events: list[EncodedEvent], position: int) -> None:
        self.recent += events
        self.position = position
        if (many := len(self.recent) - MAX_KEPT_EVENTS) > 0:
            self.since = self.recent[many - 1][0].position
            del self.recent[:many]

    def after(self, position: int) -> list[EncodedEvent]:
        return [one for one in self.recent if one[0].position > position]


class Hub:
    def __init__(self, threads: Executor) -> None:
        self.threads = threads
        self.streams: set[Stream] = set()
        self.feeds: dict[UUID, Feed] = {}
        self.has_streams = asyncio.Event()  # set while there are streams
        self.history: History[EncodedEvent] = History(lambda *page: self.work(partial(read, *page)))

    async def work(self, do: Callable[..., T]) -> T:
        """Run a database function in one of the threads that serve Django."""
        return await asyncio.get_running_loop().run_in_executor(self.threads, partial(in_thread, do))

    # ---- streams ---------------------------------------------------------------------------------

    def join(self, stream: Stream) -> None:
        """Add a stream. Raises RateLimited, Unavailable when there are too many."""
        of_key = sum(other.key == stream.key for other in self.streams)
        of_project = sum(other.project == stream.project for other in self.streams)
        for owner, used, most in (
            ("key", of_key, stream.key_limit),
            ("project", of_project, stream.project_limit),
        ):
            if most and used >= most:
                text = "A {what} may hold {limit} streams at once, and has {used}."
                raise RateLimited(text, what=owner, used=used, limit=most, retry_after=5)
        if len(self.streams) >= MAX_STREAMS:
            raise Unavailable(
                "The server has {most} streams at once; try again.", most=MAX_STREAMS, retry_after=5
            )
        self.streams.add(stream)
        self.feeds.setdefault(stream.project, Feed(stream.watch.newest))
        self.has_streams.set()

    def leave(self, stream: Stream) -> None:
        self.streams.discard(stream)
        if not any(other.project == stream.project for other in self.streams):
            self.feeds.pop(stream.project, None)
        if not self.streams:
            self.has_streams.clear()

    def end_all(self, why: str) -> None:
        for stream in self.streams:
            stream.end(why)

    # ---- events ----------------------------------------------------------------------------------

    async def next(self, stream: Stream) -> tuple[list[EncodedEvent], int]:
        """Return the next events of a stream, as far as one read reaches, and the last position read."""
        feed = self.feeds[stream.project]
        if stream.position < feed.since:
            events, position = await self.history.get_page(stream.project, stream.position)
            return [one for one in events if one[0].position > stream.position], max(
                position, stream.position
            )
        return feed.after(stream.position), max(feed.position, stream.position)

    async def run(self) -> None:
        """Poll for events while there are streams. A failure is retried at the next poll."""
        keys_at = 0.0
        while True:
            await self.has_streams.wait()
            for project in list(self.feeds):
                await tried(self.poll(project), "Events could not be read.")
            if (now := asyncio.get_running_loop().time()) > keys_at + KEY_SECONDS:
                keys_at = now
                await tried(self.check_keys(), "The keys of those who follow could not be checked.")
            await asyncio.sleep(POLL_SECONDS)

    async def poll(self, project: UUID) -> None:
        if (feed := self.feeds.get(project)) is None:
            return
        events, position = await self.work(partial(read, project, feed.position))
        if position > feed.position:
            feed.add(events, position)
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
    """Await the work and log its failure: all streams depend on one task, which must not end."""
    try:
        await work
    except (StorageRefused, StoreDamaged) as error:  # four times a second, and the disk may be full
        _complaint.log("%s %s", failure, error)
    except Exception:
        logger.exception(failure)


def read(project: UUID, after: int) -> tuple[list[EncodedEvent], int]:
    events, position = EventEngine().read_events(project_id=project, after=after)
    return [(event, stream_message(event)) for event in events], position


# ---- past events -------------------------------------------------------------------------------------


class History(Generic[T]):
    """Pages of past events. ``read`` is called with a project and a position, and works in a thread."""

    def __init__(self, read: Callable[[UUID, int], Awaitable[Page[T]]]) -> None:
        self._read = read
        self._turn = asyncio.Semaphore(1)
        self._pages: OrderedDict[Key, asyncio.Task[Page[T]]] = OrderedDict()

    async def get_page(self, project: UUID, position: int) -> Page[T]:
        """Return the page with the event after a position; concurrent callers share one read."""
        key = (project, position - position % PAGE_SIZE)
        if key not in self._pages:
            self._pages[key] = task = asyncio.create_task(self._load(key))
            task.add_done_callback(lambda task: self._settle(key, task))
        self._pages.move_to_end(key)
        return await asyncio.shield(self._pages[key])  # others await the same task

    async def _load(self, key: Key) -> Page[T]:
        await self._turn.acquire()
        loop = asyncio.get_running_loop()
        began = loop.time()
        try:
            return await self._read(*key)
        finally:
            # Pause for as long as the read took, to leave the processor to others.
            loop.call_later(loop.time() - began, self._turn.release)

    def _settle(self, key: Key, task: "asyncio.Task[Page[T]]") -> None:
        """Drop failed and incomplete pages, and the oldest complete ones beyond the limit."""
        if task.cancelled() or task.exception() or task.result()[1] < key[1] + PAGE_SIZE:
            self._pages.pop(key, None)
        done = [other for other, page in self._pages.items() if page.done()]
        for other in done[: max(0, len(done) - MAX_PAGES)]:
            del self._pages[other]
