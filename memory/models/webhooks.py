"""Webhooks: addresses that a project's events are sent to, and the events that they did not take."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from memory.db.fields import JSONTextField
from memory.models.nodes import uuid7
from memory.models.projects import ProjectRow


class Webhook(ProjectRow):
    """An address that gets the events after ``position`` in the sealed trail, one after the other."""

    class State(models.TextChoices):
        ACTIVE = "active", _("active")
        PAUSED = "paused", _("paused")
        GONE = "gone", _("turned off by its receiver")

    url = models.CharField(max_length=500)
    kinds = JSONTextField(default=list)
    branches = JSONTextField(default=list)
    state = models.CharField(max_length=10, choices=State.choices, default=State.ACTIVE)
    # Both sealed with the secret key of the server; the old one signs, too, until its time is over.
    secret = models.CharField(max_length=300, editable=False)
    old_secret = models.CharField(max_length=300, blank=True, editable=False)
    old_secret_until = models.DateTimeField(null=True, editable=False)
    position = models.BigIntegerField(help_text="The last event that it got, did not want or did not take.")
    tries = models.PositiveSmallIntegerField(default=0, help_text="Of the next event, in vain.")
    next_try_at = models.DateTimeField(null=True)
    tried_at = models.DateTimeField(null=True)
    claimed_until = models.DateTimeField(null=True, editable=False)
    last_error = models.CharField(max_length=200, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.CharField(max_length=200, blank=True)
    created_by_kind = models.CharField(max_length=10, blank=True)
    created_by_id = models.CharField(max_length=64, blank=True)

    def __str__(self) -> str:
        return self.url


class WebhookFailure(models.Model):
    """An event that a webhook did not take in all its tries; what it says is read from the trail."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    webhook = models.ForeignKey(Webhook, on_delete=models.CASCADE, related_name="failures")
    position = models.BigIntegerField()
    kind = models.CharField(max_length=60)
    reason = models.CharField(max_length=200)
    failed_at = models.DateTimeField()
    is_due = models.BooleanField(default=False, help_text="Whether somebody asked to send it again.")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["webhook", "position"], name="one_failure_of_an_event")
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.position}"

    @property
    def again(self) -> str:
        """Return the value of the button that sends it again."""
        return f"again:{self.position}"
