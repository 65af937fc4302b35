"""Lists that come in pages, walked as one."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any, Generic, TypeVar, cast

from day1_client.errors import NotDay1

Row = TypeVar("Row")
Whole = TypeVar("Whole")


def read_page(answer: Any) -> tuple[list[Any], str | None]:
    """Return the rows of a page and the cursor of the next. Raises NotDay1."""
    try:
        return list(answer["results"]), answer["next"]
    except (KeyError, TypeError):
        raise NotDay1("What was answered is no page of a list.", status=200) from None


class Page(Generic[Row, Whole]):
    """A page: ``results`` are its rows, ``answer`` is all that came. A loop goes on to the last page."""

    results: list[Row]
    next: str | None

    def __init__(self, answer: Any, read: Callable[[str], Page[Row, Whole]]) -> None:
        self.answer = cast(Whole, answer)
        self.results, self.next = read_page(answer)
        self._read = read

    def next_page(self) -> Page[Row, Whole] | None:
        """Read the page behind this one; None at the end."""
        return self._read(self.next) if self.next else None

    def __iter__(self) -> Iterator[Row]:
        page: Page[Row, Whole] | None = self
        while page is not None:
            yield from page.results
            page = page.next_page()

    def __repr__(self) -> str:
        return f"<Page of {len(self.results)}{', with more' if self.next else ''}>"


class AsyncPage(Generic[Row, Whole]):
    """A page, as ``Page`` is one: ``async for`` goes on to the last one."""

    results: list[Row]
    next: str | None

    def __init__(self, answer: Any, read: Callable[[str], Awaitable[AsyncPage[Row, Whole]]]) -> None:
        self.answer = cast(Whole, answer)
        self.results, self.next = read_page(answer)
        self._read = read

    async def next_page(self) -> AsyncPage[Row, Whole] | None:
        """Read the page behind this one; None at the end."""
        return await self._read(self.next) if self.next else None

    async def __aiter__(self) -> AsyncIterator[Row]:
        page: AsyncPage[Row, Whole] | None = self
        while page is not None:
            for row in page.results:
                yield row
            page = await page.next_page()

    __repr__ = Page.__repr__
