"""Snapshots and workspaces. These rows describe what exists; no restore reverts them."""

from typing import Self

from django.db import models
from django_mysql.models import FixedCharField

from memory.db.fields import JSONTextField
from memory.models.branches import Branch
from memory.models.nodes import uuid7
from memory.models.projects import MadeRow, Project


class Snapshot(MadeRow):
    """A point of one branch (branch and seq), or a frozen copy of the store with the seqs of all branches."""

    class Kind(models.TextChoices):
        BRANCH = "branch"
        STORE = "store"

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="snapshots")
    name = models.CharField(max_length=100)
    kind = models.CharField(max_length=10, choices=Kind.choices)
    description = models.CharField(max_length=500, blank=True)
    # The engine checks the reference: the production database skips it when another key is NULL.
    branch = models.ForeignKey(
        Branch, on_delete=models.PROTECT, null=True, related_name="snapshots", db_constraint=False
    )
    seq = models.BigIntegerField(null=True)
    points = JSONTextField(default=dict, help_text="Of the store: branch -> [head, whether archived].")
    copy = models.CharField(max_length=60, blank=True, help_text="What the database calls the frozen copy.")
    size = models.BigIntegerField(default=0, help_text="Bytes of its file, where it is one.")
    sha256 = FixedCharField(max_length=64, blank=True)

    class Meta:
        ordering = ["-created_at"]
        constraints = [models.UniqueConstraint(fields=["project", "name"], name="one_snapshot_of_a_name")]

    def __str__(self) -> str:
        return self.name

    def get_seq(self, branch: Branch) -> int | None:
        """Return a branch's seq at this snapshot; None when it is not part of it."""
        if self.kind == self.Kind.BRANCH:
            return self.seq if self.branch_id == branch.pk else None
        return self.points.get(str(branch.pk), (None,))[0]


class WorkspaceQuerySet(models.QuerySet["Workspace"]):
    def open(self) -> Self:
        return self.filter(state=Workspace.State.OPEN)


class Workspace(MadeRow):
    """A writable copy of the whole store for risky work: promoted as a whole, or dropped."""

    class State(models.TextChoices):
        OPEN = "open"
        PROMOTED = "promoted"
        DROPPED = "dropped"

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="workspaces")
    name = models.CharField(max_length=100)
    # The name while it is open, else NULL: a name may be reused, but only one open workspace has it.
    slot = models.CharField(max_length=140, null=True, unique=True)
    description = models.CharField(max_length=500, blank=True)
    state = models.CharField(max_length=10, choices=State.choices, default=State.OPEN)
    points = JSONTextField(default=dict, help_text="Branch -> [head, whether archived] when it was made.")
    copy = models.CharField(max_length=60, help_text="What the database calls the copy.")
    place = models.CharField(max_length=300, help_text="The data directory or database to start a server on.")
    ended_at = models.DateTimeField(null=True, blank=True)
    ended_by = models.CharField(max_length=200, blank=True)

    objects = WorkspaceQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return self.name
