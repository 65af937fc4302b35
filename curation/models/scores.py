"""Scores of facts and conversations, and the scorings in which judges give them."""

from typing import Any, ClassVar

from django.db import models
from django.utils.translation import gettext_lazy as _

from curation.models.verifications import MAX_REASON, Verification
from memory.db.fields import JSONTextField
from memory.models import Branch, Project
from memory.models.base import SealedModel
from memory.models.nodes import uuid7


class Score(SealedModel):
    """What a scorer gives a target in one dimension, 0 to 1, and why."""

    SEALED = ("target_type", "target_id", "scorer", "giver", "method", "dimension", "value")

    class Target(models.TextChoices):
        FACT = "fact", _("fact")
        CONVERSATION = "conversation", _("conversation")

    class Method(models.TextChoices):
        """Who gave a score. Those of the heuristic are guesses and no judgement."""

        JUDGE = "judge", _("judge")
        HUMAN = "human", _("person")
        EXTERNAL = "external", _("outside judge")
        HEURISTIC = "heuristic", _("heuristic")

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    branch = models.ForeignKey(Branch, null=True, on_delete=models.CASCADE, related_name="+")
    verification = models.ForeignKey(Verification, null=True, on_delete=models.CASCADE, related_name="scores")
    scoring = models.ForeignKey("Scoring", null=True, on_delete=models.CASCADE, related_name="scores")
    target_type = models.CharField(max_length=20, choices=Target.choices)
    target_id = models.UUIDField()
    scorer = models.CharField(max_length=200)
    giver = models.CharField(max_length=100, blank=True, default="", help_text="Key or person that gave it.")
    method = models.CharField(max_length=10, choices=Method.choices, default=Method.JUDGE)
    dimension = models.CharField(max_length=50)
    value = models.FloatField()
    explanation = models.TextField(blank=True, default="")
    created_at = models.DateTimeField()

    class Meta:
        indexes = [models.Index(fields=["project", "target_type", "target_id"], name="score_target")]

    def __str__(self) -> str:
        return f"{self.dimension} {self.value}"


class Scoring(models.Model):
    """A rating of a conversation by the votes of one or more judges, with what it cost.

    ``warning`` says what fell short; without a judge's answer each dimension has .5, and the method is the
    heuristic.
    """

    class State(models.TextChoices):
        QUEUED = "queued", _("queued")
        RUNNING = "running", _("running")
        WAITING = "waiting", _("waiting")  # for a judge that asked for time
        FAILED = "failed", _("failed")
        DONE = "done", _("done")

    ENDED: ClassVar = (State.DONE, State.FAILED)

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    branch = models.ForeignKey(Branch, on_delete=models.CASCADE, related_name="+")
    conversation_id = models.UUIDField()
    seq = models.BigIntegerField(help_text="Of its branch: the conversation is read as it was then.")
    state = models.CharField(max_length=10, choices=State.choices, default=State.QUEUED)
    dimensions = JSONTextField(default=list, help_text="Name, or name: what it means.")
    judges = JSONTextField(default=list, help_text="Names of models.")
    votes = models.PositiveSmallIntegerField(default=1, help_text="Of each judge.")
    ballots = JSONTextField(default=list, help_text="What each vote gave, or why it gave nothing.")
    method = models.CharField(max_length=10, choices=Score.Method.choices, blank=True, default="")
    average = models.FloatField(null=True)
    messages = models.PositiveIntegerField(default=0, help_text="How many the judges were shown.")
    prompt = models.CharField(max_length=50, blank=True, default="")
    open_request = models.CharField(
        max_length=64,
        null=True,
        unique=True,
        editable=False,
        help_text="Digest of it; none once it has ended.",
    )
    request = models.CharField(
        max_length=64,
        blank=True,
        default="",
        editable=False,
        help_text="Digest of it and of what was said.",
    )
    calls = models.PositiveIntegerField(default=0)
    input_tokens = models.PositiveBigIntegerField(default=0)
    output_tokens = models.PositiveBigIntegerField(default=0)
    tries = models.PositiveSmallIntegerField(default=0)  # since a judge answered last
    warning = models.CharField(max_length=MAX_REASON, blank=True, default="")
    resume_at = models.DateTimeField(null=True)  # another worker may take it from then on
    lease = models.UUIDField(null=True, editable=False, help_text="Of the worker that has it.")
    created_at = models.DateTimeField()
    created_by = models.CharField(max_length=200, blank=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-id"]
        indexes = [
            models.Index(fields=["project", "conversation_id"], name="scoring_conversation"),
            models.Index(fields=["state", "resume_at"], name="scoring_due"),
        ]

    # Set where it is shown, and where an earlier one answers a request.
    kind: Any
    is_earlier = False

    def __str__(self) -> str:
        return f"{self.conversation_id}: {self.state}"
