"""Past events for streams that start in the past: each page is read once for all, one at a time."""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar
from uuid import UUID

from memory.engines.activity.events import BATCH_SIZE

PAGE_SIZE = BATCH_SIZE  # positions per page; the number read at once
MAX_PAGES = 8  # kept for streams that are close together

T = TypeVar("T")
Page = tuple[list[T], int]  # the events, and the last position read
Key = tuple[UUID, int]  # a project, and the position before a page


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
