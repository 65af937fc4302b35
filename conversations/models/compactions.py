"""Compactions: summaries of the earlier part of long conversations, whose messages stay as they are."""

from django.db import models

from memory.db.fields import JSONTextField
from memory.models import Branch, Project
from memory.models.nodes import uuid7


class Compaction(models.Model):
    """A summary of a conversation's messages up to one of them, as they were when it was made."""

    class Method(models.TextChoices):
        RULES = "rules"
        CALLER = "caller"

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
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
    created_at = models.DateTimeField()
    created_by = models.CharField(max_length=200, blank=True)

    class Meta:
        ordering = ["-id"]
        indexes = [models.Index(fields=["project", "conversation_id"], name="compaction_conversation")]

    def __str__(self) -> str:
        return f"{self.conversation_id}: {self.messages}"
