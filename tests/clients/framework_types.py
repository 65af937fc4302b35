"""Types of frameworks that are too heavy for every run: what adapters touch, as their releases have it.

CrewAI 1.15.30, Google ADK 2.13.0, LlamaIndex 0.14.25, Strands 1.62.0. The nightly tests play the packages
themselves (``tests/frameworks``); these let every run play what an adapter does with the server.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Generic, Literal, TypeVar
from uuid import uuid4

from pydantic import BaseModel, ConfigDict, Field

T = TypeVar("T")

# ---- CrewAI ----------------------------------------------------------------------------------------


class MemoryRecord(BaseModel):
    id: str = Field(default_factory=lambda: str(uuid4()))
    content: str
    scope: str = "/"
    categories: list[str] = []
    metadata: dict[str, Any] = {}
    importance: float = 0.5
    created_at: datetime = Field(default_factory=datetime.now)
    embedding: list[float] | None = Field(default=None, exclude=True)


class ScopeInfo(BaseModel):
    path: str
    record_count: int = 0
    categories: list[str] = []
    oldest_record: datetime | None = None
    newest_record: datetime | None = None
    child_scopes: list[str] = []


# ---- Google ADK ------------------------------------------------------------------------------------


class Part(BaseModel):
    text: str | None = None
    thought: bool | None = None
    function_call: dict[str, Any] | None = None
    function_response: dict[str, Any] | None = None


class Content(BaseModel):
    role: str | None = None
    parts: list[Part] | None = None


class Event(BaseModel):
    id: str = ""
    author: str
    timestamp: float = 0.0
    content: Content | None = None


class Session(BaseModel):
    id: str
    app_name: str
    user_id: str
    events: list[Event] = []


class Remembered(BaseModel):  # named MemoryEntry there, as the one of Strands
    content: Content
    custom_metadata: dict[str, Any] = {}
    id: str | None = None
    author: str | None = None
    timestamp: str | None = None


class SearchMemoryResponse(BaseModel):
    memories: list[Remembered] = []


# ---- LlamaIndex ------------------------------------------------------------------------------------


class MessageRole(StrEnum):
    SYSTEM, USER, ASSISTANT, TOOL = "system", "user", "assistant", "tool"


class MessageStatus(StrEnum):
    ACTIVE, ARCHIVED = "active", "archived"


class TextBlock(BaseModel):
    block_type: Literal["text"] = "text"
    text: str


class ChatMessage(BaseModel):
    role: MessageRole = MessageRole.USER
    additional_kwargs: dict[str, Any] = {}
    blocks: list[TextBlock] = []

    def __init__(self, /, content: str | None = None, **data: Any) -> None:
        super().__init__(**data if content is None else data | {"blocks": [TextBlock(text=content)]})

    @property
    def content(self) -> str | None:
        return "\n".join(block.text for block in self.blocks) or None


class BaseMemoryBlock(BaseModel, Generic[T]):
    model_config = ConfigDict(arbitrary_types_allowed=True)
    name: str
    accept_short_term_memory: bool = True

    async def aget(self, messages: list[ChatMessage] | None = None, **options: Any) -> T:
        return await self._aget(messages, **options)

    async def _aget(self, messages: list[ChatMessage] | None = None, **options: Any) -> T:
        raise NotImplementedError


class Memory(BaseModel):
    session_id: str
    sql_store: Any
    memory_blocks: list[Any] = []

    @classmethod
    def from_defaults(
        cls, session_id: str | None = None, *, chat_store: Any = None, memory_blocks: Any = None
    ) -> Memory:
        blocks = memory_blocks or []
        return cls(session_id=session_id or str(uuid4()), sql_store=chat_store, memory_blocks=blocks)


# ---- Strands ---------------------------------------------------------------------------------------


@dataclass
class MemoryEntry:
    content: str
    store_name: str | None = None
    metadata: Any = None


@dataclass
class AddMessagesContext:
    sequence_numbers: list[int] | None = None


class InvocationTrigger:
    pass


# ---- where they are --------------------------------------------------------------------------------

MODULES: dict[str, dict[str, Any]] = {
    "crewai": {"crewai.memory.types": {"MemoryRecord": MemoryRecord, "ScopeInfo": ScopeInfo}},
    "google_adk": {
        "google.adk.events.event": {"Event": Event},
        "google.adk.memory.base_memory_service": {
            "BaseMemoryService": object,
            "SearchMemoryResponse": SearchMemoryResponse,
        },
        "google.adk.memory.memory_entry": {"MemoryEntry": Remembered},
        "google.adk.sessions.session": {"Session": Session},
        "google.genai.types": {"Content": Content, "Part": Part},
    },
    "llamaindex": {
        "llama_index.core.base.llms.types": {
            "ChatMessage": ChatMessage,
            "MessageRole": MessageRole,
            "TextBlock": TextBlock,
        },
        "llama_index.core.memory": {"BaseMemoryBlock": BaseMemoryBlock, "Memory": Memory},
        "llama_index.core.storage.chat_store.base_db": {
            "AsyncDBChatStore": BaseModel,
            "MessageStatus": MessageStatus,
        },
    },
    "strands": {
        "strands.memory": {
            "AddMessagesContext": AddMessagesContext,
            "ExtractionConfig": dict,
            "InvocationTrigger": InvocationTrigger,
            "MemoryEntry": MemoryEntry,
            "MemoryStore": object,
            "SearchOptions": dict,
        },
        "strands.types.content": {"ContentBlock": dict, "Message": dict},
    },
}
