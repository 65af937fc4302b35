"""Templates: named states of memory from which new work begins, in versions that never change."""

from django.db import models

from memory.db.fields import JSONTextField
from memory.models.branches import Branch
from memory.models.projects import MadeRow, ProjectRow


class Template(ProjectRow, MadeRow):
    """A named series of versions. What it says of itself may change; its versions do not."""

    class State(models.TextChoices):
        ACTIVE = "active"
        DEPRECATED = "deprecated"

    name = models.CharField(max_length=100)
    description = models.TextField(blank=True)
    task_types = JSONTextField(default=list, help_text="The kinds of work that it is for.")
    state = models.CharField(max_length=10, choices=State.choices, default=State.ACTIVE)
    reason = models.CharField(max_length=1000, blank=True, help_text="Why it is deprecated.")
    version = models.PositiveIntegerField(default=1, help_text="The newest one.")
    owner = models.CharField(max_length=100, help_text="The key or user that made it.")
    updated_at = models.DateTimeField(help_text="When its newest version was made.")

    # Set where it is shown, see curation.engines.templates.rows.
    used: int
    succeeded: int
    failed: int

    class Meta:
        ordering = ["name"]
        constraints = [models.UniqueConstraint(fields=["project", "name"], name="one_template_of_a_name")]

    def __str__(self) -> str:
        return self.name


class TemplateVersion(MadeRow):
    """A version: a read-only branch, forked from its source at a commit."""

    template = models.ForeignKey(Template, on_delete=models.CASCADE, related_name="versions")
    number = models.PositiveIntegerField()
    branch = models.ForeignKey(Branch, on_delete=models.CASCADE, related_name="+")
    source = models.ForeignKey(Branch, on_delete=models.CASCADE, related_name="+")
    source_seq = models.BigIntegerField(help_text="The commit of the source that it was forked at.")
    fact_count = models.PositiveIntegerField(default=0)
    conversation_count = models.PositiveIntegerField(default=0)
    relation_count = models.PositiveIntegerField(default=0)

    class Meta:
        ordering = ["template", "-number"]
        constraints = [models.UniqueConstraint(fields=["template", "number"], name="one_version_of_a_number")]

    def __str__(self) -> str:
        return f"version {self.number}"


class TemplateUse(MadeRow):
    """A branch that began from a version, and what came of the work on it."""

    class Outcome(models.TextChoices):
        OPEN = "open"
        SUCCESS = "success"
        FAILURE = "failure"

    version = models.ForeignKey(TemplateVersion, on_delete=models.CASCADE, related_name="uses")
    branch = models.OneToOneField(Branch, on_delete=models.CASCADE, related_name="+")
    outcome = models.CharField(max_length=10, choices=Outcome.choices, default=Outcome.OPEN)
    task_id = models.CharField(max_length=200, blank=True)
    agent_id = models.CharField(max_length=200, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"use {self.pk}"
