"""Memory of LlamaIndex: a block, and with the chat store a whole memory. Needs ``llama-index-core``."""

from __future__ import annotations

from typing import Any

from day1_client import Day1
from day1_client.adapting import append, in_thread, recall, whose
from day1_client.extras import needs
from day1_client.llamaindex_chat import Day1ChatStore, write_message

with needs("llamaindex"):
    from llama_index.core.base.llms.types import ChatMessage, MessageRole
    from llama_index.core.memory import BaseMemoryBlock, Memory
    from llama_index.core.storage.chat_store.base_db import MessageStatus
    from pydantic import Field

__all__ = ["Day1ChatStore", "Day1Memory", "Day1MemoryBlock"]
MAX_TOKENS = 800


class Day1MemoryBlock(BaseMemoryBlock[str]):
    """What is known on the newest question, from other sessions: facts, and what was said."""

    name: str = "day1"
    memory: Day1 = Field(default_factory=Day1, exclude=True)
    user_id: str | None = None
    app_id: str | None = None
    max_tokens: int = MAX_TOKENS

    async def _aget(self, messages: list[ChatMessage] | None = None, **block_kwargs: Any) -> str:
        asked = [one.content for one in messages or () if one.role == MessageRole.USER and one.content]
        owner, session = whose(self.user_id, self.app_id), block_kwargs.get("session_id") or ""
        return await in_thread(
            recall, self.memory, asked[-1] if asked else "", self.max_tokens, owner, session
        )

    async def _aput(self, messages: list[ChatMessage]) -> None:
        session = next((one.additional_kwargs.get("session_id") for one in messages), None)
        rows = [row for one in messages for row in write_message(one, MessageStatus.ACTIVE)]
        await in_thread(
            append, self.memory, rows, session or "llamaindex", **whose(self.user_id, self.app_id)
        )


class Day1Memory(Memory):
    """A memory whose chat is in Day1 and whose block recalls from it."""

    @classmethod
    def from_defaults(  # type: ignore[override]
        cls,
        session_id: str | None = None,
        memory: Day1 | None = None,
        *,
        user_id: str | None = None,
        app_id: str | None = None,
        max_tokens: int = MAX_TOKENS,
        **options: Any,
    ) -> Memory:
        """Return the memory of one end user's session; ``options`` are those of ``Memory.from_defaults``."""
        said: dict[str, Any] = {"memory": memory or Day1(), "user_id": user_id, "app_id": app_id}
        block = Day1MemoryBlock(**said, max_tokens=max_tokens, accept_short_term_memory=False)
        blocks = [block, *options.pop("memory_blocks", ())]
        store = Day1ChatStore(**said)
        return super().from_defaults(session_id, chat_store=store, memory_blocks=blocks, **options)
