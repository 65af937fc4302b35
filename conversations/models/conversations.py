"""Conversations, their messages and compactions. Counts are computed when they are read."""

from typing import Any, ClassVar

from django.db import models
from django_mysql.models import FixedCharField

from memory.db.fields import JSONTextField
from memory.db.indexes import FullTextIndex
from memory.models import Branch, BranchedModel
from memory.models.base import ERASED_MARK, ORIGIN, Blank, MemoryKind
from memory.models.end_users import OfEndUser
from memory.models.hashes import content_hash
from memory.models.projects import MadeRow, ProjectRow


class Conversation(BranchedModel, OfEndUser):
    class Status(models.TextChoices):
        ACTIVE = "active"
        COMPLETED = "completed"
        ARCHIVED = "archived"

    KIND: ClassVar[MemoryKind] = MemoryKind(
        "conversation",
        title="title",
        rank=5,
        ordered={"status": (Status.ACTIVE, Status.COMPLETED, Status.ARCHIVED)},
        fork_columns=("parent_conversation_id", "fork_point_message_id"),
    )
    CAPTURED: ClassVar[bool] = True
    ERASED: ClassVar[dict[str, Any]] = {"title": ERASED_MARK}
    QUOTED: ClassVar[dict[str, int]] = {"title": 32}

    # Set by conversations.engines.conversations.
    message_count: int
    total_tokens: int
    shared_messages: int  # of the messages
    # Set of a fork in a list of forks: its source, if that can be seen, and the last number that they share.
    source: "Conversation | None"
    point: int | None
    replay: Any  # that made it, on pages

    title = models.CharField(max_length=300, blank=True, default="")
    status = models.CharField(max_length=10, choices=Status.choices, default=Status.ACTIVE)
    model = models.CharField(max_length=200, blank=True, default="")
    parent_conversation_id = models.UUIDField(
        null=True, blank=True, help_text="The one that it was forked from."
    )
    fork_point_message_id = models.UUIDField(
        null=True, blank=True, help_text="The last message that they share."
    )

    class Meta(BranchedModel.Meta):
        indexes = [
            *BranchedModel.Meta.indexes,
            models.Index(fields=["branch", "session_id", "uid"], name="conversation_bsession"),
            models.Index(fields=["branch", "parent_conversation_id"], name="conversation_bparent"),
        ]

    def __str__(self) -> str:
        return self.title or str(self.uid)

    @property
    def own_messages(self) -> int:
        """Return how many messages were written to it, not to one that it was forked from."""
        return self.message_count - self.shared_messages


class Message(BranchedModel, OfEndUser):
    class Role(models.TextChoices):
        USER = "user"
        ASSISTANT = "assistant"
        TOOL_CALL = "tool_call"
        TOOL_RESULT = "tool_result"
        SYSTEM = "system"
        DEVELOPER = "developer"

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
    CAPTURED: ClassVar[bool] = True
    GOES_WITH: ClassVar[dict[str, str]] = OWNERS
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
                tokens=["role", "session_id", "agent_id", "user_id", "app_id"],
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


class Compaction(ProjectRow, MadeRow):
    """A summary of a conversation's messages up to one of them, as they were when it was made."""

    class Method(models.TextChoices):
        RULES = "rules"
        CALLER = "caller"

    branch = models.ForeignKey(Branch, on_delete=models.CASCADE, related_name="+")
    conversation_id = models.UUIDField()
    last_message_id = models.UUIDField(help_text="The last message that it stands for.")
    digest = models.CharField(max_length=64, help_text="Of these messages: it is over when one changes.")
    messages = models.PositiveIntegerField(help_text="How many it stands for.")
    tokens = models.PositiveBigIntegerField(help_text="Of these messages.")
    summary = models.TextField()
    summary_tokens = models.PositiveIntegerField()
    method = models.CharField(max_length=10, choices=Method.choices)
    tools = JSONTextField(default=dict, help_text="Tool -> calls, in these messages.")

    class Meta:
        ordering = ["-id"]
        indexes = [models.Index(fields=["project", "conversation_id"], name="compaction_conversation")]

    def __str__(self) -> str:
        return f"{self.conversation_id}: {self.messages}"
