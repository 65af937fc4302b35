"""A memory store of Strands Agents, for its MemoryManager. Needs ``strands-agents``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import uuid4

from day1_client import Day1
from day1_client.adapting import append, clean, clean_json, find, in_thread, message, to_json, whose
from day1_client.extras import needs

with needs("strands"):
    from strands.memory import (
        AddMessagesContext,
        ExtractionConfig,
        InvocationTrigger,
        MemoryEntry,
        MemoryStore,
        SearchOptions,
    )
    from strands.types.content import ContentBlock, Message

MAX_RESULTS = 5


class Day1MemoryStore(MemoryStore):
    """Facts and sessions of one end user; what the agent and the person say is stored after each turn.

    ``extraction=None`` stores nothing by itself, ``writable=False`` refuses every write. A process is one
    session of Day1 unless ``session_id`` names it.
    """

    def __init__(
        self,
        memory: Day1 | None = None,
        *,
        name: str = "day1",
        user_id: str | None = None,
        app_id: str | None = None,
        agent_id: str | None = None,
        session_id: str | None = None,
        description: str | None = "What is known from earlier conversations.",
        max_search_results: int | None = None,
        writable: bool = True,
        extraction: ExtractionConfig | bool | None = True,
    ) -> None:
        if not name.strip():
            raise ValueError("name must not be empty.")
        self.memory = memory or Day1()
        self.owner = whose(user_id, app_id)
        self.said_by = {"agent_id": agent_id} if agent_id else {}
        self.run = uuid4().hex
        self.session_id = session_id or f"strands-{self.run}"
        self.name, self.description = name, description
        self.max_search_results = self._check_limit(max_search_results)
        self.writable = writable
        self.extraction = None
        if writable and extraction:
            each_turn = ExtractionConfig(trigger=InvocationTrigger())
            self.extraction = each_turn if extraction is True else extraction

    async def search(self, query: str, options: SearchOptions | None = None) -> list[MemoryEntry]:
        """Return what is known on a query, the likeliest first."""
        asked = (options or {}).get("max_search_results")
        limit = self._check_limit(self.max_search_results if asked is None else asked) or MAX_RESULTS
        hits = await in_thread(find, self.memory, query, limit, self.owner)
        return [
            MemoryEntry(
                hit.text,
                metadata={
                    **hit.metadata.get("strands", {}),
                    "id": hit.id,
                    "score": hit.evidence,
                    "at": hit.at,
                },
            )
            for hit in hits
        ]

    async def add(self, content: str, metadata: Mapping[str, Any] | None = None) -> dict[str, str]:
        """Store a fact, once however often it is said, and return its id."""
        self._require_writable()
        if not content.strip():
            raise ValueError("content must not be empty.")
        kept = {"metadata": {"strands": clean_json(metadata)}} if metadata else {}
        said = {**self.owner, **self.said_by, "session_id": self.session_id}
        fact = await in_thread(self.memory.facts.create, clean(content), wait="indexed", **kept, **said)
        return {"id": fact["id"]}

    async def add_messages(self, messages: list[Message], context: AddMessagesContext | None = None) -> None:
        """Store messages and learn from them; those that a retry brings again are not stored twice."""
        self._require_writable()
        numbers = (context.sequence_numbers if context else None) or [None] * len(messages)
        rows = [
            row
            for number, one in zip(numbers, messages, strict=True)
            for row in read_message(one, "" if number is None else f"{self.run}:{number}")
        ]
        await in_thread(append, self.memory, rows, self.session_id, **self.owner, **self.said_by)

    def _require_writable(self) -> None:
        if not self.writable:
            raise ValueError(f"{self.name}: the store is not writable.")

    @staticmethod
    def _check_limit(limit: int | None) -> int | None:
        if limit is not None and limit < 1:
            raise ValueError("max_search_results must be at least 1.")
        return limit


def read_message(one: Message, key: str) -> list[dict[str, Any]]:
    """Return what a message says, and the blocks of it that are no text, as Day1 takes them."""
    text = "\n".join(block["text"] for block in one["content"] if "text" in block)
    rows = message(one["role"], text, key)
    for block in one["content"]:
        if "text" not in block:
            rows += message(name_role(block), to_json(block), key)
    return rows


def name_role(block: ContentBlock) -> str:
    return "tool_call" if "toolUse" in block else "tool_result"
