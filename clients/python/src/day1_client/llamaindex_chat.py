"""The chat store of LlamaIndex: chats as conversations of Day1. Needs ``llama-index-core``."""

from __future__ import annotations

from typing import Any

from day1_client import Day1
from day1_client.adapting import append, in_thread, list_messages, message, name_session, read_session, whose
from day1_client.codes import NotFound
from day1_client.extras import needs

with needs("llamaindex"):
    from llama_index.core.base.llms.types import ChatMessage, MessageRole, TextBlock
    from llama_index.core.storage.chat_store.base_db import AsyncDBChatStore, MessageStatus
    from pydantic import ConfigDict, Field

BATCH_SIZE = 1_000
TEXTS = ("user", "assistant", "system")  # roles of messages that may be no more than a text
MARKS = "llamaindex"  # namespace of the items that say up to which message a session is archived


class Day1ChatStore(AsyncDBChatStore):
    """Chats as conversations of Day1, which learns from them; the key of a chat is its session there.

    A message that is more than text is kept as JSON. What is archived is marked by an item.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)
    memory: Day1 = Field(default_factory=Day1, exclude=True)
    user_id: str | None = None
    app_id: str | None = None

    async def get_messages(
        self,
        key: str,
        status: MessageStatus | None = MessageStatus.ACTIVE,
        limit: int | None = None,
        offset: int | None = None,
    ) -> list[ChatMessage]:
        """Return the messages of a chat in their order."""
        chats = await in_thread(self._read, key, status)
        begin = offset or 0
        return [one for one, _rows in chats[begin : None if limit is None else begin + limit]]

    async def count_messages(self, key: str, status: MessageStatus | None = MessageStatus.ACTIVE) -> int:
        """Return how many messages a chat has."""
        return len(await in_thread(self._read, key, status))

    async def add_message(
        self, key: str, message: ChatMessage, status: MessageStatus = MessageStatus.ACTIVE
    ) -> None:
        """Add a message at the end of a chat."""
        await self.add_messages(key, [message], status)

    async def add_messages(
        self, key: str, messages: list[ChatMessage], status: MessageStatus = MessageStatus.ACTIVE
    ) -> None:
        """Add messages at the end of a chat."""
        rows = [row for one in messages for row in write_message(one, status)]
        await in_thread(append, self.memory, rows, key, **self._owner)

    async def set_messages(
        self, key: str, messages: list[ChatMessage], status: MessageStatus = MessageStatus.ACTIVE
    ) -> None:
        """Replace the messages of a chat: those that were there can be restored in Day1."""
        before = await in_thread(self._read, key, None)
        await self.add_messages(key, messages, status)  # a failure between the two loses nothing
        await in_thread(self._delete, before)

    async def delete_message(self, key: str, idx: int) -> ChatMessage | None:
        """Delete the message at a place among the active ones, and return it."""
        found = (await in_thread(self._read, key, MessageStatus.ACTIVE))[idx : idx + 1]
        await in_thread(self._delete, found)
        return found[0][0] if found else None

    async def delete_messages(self, key: str, status: MessageStatus | None = None) -> None:
        """Delete the messages of a chat."""
        await in_thread(lambda: self._delete(self._read(key, status)))

    async def delete_oldest_messages(self, key: str, n: int) -> list[ChatMessage]:
        """Delete the oldest active messages, and return them."""
        found = (await in_thread(self._read, key, MessageStatus.ACTIVE))[:n]
        await in_thread(self._delete, found)
        return [one for one, _rows in found]

    async def archive_oldest_messages(self, key: str, n: int) -> list[ChatMessage]:
        """Archive the oldest active messages, and return them."""
        found = (await in_thread(self._read, key, MessageStatus.ACTIVE))[:n]
        if found:
            mark = {"archived": found[-1][1][-1]["id"]}
            name = name_session(key).replace("/", "%2F")
            await in_thread(self.memory.items.put, MARKS, name, mark, text=".", embed=False, **self._owner)
        return [one for one, _rows in found]

    async def get_keys(self) -> list[str]:
        """Return the sessions of this end user."""
        rows = await in_thread(lambda: list(self.memory.conversations.list(limit=100, **self._owner)))
        return list(dict.fromkeys(map(read_session, rows)))

    @property
    def _owner(self) -> dict[str, Any]:
        return whose(self.user_id, self.app_id)

    def _read(self, key: str, status: MessageStatus | None) -> list[tuple[ChatMessage, list[Any]]]:
        """Return each message of a chat with its rows: a long one has several."""
        memory, owner, session = self.memory, self._owner, name_session(key)
        chats: dict[str, list[Any]] = {}
        for row in list_messages(memory, session, owner):
            chats.setdefault(row["metadata"].get("key") or row["id"], []).append(row)
        try:
            mark = memory.items.get(MARKS, session.replace("/", "%2F"), **owner)["value"]["archived"]
        except NotFound:
            mark = ""
        found = [rows for rows in chats.values() if status in (None, find_status(rows[-1], mark))]
        return [(read_message(rows), rows) for rows in found]

    def _delete(self, found: list[tuple[ChatMessage, list[Any]]]) -> None:
        ids = [row["id"] for _one, rows in found for row in rows]
        for at in range(0, len(ids), BATCH_SIZE):
            self.memory.messages.delete_many(ids=ids[at : at + BATCH_SIZE], **self._owner)


def find_status(row: Any, mark: str) -> MessageStatus:
    is_archived = row["metadata"].get("status") == "archived" or row["id"] <= mark
    return MessageStatus.ARCHIVED if is_archived else MessageStatus.ACTIVE


def write_message(one: ChatMessage, status: MessageStatus) -> list[dict[str, Any]]:
    """Return a message as Day1 takes it: its text, or all of it as JSON where there is more."""
    fields: dict[str, Any] = {"metadata": {"status": "archived"}} if status == MessageStatus.ARCHIVED else {}
    is_text = len(one.blocks) == 1 and isinstance(one.blocks[0], TextBlock) and not one.additional_kwargs
    if is_text and (one.content or "").strip() and one.role.value in TEXTS:
        return message(one.role.value, one.content or "", **fields)
    role = "tool_result" if one.role == MessageRole.TOOL else "tool_call"
    return message(role, one.model_dump_json(), **fields)


def read_message(rows: list[Any]) -> ChatMessage:
    text = "".join(row["content"] for row in rows)
    if rows[0]["role"] in ("tool_call", "tool_result"):
        return ChatMessage.model_validate_json(text)
    return ChatMessage(role=rows[0]["role"], content=text)
