"""Conversations. Their counts (messages, tokens) are computed when they are read."""

from typing import Any, ClassVar

from django.db import models

from memory.models import BranchedModel
from memory.models.base import ERASED_MARK


class Conversation(BranchedModel):
    class Status(models.TextChoices):
        ACTIVE = "active"
        COMPLETED = "completed"
        ARCHIVED = "archived"

    ERASED: ClassVar[dict[str, Any]] = {"title": ERASED_MARK}

    # Set by conversations.engines.conversations.
    message_count: int
    total_tokens: int

    title = models.CharField(max_length=300, blank=True, default="")
    status = models.CharField(max_length=10, choices=Status.choices, default=Status.ACTIVE)
    model = models.CharField(max_length=200, blank=True, default="")

    class Meta(BranchedModel.Meta):
        indexes = [
            *BranchedModel.Meta.indexes,
            models.Index(fields=["branch", "session_id", "uid"], name="conversation_bsession"),
        ]

    def __str__(self) -> str:
        return self.title or str(self.uid)
