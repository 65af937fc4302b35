"""Runs of consolidation: what each read and made, without a text of any memory."""

from typing import Any

from django.db import models
from django.utils.translation import gettext_lazy as _

from memory.db.fields import JSONTextField
from memory.models import Branch
from memory.models.projects import ProjectRow

COUNTS = ("messages", "observations", "created", "updated", "deduplicated")
# The prompt of runs that ask what new statements replace; a changed one is a new file.
VERDICTS = "standing-1"


class ConsolidationRun(ProjectRow):
    """One consolidation of a session, an agent's facts or a task; what it did is read from its commits."""

    class Level(models.TextChoices):
        SESSION = "session", _("session")
        AGENT = "agent", _("agent")
        TASK = "task", _("task")
        DREAMING = "dreaming", _("dreaming")

    class State(models.TextChoices):
        QUEUED = "queued", _("queued")
        RUNNING = "running", _("running")
        DONE = "done", _("done")
        PARTIAL = "partial", _("partial")
        FAILED = "failed", _("failed")
        UNDONE = "undone", _("undone")

    class Mode(models.TextChoices):
        RULES = "rules", _("rules")
        LLM = "llm", _("language model")

    # Set on the answer of a run that was rolled back.
    dry_run = False
    # Set where it is shown, see conversations.views.consolidation.
    sentence: str
    kind: Any

    branch = models.ForeignKey(Branch, on_delete=models.CASCADE, related_name="+")
    level = models.CharField(max_length=10, choices=Level.choices)
    target = models.CharField(max_length=200, help_text="A session, an agent, a task or a branch.")
    state = models.CharField(max_length=10, choices=State.choices, default=State.RUNNING)
    mode = models.CharField(max_length=10, choices=Mode.choices, default=Mode.RULES)
    messages = models.PositiveIntegerField(default=0, help_text="Messages that no run had read before.")
    observations = models.PositiveIntegerField(default=0, help_text="Observations, or facts, that it read.")
    created = models.PositiveIntegerField(default=0)
    updated = models.PositiveIntegerField(default=0)
    deduplicated = models.PositiveIntegerField(default=0)
    durable = models.PositiveIntegerField(default=0, help_text="Of a task: facts that outlive it.")
    model = models.CharField(max_length=200, blank=True, default="")
    prompt = models.CharField(max_length=50, blank=True, default="")
    calls = models.PositiveIntegerField(default=0, help_text="Of the language model.")
    input_tokens = models.PositiveBigIntegerField(default=0)
    output_tokens = models.PositiveBigIntegerField(default=0)
    commits = JSONTextField(default=list, help_text="Ids of its commits, in their order.")
    # Fact -> {"answer", "by", "at", "commit"}: what curators said of single changes.
    answers = JSONTextField(default=dict)
    note = models.CharField(max_length=500, blank=True, default="", help_text="What fell short.")
    merge_request = models.PositiveIntegerField(null=True, help_text="Of dreaming: its number.")
    recall = models.CharField(max_length=500, blank=True, default="", help_text="What the recall gate said.")
    cycle = models.BigIntegerField(null=True, help_text="Of dreaming: the branch's counter of turns.")
    read_to = models.DateTimeField(null=True, help_text="The time of the last commit that it read.")
    # Project, branch, level and target while it runs, else NULL: one run at a time.
    slot = models.CharField(max_length=300, null=True, unique=True)
    lease_until = models.DateTimeField(null=True)
    started_at = models.DateTimeField()
    finished_at = models.DateTimeField(null=True, blank=True)
    created_by = models.CharField(max_length=200, blank=True)
    undone_at = models.DateTimeField(null=True, blank=True)
    undone_by = models.CharField(max_length=200, blank=True, default="")

    class Meta:
        ordering = ["-id"]
        indexes = [models.Index(fields=["branch", "level", "target"], name="consolidation_target")]

    def __str__(self) -> str:
        return f"{self.level} {self.target}: {self.state}"

    @property
    def yield_rate(self) -> float | None:
        """Return facts created by memories read, None where nothing was read."""
        read = self.messages + self.observations
        return round(self.created / read, 4) if read else None
