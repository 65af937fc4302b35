"""A session of the OpenAI Agents SDK, over items of Day1. Needs ``openai-agents``."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar, cast
from urllib.parse import quote

from day1_client import Day1
from day1_client import types as t
from day1_client.codes import KeyTaken, NotFound, StaleVersion
from day1_client.extras import needs

with needs("openai-agents"):
    from agents.memory import SessionSettings
    from agents.memory.session_settings import coerce_session_settings, resolve_session_limit

if TYPE_CHECKING:
    from agents import TResponseInputItem

PAGE = 100
MAX_CALLS = 1_000  # of one request
Answer = TypeVar("Answer")
DIGITS = 12  # of a place, so that places sort as they follow


async def finish(call: Callable[..., Answer], *values: Any) -> Answer:
    """Run a write in a thread to its end: a caller who is cancelled is told so when it is done."""
    task = asyncio.ensure_future(asyncio.to_thread(call, *values))
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        raise cancelled
    return task.result()


class Day1Session:
    """The items of a conversation in their order, on the branch and of the end user of ``memory``.

    Several programs may add to one session at a time: what is added at once stays together. What is popped or
    cleared is gone from the session, not from the history of its branch.
    """

    def __init__(
        self,
        session_id: str,
        memory: Day1 | None = None,
        *,
        namespace: str = "sessions",
        session_settings: SessionSettings | dict[str, Any] | None = None,
    ) -> None:
        self.session_id, self.memory = session_id, memory or Day1()
        self.session_settings = coerce_session_settings(session_settings or {})
        name = quote(session_id, safe="")
        self.namespace = f"{namespace}/{name if session_id.strip('.') else '%2E' * len(session_id) or '%'}"

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """Return the items in their order, of ``limit`` the last ones."""
        return await asyncio.to_thread(self._get_items, resolve_session_limit(limit, self.session_settings))

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Add items behind the last one, up to 1,000 in one commit."""
        for start in range(0, len(items), MAX_CALLS):
            await finish(self._add_items, items[start : start + MAX_CALLS])

    async def pop_item(self) -> TResponseInputItem | None:
        """Remove the last item and return it; None where there is none."""
        return await finish(self._pop_item)

    async def clear_session(self) -> None:
        """Remove all items."""
        await finish(self._clear)

    def _get_items(self, limit: int | None) -> list[TResponseInputItem]:
        rows: list[t.Item] = []
        cursor: str | None = "end"
        while cursor and (limit is None or len(rows) < limit):
            size = PAGE if limit is None else min(PAGE, limit - len(rows))
            page = self.memory.items.list(prefix=self.namespace, limit=size, cursor=cursor)
            rows, cursor = [*page.results, *rows], page.answer["previous"]
        return [row["value"] for row in rows]

    def _add_items(self, items: list[TResponseInputItem]) -> None:
        while True:
            last = self._last_row()
            place = int(last["key"]) + 1 if last else 1
            calls = [self._write_put(place + number, item) for number, item in enumerate(items)]
            try:
                self.memory.items.batch(calls)
            except KeyTaken:  # somebody was quicker: behind theirs, then
                continue
            return

    def _write_put(self, place: int, item: Any) -> t.ItemCallInput:
        key = f"{place:0{DIGITS}}"
        return {
            "op": "put",
            "namespace": self.namespace,
            "key": key,
            "value": item,
            "embed": False,
            "only_new": True,
        }

    def _pop_item(self) -> TResponseInputItem | None:
        while row := self._last_row():
            try:
                self.memory.items.delete(self.namespace, row["key"], expected_version=row["version"])
            except (NotFound, StaleVersion):  # somebody else has popped it
                continue
            return cast("TResponseInputItem", row["value"])
        return None

    def _clear(self) -> None:
        while rows := self.memory.items.list(prefix=self.namespace, limit=PAGE).results:
            self.memory.items.batch(
                [{"op": "delete", "namespace": self.namespace, "key": row["key"]} for row in rows]
            )

    def _last_row(self) -> t.Item | None:
        rows = self.memory.items.list(prefix=self.namespace, limit=1, cursor="end").results
        return rows[0] if rows else None
