"""Sessions of agents, the handles by which their calls go on, and which hook events were ingested."""

from django.db import models
from django.utils import timezone
from django_mysql.models import FixedCharField

from memory.db.fields import JSONTextField
from memory.models.base import DeletableModel
from memory.models.branches import Branch
from memory.models.end_users import OfEndUser
from memory.models.projects import Project


class Session(OfEndUser, DeletableModel):
    """A run of an agent. ``key`` is the client's own id, unique in the project.

    ``deleted_at`` is the time of the commit that deleted what it has.
    """

    class Status(models.TextChoices):
        ACTIVE = "active"
        COMPLETED = "completed"
        ABANDONED = "abandoned"

    title: str  # what a person first asked for in it, where it is shown

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="sessions")
    key = models.CharField(max_length=200)
    branch = models.ForeignKey(Branch, on_delete=models.CASCADE, related_name="sessions")
    project_path = models.CharField(max_length=1000, blank=True)
    parent_session = models.CharField(max_length=200, blank=True)
    task_id = models.CharField(max_length=200, blank=True)
    agent_id = models.CharField(max_length=200, blank=True)
    status = models.CharField(max_length=20, choices=Status.choices, default=Status.ACTIVE)
    summary = models.TextField(blank=True)
    context = models.TextField(blank=True, default="", help_text="What Day1 told the agent at its start.")
    recalled = JSONTextField(
        default=dict, help_text="Ids of the memories that came with a prompt, by prompt."
    )
    brought_by = models.CharField(
        max_length=64, blank=True, default="", help_text="The key with which hooks bring its events."
    )
    captured = models.BigIntegerField(default=0, help_text="Bytes of long texts that hooks brought.")
    started_at = models.DateTimeField()
    active_at = models.DateTimeField(null=True, blank=True, help_text="When it was last heard of.")
    ended_at = models.DateTimeField(null=True, blank=True)
    erased_at = models.DateTimeField(null=True, blank=True, help_text="Since when it takes nothing more.")
    hidden = models.BooleanField(default=False, help_text="Whether a quarantine hides it and its summary.")
    consolidated_at = models.DateTimeField(null=True, blank=True, help_text="Up to when it was learned from.")

    compared_to = models.UUIDField(
        null=True, blank=True, help_text="The last message whose sentences were compared with decisions."
    )

    class Meta:
        ordering = ["-started_at"]
        indexes = [
            models.Index(
                fields=["brought_by", "status"],
                condition=models.Q(brought_by__gt=""),
                name="session_brought_by",
            )
        ]
        constraints = [models.UniqueConstraint(fields=["project", "key"], name="one_session_of_a_key")]

    def __str__(self) -> str:
        return self.key


class WorkHandle(models.Model):
    """A branch and a repository under a secret name of its owner. Only the hash of the name is stored."""

    hash = FixedCharField(max_length=64, primary_key=True)
    branch = models.ForeignKey(Branch, on_delete=models.CASCADE, related_name="+")
    repository = models.CharField(max_length=1000, blank=True, default="")
    owner = models.CharField(max_length=100, help_text="The key or user that it is bound to.")
    used_at = models.DateTimeField(default=timezone.now, db_index=True)


class IngestedEvent(models.Model):
    """One event, by a hash of its client, session, agent, name and own id: it is ingested only once."""

    id = FixedCharField(max_length=64, primary_key=True)
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    at = models.DateTimeField(db_index=True)
