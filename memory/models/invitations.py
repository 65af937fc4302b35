"""Invitations: links that make whoever opens one a member of a project."""

from django.db import models
from django.utils import timezone
from django_mysql.models import FixedCharField

from memory.models.nodes import uuid7
from memory.models.projects import Membership, Project


class Invitation(models.Model):
    """A link with a role, for a number of people, until a time. Only the hash of its secret is stored."""

    class State(models.TextChoices):
        OPEN = "open"
        USED = "used"
        EXPIRED = "expired"
        REVOKED = "revoked"

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="invitations")
    role = models.CharField(max_length=20, choices=Membership.Role.choices)
    note = models.CharField(max_length=200, blank=True, help_text="For whom it is.")
    secret_hash = FixedCharField(max_length=64, unique=True, editable=False)
    max_uses = models.PositiveIntegerField(default=1)
    uses = models.PositiveIntegerField(default=0)
    expires_at = models.DateTimeField()
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.CharField(max_length=200, blank=True)
    created_by_kind = models.CharField(max_length=10, blank=True, default="")
    created_by_id = models.CharField(max_length=64, blank=True, default="")
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return f"{self.role} {self.note}".strip()

    @property
    def state(self) -> str:
        """Return whether it can be accepted now, or why not."""
        if self.revoked_at:
            return self.State.REVOKED.value
        if self.uses >= self.max_uses:
            return self.State.USED.value
        return (self.State.EXPIRED if self.expires_at <= timezone.now() else self.State.OPEN).value
