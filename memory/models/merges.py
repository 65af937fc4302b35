"""Merge requests: a proposal to merge a branch, its decisions on conflicts, and its approvals.

These rows describe what people and agents decided; no revert or restore of a branch changes them.
"""

from collections.abc import Collection
from datetime import datetime
from typing import Self
from uuid import UUID

from django.db import models
from django.db.models import F

from memory.db.fields import JSONTextField
from memory.models.branches import Branch, Commit
from memory.models.nodes import uuid7
from memory.models.projects import Project


class MergeRequestQuerySet(models.QuerySet["MergeRequest"]):
    def with_live_approvals(self) -> Self:
        """Filter pending requests that somebody approved after the newest commit of their source."""
        live = self.filter(state__in=MergeRequest.PENDING, approvals__source_seq=F("source__head"))
        return live.distinct()

    def in_state(self, state: str, approved: Collection[UUID]) -> Self:
        """Filter by state; ``approved`` are the pending requests whose approvals suffice now."""
        match state:
            case MergeRequest.State.APPROVED:
                return self.filter(pk__in=approved)
            case MergeRequest.State.OPEN:
                return self.filter(state__in=MergeRequest.PENDING).exclude(pk__in=approved)
        return self.filter(state=state)


class MergeRequest(models.Model):
    """A request to merge one branch into another; while it is pending, the pair has no other."""

    class State(models.TextChoices):
        OPEN = "open"
        APPROVED = "approved"
        MERGED = "merged"
        REVERTED = "reverted"
        REJECTED = "rejected"

    class Strategy(models.TextChoices):
        AUTO = "auto"
        OURS = "ours"
        THEIRS = "theirs"
        CHERRY_PICK = "cherry_pick"
        SQUASH = "squash"
        FAST_FORWARD = "fast_forward"

    PENDING = (State.OPEN, State.APPROVED)

    known_approvals: "list[MergeApproval]"  # where they were read with it

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="merge_requests")
    number = models.PositiveIntegerField(help_text="Counted in the project, from 1.")
    title = models.CharField(max_length=200)
    description = models.TextField(blank=True, default="")
    source = models.ForeignKey(Branch, on_delete=models.PROTECT, related_name="merge_requests")
    target = models.ForeignKey(Branch, on_delete=models.PROTECT, related_name="+")
    strategy = models.CharField(max_length=20, choices=Strategy.choices, default=Strategy.AUTO)
    ids = JSONTextField(default=list, help_text="The memories that cherry_pick takes.")
    state = models.CharField(max_length=10, choices=State.choices, default=State.OPEN)
    # Source and target while it is pending, else NULL: a pair has one request at a time.
    slot = models.CharField(max_length=60, null=True, unique=True)
    author_kind = models.CharField(max_length=10)
    author_id = models.CharField(max_length=64, blank=True)
    author_label = models.CharField(max_length=200, blank=True)
    author_agent = models.CharField(max_length=200, blank=True)
    created_at = models.DateTimeField()
    source_seq = models.BigIntegerField(default=0, help_text="Of the source, when it was checked last.")
    target_seq = models.BigIntegerField(default=0, help_text="Of the target, when it was checked last.")
    decided_at = models.DateTimeField(
        null=True, blank=True, help_text="When a decision was last made or withdrawn: it ends approvals."
    )
    approved_seq = models.BigIntegerField(null=True, help_text="Of the source, when it was approved.")
    closed_at = models.DateTimeField(null=True, blank=True)
    closed_by = models.CharField(max_length=200, blank=True, default="")
    closed_by_kind = models.CharField(max_length=10, blank=True, default="")
    reason = models.CharField(max_length=500, blank=True, default="", help_text="Why it was rejected.")
    # The engine checks the references: the production database skips keys that are NULL.
    merge_commit = models.ForeignKey(
        Commit, on_delete=models.PROTECT, null=True, related_name="+", db_constraint=False
    )
    revert_commit = models.ForeignKey(
        Commit, on_delete=models.PROTECT, null=True, related_name="+", db_constraint=False
    )

    objects = MergeRequestQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at"]
        constraints = [models.UniqueConstraint(fields=["project", "number"], name="one_request_of_a_number")]
        indexes = [models.Index(fields=["project", "state"], name="request_state")]

    def __str__(self) -> str:
        return f"#{self.number} {self.title}"

    def get_ids(self) -> tuple[UUID, ...]:
        """Return the memories that cherry_pick takes."""
        return tuple(UUID(uid) for uid in self.ids)

    @property
    def pending(self) -> bool:
        return self.state in self.PENDING

    @property
    def decided_or_opened_at(self) -> datetime:
        """Return when a decision was last made or withdrawn; that of a request without any is its opening."""
        return self.decided_at or self.created_at

    @property
    def current_state(self) -> str:
        """Return the state; an approval that is older than the source's newest commit counts no more."""
        outdated = self.state == self.State.APPROVED and self.approved_seq != self.source.head
        return self.State.OPEN if outdated else self.state


class MergeDecision(models.Model):
    """What was decided about one conflict; the latest decision replaces an earlier one.

    ``token`` names both versions that were read: a conflict that changed since is undecided again.
    """

    class Choice(models.TextChoices):
        SOURCE = "source"
        TARGET = "target"
        BOTH = "both"
        EDITED = "edited"
        SKIP = "skip"

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    request = models.ForeignKey(MergeRequest, on_delete=models.CASCADE, related_name="decisions")
    kind = models.CharField(max_length=20)
    uid = models.UUIDField()
    token = models.CharField(max_length=64)
    choice = models.CharField(max_length=10, choices=Choice.choices)
    text = models.TextField(blank=True, default="")
    by = models.CharField(max_length=200, blank=True)
    by_kind = models.CharField(max_length=10, blank=True, default="")
    at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["request", "kind", "uid"], name="one_decision_of_a_conflict")
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.uid}: {self.choice}"


class MergeApproval(models.Model):
    """An approval of a merge request, for the source as it was at ``source_seq``."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    request = models.ForeignKey(MergeRequest, on_delete=models.CASCADE, related_name="approvals")
    actor_kind = models.CharField(max_length=10)
    actor_id = models.CharField(max_length=64, blank=True)
    actor_label = models.CharField(max_length=200, blank=True)
    at = models.DateTimeField()
    source_seq = models.BigIntegerField()

    class Meta:
        ordering = ["at"]

    def __str__(self) -> str:
        return f"{self.request_id} {self.actor_label}"


class MergeWithdrawal(models.Model):
    """An approval, or some decisions, that were taken back: their own rows are gone."""

    class Subject(models.TextChoices):
        APPROVAL = "approval"
        DECISION = "decision"

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    request = models.ForeignKey(MergeRequest, on_delete=models.CASCADE, related_name="withdrawals")
    subject = models.CharField(max_length=10, choices=Subject.choices)
    count = models.PositiveIntegerField(default=1)
    by = models.CharField(max_length=200, blank=True)
    by_kind = models.CharField(max_length=10, blank=True, default="")
    at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.request_id} {self.subject} {self.by}"
