"""Quarantines: a source whose memory, and what is derived from it, is hidden until it is released."""

from typing import Any

from django.db import models

from memory.db.fields import JSONTextField
from memory.models.nodes import uuid7
from memory.models.projects import MadeRow, Project


class Quarantine(MadeRow):
    """The decision to hide a source. What it hides are rows of memory's HiddenVersion."""

    class Source(models.TextChoices):
        SESSION = "session"
        AGENT = "agent"
        KEY = "key"
        IMPORT = "import"

    class State(models.TextChoices):
        ACTIVE = "active"
        RELEASED = "released"

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="quarantines")
    source = models.CharField(max_length=10, choices=Source.choices)
    target = models.CharField(max_length=200, help_text="A session, an agent, a key's id or a commit's id.")
    label = models.CharField(max_length=200, blank=True, help_text="What people call the target.")
    reason = models.CharField(max_length=500, blank=True)
    counts = JSONTextField(default=dict, help_text="Kind of memory -> number, when it was begun.")
    released_at = models.DateTimeField(null=True, blank=True)
    released_by = models.CharField(max_length=200, blank=True)
    # Source and target while it is active, else NULL: a source is in quarantine once.
    slot = models.CharField(max_length=300, null=True, unique=True)

    # Set where it is shown.
    kind: Any
    shown_counts: list[tuple[Any, int]]

    class Meta:
        ordering = ["-created_at"]
        indexes = [models.Index(fields=["project", "released_at"], name="quarantine_active")]

    def __str__(self) -> str:
        return f"{self.source} {self.label or self.target}"

    @property
    def state(self) -> str:
        return (self.State.RELEASED if self.released_at else self.State.ACTIVE).value
