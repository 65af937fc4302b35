"""Handoffs: frozen packets of what one agent, or one session, leaves for the next."""

from django.db import models

from memory.db.fields import JSONTextField
from memory.models.base import DeletableModel
from memory.models.branches import Branch
from memory.models.projects import MadeRow, ProjectRow


class HandoffManager(models.Manager["Handoff"]):
    """The handoffs that are there."""

    def get_queryset(self) -> models.QuerySet["Handoff"]:
        return super().get_queryset().filter(deleted_at=None)


class Handoff(ProjectRow, MadeRow, DeletableModel):
    """A packet from one branch to another, or to the next session on the same one.

    Its content is a copy: later changes of the facts do not reach it, only erasures do.
    """

    class Type(models.TextChoices):
        TASK_CONTINUATION = "task_continuation"
        AGENT_SWITCH = "agent_switch"
        SESSION_HANDOFF = "session_handoff"
        ESCALATION = "escalation"

    class State(models.TextChoices):
        PENDING = "pending"
        ACCEPTED = "accepted"
        REJECTED = "rejected"

    class Verification(models.TextChoices):
        VERIFIED = "verified"
        PARTIAL = "partial"
        EMPTY = "empty"

    source = models.ForeignKey(Branch, on_delete=models.CASCADE, related_name="+")
    target = models.ForeignKey(Branch, on_delete=models.CASCADE, related_name="+")
    handoff_type = models.CharField(max_length=20, choices=Type.choices)
    to_agent = models.CharField(max_length=200, blank=True, help_text="Whom it is for; empty: anybody there.")
    context_summary = models.TextField(blank=True)
    instructions = models.TextField(blank=True)
    blockers = JSONTextField(default=list)
    facts = JSONTextField(default=list)
    conversations = JSONTextField(default=list)
    left_out = JSONTextField(default=dict, help_text="Why facts are not in it -> how many.")
    verification_status = models.CharField(max_length=10, choices=Verification.choices)
    fact_count = models.PositiveIntegerField(default=0)
    message_count = models.PositiveIntegerField(default=0)
    sha256 = models.CharField(max_length=64, help_text="Of the content; made anew by an erasure.")
    hidden = models.BooleanField(default=False, help_text="Whether a quarantine hides it.")
    state = models.CharField(max_length=10, choices=State.choices, default=State.PENDING)
    reason = models.CharField(max_length=1000, blank=True, help_text="Why it was rejected.")
    session_id = models.CharField(max_length=200, blank=True, help_text="The session that hands over.")
    task_id = models.CharField(max_length=200, blank=True)
    agent_id = models.CharField(max_length=200, blank=True)
    owner = models.CharField(max_length=100, help_text="The key or user that made it.")
    read_at = models.DateTimeField(null=True, blank=True, help_text="When a receiver first read it.")
    decided_at = models.DateTimeField(null=True, blank=True)
    decided_by = models.CharField(max_length=200, blank=True)

    objects = HandoffManager()
    every = models.Manager["Handoff"]()

    class Meta:
        ordering = ["-id"]
        indexes = [
            models.Index(fields=["project", "state"], name="handoff_state"),
            models.Index(fields=["target", "state"], name="handoff_target"),
        ]

    def __str__(self) -> str:
        return f"{self.handoff_type} {self.id}"
