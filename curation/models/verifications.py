"""Verifications of facts, the jobs that make many of them, and scores of facts and conversations."""

from collections import Counter
from collections.abc import Collection, Mapping
from typing import Any, ClassVar, Self

from django.db import models
from django.utils.translation import gettext_lazy as _
from django_mysql.models import FixedCharField

from memory.db.fields import JSONTextField
from memory.models import Branch, FactAssessment
from memory.models.base import SealedModel
from memory.models.projects import MadeRow, ProjectRow

MAX_REASON = 500  # characters


def read_counts(counts: Mapping[str, int]) -> dict[str, int]:
    """Return the counts of a job; of one that the heuristic did alone as its verdicts are read now."""
    weakened = {} if counts.get("judge") or not counts.get("heuristic") else FactAssessment.WEAKENED
    found = Counter[str]()
    for name, count in counts.items():
        found[weakened.get(name, name)] += count
    return dict(found)


class VerificationJob(ProjectRow, MadeRow):
    """Facts of a branch to verify, and how far that is. ``position`` counts those that are done."""

    class State(models.TextChoices):
        QUEUED = "queued", _("queued")
        RUNNING = "running", _("running")
        WAITING = "waiting", _("waiting")  # for a judge that asked for time
        STOPPED = "stopped", _("stopped")  # its budget is spent
        FAILED = "failed", _("failed")
        DONE = "done", _("done")

    branch = models.ForeignKey(Branch, on_delete=models.CASCADE, related_name="+")
    state = models.CharField(max_length=10, choices=State.choices, default=State.QUEUED)
    fact_ids = JSONTextField(default=list)
    position = models.PositiveIntegerField(default=0)
    total = models.PositiveIntegerField(default=0)
    votes = models.PositiveSmallIntegerField(default=1)
    budget = models.PositiveIntegerField(default=0)  # calls of the judge
    calls = models.PositiveIntegerField(default=0)
    input_tokens = models.PositiveBigIntegerField(default=0)
    output_tokens = models.PositiveBigIntegerField(default=0)
    counts = JSONTextField(default=dict)
    tries = models.PositiveSmallIntegerField(default=0)  # since the judge answered last
    note = models.CharField(max_length=MAX_REASON, blank=True, default="")
    fallback = models.CharField(
        max_length=MAX_REASON, blank=True, default=""
    )  # why it asks no judge any more
    resume_at = models.DateTimeField(null=True)  # another worker may take it from then on
    lease = models.UUIDField(null=True, editable=False, help_text="Of the worker that has it.")
    finished_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [models.Index(fields=["state", "resume_at"], name="verification_job_due")]

    def __str__(self) -> str:
        return f"{self.state} {self.position}/{self.total}"

    @classmethod
    def from_db(
        cls, db: str | None, field_names: Collection[str], values: Collection[Any], **options: Any
    ) -> Self:
        job = super().from_db(db, field_names, values, **options)
        if "counts" in field_names:
            job.counts = read_counts(job.counts)
        return job


class Verification(ProjectRow, MadeRow, SealedModel):
    """One rating of a fact's text, with what it cost; its scores are rows of their own.

    ``fallback`` says why the heuristic stood in for the judge. ``applied`` is None until its verdict was
    weighed against the one that the fact had.
    """

    SEALED = (
        "fact_id",
        "judged_hash",
        "method",
        "verdict",
        "average",
        "model",
        "prompt",
        "votes",
        "created_by",
    )

    branch = models.ForeignKey(Branch, on_delete=models.CASCADE, related_name="+")
    job = models.ForeignKey(VerificationJob, null=True, on_delete=models.SET_NULL, related_name="+")
    fact_id = models.UUIDField()
    judged_hash = FixedCharField(max_length=32)
    method = models.CharField(max_length=20, choices=FactAssessment.Method.choices)
    verdict = models.CharField(max_length=20, choices=FactAssessment.Status.choices)
    average = models.FloatField()
    model = models.CharField(max_length=200, blank=True, default="")
    prompt = models.CharField(max_length=50, blank=True, default="")
    votes = models.PositiveSmallIntegerField(default=0)
    calls = models.PositiveSmallIntegerField(default=0)
    input_tokens = models.PositiveBigIntegerField(default=0)
    output_tokens = models.PositiveBigIntegerField(default=0)
    took_ms = models.FloatField(default=0)
    fallback = models.CharField(max_length=MAX_REASON, blank=True, default="")
    applied = models.BooleanField(null=True)
    latest = models.BooleanField(default=True)  # of this fact on this branch
    disagrees = models.BooleanField(default=False)  # a judge's, of which the heuristic says otherwise

    class Meta:
        indexes = [
            models.Index(fields=["branch", "fact_id"], name="verification_fact"),
            models.Index(fields=["project", "method", "created_at"], name="verification_method"),
            models.Index(fields=["project", "latest", "created_at"], name="verification_age"),
            # Few judgements disagree, and the queue lists them.
            models.Index(
                fields=["branch"], condition=models.Q(disagrees=True), name="verification_disagrees"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.method} {self.verdict}"

    @classmethod
    def from_db(
        cls, db: str | None, field_names: Collection[str], values: Collection[Any], **options: Any
    ) -> Self:
        row = super().from_db(db, field_names, values, **options)
        if {"verdict", "method"} <= set(field_names):
            row.verdict = FactAssessment.read_status(row.verdict, row.method)
        return row


class VerificationCursor(models.Model):
    """The commit of a branch up to which edits of verified facts were looked for."""

    branch = models.OneToOneField(Branch, primary_key=True, on_delete=models.CASCADE, related_name="+")
    seq = models.BigIntegerField()


class Score(ProjectRow, SealedModel):
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


class Scoring(ProjectRow, MadeRow):
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
