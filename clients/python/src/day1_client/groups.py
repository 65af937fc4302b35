"""What the generated groups of methods are made of.

A method is written once, in the group that waits for its answer. Called on the other group it returns what is
to be awaited, as ``awaits``, ``pages`` and ``streams`` tell the type checker.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping
from typing import Any, Concatenate, ParamSpec, TypeVar, cast

from day1_client.pages import AsyncPage, Page
from day1_client.sending import AsyncSender, Sender

P = ParamSpec("P")
R = TypeVar("R")
Row = TypeVar("Row")
Whole = TypeVar("Whole")


class Group:
    """Methods of one noun."""

    def __init__(self, sender: Sender) -> None:
        self._sender = sender

    def _send(self, name: str, address: str, given: Mapping[str, Any], **how: str) -> Any:
        return self._sender.send(name, address, given, **how)

    def _page(self, name: str, address: str, given: Mapping[str, Any], **how: str) -> Page[Any, Any]:
        def read(cursor: str) -> Page[Any, Any]:
            return self._page(name, address, {**given, "cursor": cursor}, **how)

        return Page(self._send(name, address, given, **how), read)

    def _follow(self, name: str, address: str, given: Mapping[str, Any], **how: str) -> Iterator[Any]:
        return self._sender.follow(name, address, given, **how)


class AsyncGroup:
    """Methods of one noun, to be awaited."""

    def __init__(self, sender: AsyncSender) -> None:
        self._sender = sender

    async def _send(self, name: str, address: str, given: Mapping[str, Any], **how: str) -> Any:
        return await self._sender.send(name, address, given, **how)

    async def _page(
        self, name: str, address: str, given: Mapping[str, Any], **how: str
    ) -> AsyncPage[Any, Any]:
        async def read(cursor: str) -> AsyncPage[Any, Any]:
            return await self._page(name, address, {**given, "cursor": cursor}, **how)

        return AsyncPage(await self._send(name, address, given, **how), read)

    def _follow(self, name: str, address: str, given: Mapping[str, Any], **how: str) -> AsyncIterator[Any]:
        return self._sender.follow(name, address, given, **how)


def awaits(method: Callable[Concatenate[Any, P], R]) -> Callable[Concatenate[Any, P], Coroutine[Any, Any, R]]:
    """Return the method as one of an AsyncGroup."""
    return cast("Callable[Concatenate[Any, P], Coroutine[Any, Any, R]]", method)


def pages(
    method: Callable[Concatenate[Any, P], Page[Row, Whole]],
) -> Callable[Concatenate[Any, P], Coroutine[Any, Any, AsyncPage[Row, Whole]]]:
    """Return the method, whose answer is a page, as one of an AsyncGroup."""
    return cast("Callable[Concatenate[Any, P], Coroutine[Any, Any, AsyncPage[Row, Whole]]]", method)


def streams(
    method: Callable[Concatenate[Any, P], Iterator[Row]],
) -> Callable[Concatenate[Any, P], AsyncIterator[Row]]:
    """Return the method, whose answer never ends, as one of an AsyncGroup."""
    return cast("Callable[Concatenate[Any, P], AsyncIterator[Row]]", method)
