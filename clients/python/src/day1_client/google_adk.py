"""A memory service of Google's Agent Development Kit. Needs ``google-adk``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from day1_client import Day1
from day1_client.adapting import Hit, append, clean, clean_json, find, in_thread, message, to_json, whose
from day1_client.codes import NotFound
from day1_client.extras import needs

with needs("google-adk"):
    from google.adk.events.event import Event
    from google.adk.memory.base_memory_service import BaseMemoryService, SearchMemoryResponse
    from google.adk.memory.memory_entry import MemoryEntry
    from google.adk.sessions.session import Session
    from google.genai.types import Content, Part

MAX_RESULTS = 10
UNKNOWN_SESSION = "adk-unknown-session"


class Day1MemoryService(BaseMemoryService):
    """Sessions of an agent, searched with the facts that were learned of them.

    The framework's ``user_id`` and ``app_name`` are the end user and the app of Day1, its sessions those of
    the same name.
    """

    def __init__(self, memory: Day1 | None = None, *, max_results: int = MAX_RESULTS) -> None:
        self.memory, self.max_results = memory or Day1(), max_results

    async def add_session_to_memory(self, session: Session) -> None:
        """Store the events of a session that are not stored yet."""
        await self.add_events_to_memory(
            app_name=session.app_name, user_id=session.user_id, events=session.events, session_id=session.id
        )

    async def add_events_to_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        events: Sequence[Event],
        session_id: str | None = None,
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Store events once each, however often they are added, and learn from them."""
        rows = [row for event in events for row in read_event(event, custom_metadata)]
        owner = owner_of(user_id, app_name)
        await in_thread(append, self.memory, rows, session_id or UNKNOWN_SESSION, read_first=True, **owner)

    async def add_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        memories: Sequence[MemoryEntry],
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Store each memory as a fact, all or none."""
        facts = [
            {
                "fact_text": clean(text),
                "metadata": clean_json({"adk": {**(custom_metadata or {}), **dump(entry)}}),
            }
            for entry in memories
            if (text := join_texts(entry.content))
        ]
        if facts:
            await in_thread(self.memory.facts.create_many, facts, **owner_of(user_id, app_name))

    async def search_memory(self, *, app_name: str, user_id: str, query: str) -> SearchMemoryResponse:
        """Return what is known on a query, the likeliest first."""
        hits = await in_thread(find, self.memory, query, self.max_results, owner_of(user_id, app_name))
        return SearchMemoryResponse(memories=[read_hit(hit) for hit in hits])

    async def delete_memory(self, *, app_name: str, user_id: str, memory_id: str | None = None) -> None:
        """Delete what a search answered under this id; its session, added again, does not bring it back."""
        if not memory_id:
            return
        for delete in (self.memory.messages.delete, self.memory.facts.delete):
            try:
                await in_thread(delete, memory_id, **owner_of(user_id, app_name))
                return
            except NotFound:
                continue


def owner_of(user_id: str, app_name: str) -> dict[str, Any]:
    """Return whose memory it is. Raises ValueError where no name is one, which would be everybody."""
    return whose(user_id or "", app_name or "")


def read_event(event: Event, custom_metadata: Mapping[str, object] | None) -> list[dict[str, Any]]:
    """Return what an event says, and its parts that are no text as JSON; nothing of one without parts."""
    if not event.content or not event.content.parts:
        return []
    at = datetime.fromtimestamp(event.timestamp).astimezone()
    adk = {
        "author": event.author,
        "event_id": event.id,
        **({"custom": dict(custom_metadata)} if custom_metadata else {}),
    }
    fields: dict[str, Any] = {"metadata": {"adk": adk}}
    if at <= datetime.now().astimezone():
        fields["said_at"] = at.isoformat()
    key = f"adk:{event.id}"
    rows = message(
        "user" if event.author == "user" else "assistant", join_texts(event.content), key, **fields
    )
    for part in event.content.parts:
        if not part.text:
            role = "tool_result" if part.function_response else "tool_call"
            rows += message(role, to_json(part.model_dump(mode="json", exclude_none=True)), key, **fields)
    return rows


def join_texts(content: Content) -> str:
    return "\n".join(part.text for part in content.parts or () if part.text and not part.thought)


def dump(entry: MemoryEntry) -> dict[str, Any]:
    dumped: dict[str, Any] = entry.model_dump(mode="json", exclude_none=True, exclude={"content"})
    return dumped


def read_hit(hit: Hit) -> MemoryEntry:
    """Return a fact or a message as the framework's entry."""
    adk = hit.metadata.get("adk", {})
    author = adk.get("author") or (hit.role or "memory")
    content = Content(role="user" if hit.role in ("user", "") else "model", parts=[Part(text=hit.text)])
    custom = adk.get("custom") or adk.get("custom_metadata") or {}
    at = adk.get("timestamp") or hit.at
    return MemoryEntry(id=hit.id, content=content, author=author, timestamp=at, custom_metadata=custom)
