"""API keys, and stored answers that make a repeated request safe."""

from django.db import models
from django.utils import timezone
from django_mysql.models import FixedCharField

from memory.db.fields import JSONTextField
from memory.models.connections import Connection
from memory.models.end_users import OfEndUser
from memory.models.nodes import uuid7
from memory.models.projects import Project


class ApiKeyQuerySet(models.QuerySet["ApiKey"]):
    def in_state(self, state: str) -> "ApiKeyQuerySet":
        """Return the keys in a state now."""
        if state == ApiKey.State.REVOKED:
            return self.exclude(revoked_at=None)
        kept, over = self.filter(revoked_at=None), models.Q(expires_at__lte=timezone.now())
        return kept.filter(over) if state == ApiKey.State.EXPIRED else kept.exclude(over)


class ApiKey(OfEndUser):
    """The identity and rights of an agent. Only the hash of the secret is stored."""

    class State(models.TextChoices):
        VALID = "valid"
        EXPIRED = "expired"
        REVOKED = "revoked"

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    project = models.ForeignKey(
        Project, on_delete=models.CASCADE, related_name="keys", null=True, help_text="Empty: of the server."
    )
    label = models.CharField(max_length=200)
    prefix = FixedCharField(max_length=8, unique=True, help_text="The shown part: day1_<prefix>_…")
    secret_hash = FixedCharField(max_length=64, editable=False)
    scopes = JSONTextField(default=list)
    branch_patterns = JSONTextField(default=list, help_text="Such as task/*; empty means every branch.")
    default_branch = models.CharField(
        max_length=200, blank=True, help_text="Where MCP works when a call names no branch; empty means main."
    )
    agent_id = models.CharField(max_length=200, blank=True, help_text="Bound to this agent when set.")
    rate_per_minute = models.PositiveIntegerField(default=6000)
    # The most that it may write, 0 for any number, and what it has written, counted while there is a bound.
    max_facts = models.BigIntegerField(default=0)
    max_bytes = models.BigIntegerField(default=0)
    max_daily_writes = models.BigIntegerField(default=0)
    max_streams = models.PositiveIntegerField(default=0)  # 0 is the server's default
    written_facts = models.BigIntegerField(default=0, editable=False)
    written_bytes = models.BigIntegerField(default=0, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.CharField(max_length=200, blank=True)
    created_by_kind = models.CharField(max_length=10, blank=True, default="")
    created_by_id = models.CharField(max_length=64, blank=True, default="")
    rotated_from = models.UUIDField(
        null=True,
        blank=True,
        editable=False,
        help_text="The key in whose place it is, unless it was taken over.",
    )
    connection = models.OneToOneField(
        Connection, on_delete=models.CASCADE, related_name="key", null=True, editable=False
    )
    expires_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True)
    addresses = JSONTextField(null=True, editable=False, help_text="From where it was used, but from here.")
    revoked_at = models.DateTimeField(null=True, blank=True)

    objects = ApiKeyQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return f"{self.label} ({self.prefix})"

    @property
    def quota_of_facts(self) -> str:
        """Return what it has written of the facts that it may write; "" where it may write any number."""
        return f"{self.written_facts:,} / {self.max_facts:,}" if self.max_facts else ""

    @property
    def ended(self) -> bool:
        """Return whether the key is revoked or expired."""
        return bool(self.revoked_at) or (self.expires_at is not None and self.expires_at <= timezone.now())


class IdempotencyRecord(models.Model):
    """The answer to a request with an Idempotency-Key; kept for 24 hours."""

    slot = FixedCharField(max_length=64, primary_key=True, help_text="Of project, key and route.")
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+", null=True)
    request_hash = FixedCharField(max_length=64)
    status = models.PositiveSmallIntegerField(default=0)
    body = models.TextField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True, db_index=True)
