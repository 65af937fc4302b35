"""Messages: append-only, numbered within their conversation."""

from typing import Any, ClassVar

from django.db import models
from django_mysql.models import FixedCharField

from memory.db.fields import JSONTextField
from memory.db.indexes import FullTextIndex
from memory.models import BranchedModel
from memory.models.base import ERASED_MARK, Blank
from memory.models.hashes import content_hash
from memory.models.kinds import ORIGIN, MemoryKind


class Message(BranchedModel):
    class Role(models.TextChoices):
        USER = "user"
        ASSISTANT = "assistant"
        TOOL_CALL = "tool_call"
        TOOL_RESULT = "tool_result"
        SYSTEM = "system"

    KIND: ClassVar[MemoryKind] = MemoryKind(
        "message",
        title="content",
        rank=6,
        mappings=frozenset({"metadata"}),
        origin=ORIGIN | {"said_at"},
        derived=frozenset({"content_hash"}),
        unseen=frozenset({"thinking"}),  # its readers need a right of their own
        identity=("conversation_id", "sequence_num"),
        numbered="sequence_num",
    )
    TEXT: ClassVar[str] = "content"
    OWNERS: ClassVar[dict[str, str]] = {"conversation_id": "conversation"}
    COPIED_FROM: ClassVar[str] = "picked_from"
    ERASED: ClassVar[dict[str, Any]] = {
        "content": ERASED_MARK,
        "thinking": "",
        "tool_calls": [],
        "metadata": {},
        "content_hash": Blank.DIGEST,
    }
    QUOTED: ClassVar[dict[str, int]] = {"content": 32, "thinking": 32}

    embedding_state: str  # set where it is shown
    embedding_model: str

    conversation_id = models.UUIDField()
    role = models.CharField(max_length=12, choices=Role.choices)
    content = models.TextField(blank=True, default="")
    thinking = models.TextField(blank=True, default="")
    tool_calls = JSONTextField(default=list)
    sequence_num = models.PositiveIntegerField(help_text="Its place in the conversation, from 1.")
    token_count = models.PositiveIntegerField(default=0)
    model = models.CharField(max_length=200, blank=True, default="")
    said_at = models.DateTimeField(null=True, blank=True, help_text="When it was said, if that was before.")
    metadata = JSONTextField(default=dict)
    picked_from = models.UUIDField(null=True, blank=True, help_text="Of a copy: the message that it repeats.")
    embed = models.BooleanField(default=False, help_text="Whether it gets a vector.")
    content_hash = FixedCharField(max_length=64, help_text="SHA-256 of the content: the key of its vector.")

    class Meta(BranchedModel.Meta):
        indexes = [
            *BranchedModel.Meta.indexes,
            models.Index(fields=["branch", "conversation_id", "sequence_num"], name="message_bconversation"),
            models.Index(fields=["branch", "session_id", "uid"], name="message_bsession"),
            models.Index(fields=["picked_from"], name="message_picked"),
            FullTextIndex(
                fields=["content"],
                tokens=["role", "session_id", "agent_id"],
                name="conversations_message_fts",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.sequence_num} {self.role}"

    def identity(self) -> str:
        return f"{self.conversation_id.hex}{self.sequence_num}"

    @classmethod
    def embedded_q(cls) -> models.Q:
        return models.Q(embed=True)

    def compute_hashes(self) -> None:
        """Compute the hash from the content."""
        self.content_hash = content_hash(self.content)
