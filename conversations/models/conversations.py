"""Conversations. Their counts (messages, tokens) are computed when they are read."""

from typing import Any, ClassVar

from django.db import models

from memory.models import BranchedModel
from memory.models.base import ERASED_MARK
from memory.models.kinds import MemoryKind


class Conversation(BranchedModel):
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
