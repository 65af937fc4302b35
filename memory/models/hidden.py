"""Hidden versions: what quarantines hide, on every branch that shows it. No version is changed by it."""

from django.db import models

from memory.models.nodes import uuid7
from memory.models.projects import Project


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
