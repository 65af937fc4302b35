"""Erasures: what was removed for good, without the content; and versions that quarantines hide."""

from uuid import UUID, uuid5

from django.db import models
from django_mysql.models import FixedCharField

from memory.db.fields import JSONTextField
from memory.models.nodes import uuid7
from memory.models.projects import Project


class Erasure(models.Model):
    """The erasure of a memory, a session, an agent, a person, or of everything that contains a text."""

    class Scope(models.TextChoices):
        FACT = "fact"
        SESSION = "session"
        AGENT = "agent"
        ACTOR = "actor"
        USER = "user"  # an end user
        APP = "app"
        MATCH = "match"
        MEMORY = "memory"

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
    to_drop = JSONTextField(default=list, help_text="Copies of the store that are still to be dropped.")
    dropped = JSONTextField(default=list, help_text="Names of the copies of the store that were dropped.")
    proof = FixedCharField(max_length=64, blank=True, help_text="SHA-256 over the digests of all memories.")
    requested_at = models.DateTimeField()
    requested_by = models.CharField(max_length=200, blank=True)
    requested_by_kind = models.CharField(max_length=10, blank=True, default="")
    requested_by_id = models.CharField(max_length=64, blank=True, default="")
    blanked_at = models.DateTimeField(null=True, help_text="When the last row was overwritten.")
    done_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-requested_at"]
        indexes = [models.Index(fields=["project", "state"], name="erasure_state")]

    def __str__(self) -> str:
        return f"{self.scope} {self.target}".strip()

    @property
    def undropped(self) -> list[str]:
        """Return the names of the copies that are still to be dropped."""
        return [f"{one['kind']} {one['name']}".strip() for one in self.to_drop]


class ErasedMemory(models.Model):
    """A memory that was erased, on every branch: no merge, import or restore brings it back.

    The key is made of project, kind and id: after an import two projects may list the same id.
    """

    id = models.UUIDField(primary_key=True, editable=False)
    uid = models.UUIDField(editable=False)
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+", db_index=False)
    erasure = models.ForeignKey(Erasure, on_delete=models.CASCADE, related_name="memories")
    kind = models.CharField(max_length=30, help_text="fact, message, …; session; source: an id in a file.")
    salt = FixedCharField(max_length=64, blank=True, help_text="The digest's key, destroyed afterwards.")
    digest = FixedCharField(max_length=64, blank=True, help_text="HMAC over the content of all versions.")

    class Meta:
        indexes = [
            models.Index(fields=["project", "kind"], name="erased_kind"),
            models.Index(fields=["project", "uid"], name="erased_uid"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.uid}"


def build_erased_key(project_id: UUID, kind: str, uid: UUID) -> UUID:
    """Return the key of a row: one column, as compound unique keys fail in bulk inserts on MatrixOne."""
    return uuid5(project_id, f"{kind}:{uid}")


class HiddenVersion(models.Model):
    """A version that one quarantine hides; the row goes when that quarantine is released.

    ``vid`` names a version across branches, so that a copy that a merge brought is hidden too.
    """

    id = models.BigAutoField(primary_key=True)
    quarantine = models.UUIDField(default=uuid7)
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+", db_index=False)
    kind = models.CharField(max_length=30)
    uid = models.UUIDField()
    vid = models.BigIntegerField()

    class Meta:
        indexes = [
            models.Index(fields=["vid"], name="hidden_vid"),
            models.Index(fields=["quarantine", "kind"], name="hidden_quarantine"),
            models.Index(fields=["uid"], name="hidden_uid"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.uid}"
