"""Erasures: what was removed for good, without the content."""

from django.db import models
from django_mysql.models import FixedCharField

from memory.db.fields import JSONTextField
from memory.models.nodes import uuid7
from memory.models.projects import Project


class Erasure(models.Model):
    """The erasure of a fact, a session, an agent, or of everything that contains a text."""

    class Scope(models.TextChoices):
        FACT = "fact"
        SESSION = "session"
        AGENT = "agent"
        MATCH = "match"

    class State(models.TextChoices):
        PENDING = "pending"
        DONE = "done"

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="erasures")
    scope = models.CharField(max_length=10, choices=Scope.choices)
    target = models.CharField(max_length=200, blank=True, help_text="An id; empty for a text.")
    pattern = models.TextField(blank=True, help_text="The text that was matched, until the erasure is done.")
    state = models.CharField(max_length=10, choices=State.choices, default=State.PENDING)
    waits_for = models.CharField(max_length=500, blank=True, help_text="Why it is not done yet.")
    counts = JSONTextField(default=dict, help_text="Kind of memory -> number.")
    dropped = JSONTextField(default=list, help_text="Names of the copies of the store that were dropped.")
    proof = FixedCharField(max_length=64, blank=True, help_text="SHA-256 over the digests of all memories.")
    requested_at = models.DateTimeField()
    requested_by = models.CharField(max_length=200, blank=True)
    blanked_at = models.DateTimeField(null=True, help_text="When the last row was overwritten.")
    done_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-requested_at"]
        indexes = [models.Index(fields=["project", "state"], name="erasure_state")]

    def __str__(self) -> str:
        return f"{self.scope} {self.target}".strip()


class ErasedMemory(models.Model):
    """A memory that was erased, on every branch: no merge, import or restore brings it back."""

    uid = models.UUIDField(primary_key=True, editable=False)
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+", db_index=False)
    erasure = models.ForeignKey(Erasure, on_delete=models.CASCADE, related_name="memories")
    kind = models.CharField(max_length=30, help_text="fact, message, …; session; source: an id in a file.")
    salt = FixedCharField(max_length=64, blank=True, help_text="The digest's key, destroyed afterwards.")
    digest = FixedCharField(max_length=64, blank=True, help_text="HMAC over the content of all versions.")

    class Meta:
        indexes = [models.Index(fields=["project", "kind"], name="erased_kind")]
