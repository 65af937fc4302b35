"""Tasks of agents: each has a branch, objectives and agents at work on it. Celery's are in tasks.py."""

from django.db import models

from memory.db.fields import JSONTextField
from memory.models.branches import Branch
from memory.models.nodes import uuid7
from memory.models.projects import MadeRow, Project


class AgentTask(MadeRow):
    """A piece of work that agents share. Its branch is ``task/<slug>``, so the project has a slug once."""

    class State(models.TextChoices):
        ACTIVE = "active"
        COMPLETED = "completed"
        CANCELLED = "cancelled"

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="agent_tasks")
    name = models.CharField(max_length=200)
    slug = models.CharField(max_length=60)
    task_type = models.CharField(max_length=60, blank=True)
    description = models.TextField(blank=True)
    branch = models.ForeignKey(Branch, on_delete=models.CASCADE, related_name="+")
    parent = models.ForeignKey(Branch, on_delete=models.CASCADE, related_name="+")
    state = models.CharField(max_length=20, choices=State.choices, default=State.ACTIVE)
    owner = models.CharField(max_length=100, help_text="The key or user that made it.")
    completed_at = models.DateTimeField(null=True, blank=True)
    merge_request_id = models.UUIDField(null=True, blank=True)
    durable = models.PositiveIntegerField(default=0, help_text="Facts that its merge request offers.")
    result = models.CharField(max_length=2000, blank=True, help_text="What came of it, in a person's words.")

    # Set where it is shown, see memory.engines.agent_tasks.engine.
    steps: "list[TaskObjective]"
    parts: "list[TaskAgent]"

    class Meta:
        ordering = ["-id"]
        constraints = [models.UniqueConstraint(fields=["project", "slug"], name="one_task_of_a_slug")]
        indexes = [models.Index(fields=["project", "state"], name="task_state")]

    def __str__(self) -> str:
        return self.slug


class TaskObjective(models.Model):
    """A step of a task, numbered from 1."""

    class State(models.TextChoices):
        OPEN = "todo"
        ACTIVE = "active"
        DONE = "done"
        BLOCKED = "blocked"

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    task = models.ForeignKey(AgentTask, on_delete=models.CASCADE, related_name="objectives")
    n = models.PositiveSmallIntegerField()
    text = models.CharField(max_length=500)
    state = models.CharField(max_length=10, choices=State.choices, default=State.OPEN)
    note = models.CharField(max_length=1000, blank=True)
    agent_id = models.CharField(max_length=200, blank=True)
    updated_at = models.DateTimeField()

    class Meta:
        ordering = ["n"]
        constraints = [models.UniqueConstraint(fields=["task", "n"], name="one_objective_of_a_number")]

    def __str__(self) -> str:
        return f"{self.n}. {self.text}"


class TaskAgent(models.Model):
    """An agent at work on a task, on the branch ``task/<slug>/<agent>``."""

    class State(models.TextChoices):
        WORKING = "working"
        COMPLETED = "completed"
        LEFT = "left"

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    task = models.ForeignKey(AgentTask, on_delete=models.CASCADE, related_name="agents")
    agent_id = models.CharField(max_length=200)
    branch = models.ForeignKey(Branch, on_delete=models.CASCADE, related_name="+")
    owner = models.CharField(max_length=100, help_text="The key or user that joined it.")
    state = models.CharField(max_length=10, choices=State.choices, default=State.WORKING)
    joined_at = models.DateTimeField()
    completed_at = models.DateTimeField(null=True, blank=True)
    merge_commit = models.UUIDField(null=True, blank=True)
    merge_counts = JSONTextField(default=dict, help_text="Kind of memory -> class -> number.")
    open_conflicts = models.PositiveIntegerField(default=0, help_text="That its merge left for a decision.")

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["task", "agent_id"], name="one_part_of_an_agent")]

    def __str__(self) -> str:
        return self.agent_id
