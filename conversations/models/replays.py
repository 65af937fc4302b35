"""Replays: a fork of a conversation that a model goes on with, and its steps."""

from typing import Any, ClassVar

from django.db import models

from memory.db.fields import JSONTextField
from memory.models import Branch
from memory.models.projects import MadeRow, ProjectRow


class ReplayBatch(ProjectRow, MadeRow):
    """Replays of a corpus with the same parameters; its report is read from them."""

    branch = models.ForeignKey(Branch, on_delete=models.CASCADE, related_name="+")
    name = models.CharField(max_length=200, blank=True, default="")
    start = models.CharField(max_length=10, help_text="Where each conversation is forked.")
    parameters = JSONTextField(default=dict)
    max_total_cost = models.FloatField(null=True, help_text="Money that its replays may cost together.")
    skipped = JSONTextField(default=dict, help_text="Conversation -> why it is not replayed.")

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return self.name or str(self.pk)


class Replay(ProjectRow, MadeRow):
    """A replay, its parameters and limits, and what it has cost. Its messages are those of its fork."""

    class State(models.TextChoices):
        READY = "ready"
        QUEUED = "queued"
        RUNNING = "running"
        WAITING = "waiting"
        DONE = "done"
        STOPPED = "stopped"
        FAILED = "failed"
        CANCELLED = "cancelled"

    ACTIVE: ClassVar = (State.QUEUED, State.RUNNING, State.WAITING)

    branch = models.ForeignKey(Branch, on_delete=models.CASCADE, related_name="+", help_text="Of the fork.")
    conversation_id = models.UUIDField(help_text="The fork, which takes the replay's messages.")
    source_branch = models.ForeignKey(Branch, on_delete=models.CASCADE, related_name="+")
    source_id = models.UUIDField(help_text="The conversation that is replayed.")
    source_seq = models.BigIntegerField(help_text="Of its branch, when the replay was made.")
    message_id = models.UUIDField(help_text="The last message that both share.")
    state = models.CharField(max_length=10, choices=State.choices, default=State.READY)
    model = models.CharField(max_length=200, blank=True, default="")
    temperature = models.FloatField(null=True)
    max_tokens = models.PositiveIntegerField(null=True, help_text="Of one answer.")
    tools_allow = JSONTextField(default=list)
    tools_deny = JSONTextField(default=list)
    system_prompt = models.TextField(blank=True, default="")
    extra_context = models.TextField(blank=True, default="")
    memory_state = JSONTextField(default=dict, help_text="The branch and point, or the merge request.")
    memory_context = models.TextField(blank=True, default="")
    memory_branches = JSONTextField(default=list, help_text="Names of those that it was read from.")
    memory_facts = JSONTextField(default=list, help_text="Ids of its facts, a line of the context each.")
    max_steps = models.PositiveIntegerField(default=20)
    max_total_tokens = models.PositiveBigIntegerField(null=True)
    max_cost = models.FloatField(null=True)
    steps = models.PositiveIntegerField(default=0)
    calls = models.PositiveIntegerField(default=0, help_text="Requests to the model, failed ones too.")
    input_tokens = models.PositiveBigIntegerField(default=0)
    output_tokens = models.PositiveBigIntegerField(default=0)
    reserved_cost = models.FloatField(default=0, help_text="What a step under way may cost.")
    unknown_calls = models.PositiveIntegerField(default=0, help_text="Calls without a recorded result.")
    tries = models.PositiveSmallIntegerField(default=0)
    score = models.BooleanField(default=False, help_text="Whether judges rate both sides at the end.")
    comparison = JSONTextField(default=dict, help_text="Verdict and similarities, once it is done.")
    batch = models.ForeignKey(ReplayBatch, null=True, on_delete=models.CASCADE, related_name="replays")
    note = models.CharField(max_length=500, blank=True, default="")
    resume_at = models.DateTimeField(null=True)
    lease = models.UUIDField(null=True, editable=False, help_text="Of the worker that has it.")
    runner = JSONTextField(default=dict, help_text="Kind, id and label of whoever ran it last.")
    finished_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-id"]
        indexes = [
            models.Index(fields=["project", "source_id"], name="replay_source"),
            models.Index(fields=["state", "resume_at"], name="replay_state"),
            models.Index(fields=["project", "conversation_id"], name="replay_fork"),
        ]

    # Set where it is shown.
    cost: float | None
    source_title: str
    sentence: str
    kind: Any

    def __str__(self) -> str:
        return f"{self.model}: {self.state}"


class ReplayStep(models.Model):
    """One answer of the model: stored as soon as it is paid for, applied when its messages are written."""

    replay = models.ForeignKey(Replay, on_delete=models.CASCADE, related_name="answers")
    number = models.PositiveIntegerField()
    answer = JSONTextField(default=dict, help_text="Text and calls, until they are messages.")
    input_tokens = models.PositiveBigIntegerField(default=0)
    output_tokens = models.PositiveBigIntegerField(default=0)
    applied = models.BooleanField(default=False)
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["number"]
        constraints = [models.UniqueConstraint(fields=["replay", "number"], name="replay_step")]

    def __str__(self) -> str:
        return f"{self.replay_id} {self.number}"
