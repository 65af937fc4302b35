"""The review queue: questions that wait for a curator, and the views of it that curators save."""

from django.db import models

from memory.db.fields import JSONTextField
from memory.models.branches import Branch
from memory.models.facts import Fact
from memory.models.nodes import uuid7
from memory.models.projects import Project, ProjectRow


class ReviewItem(models.Model):
    """A question for a curator, for example whether two facts are duplicates.

    ``fact_id`` is the newer one. It may take the place of the other where the kind is contested.
    """

    class Kind(models.TextChoices):
        NEAR_DUPLICATE = "near_duplicate"
        CONTESTED = "contested"

    class Status(models.TextChoices):
        OPEN = "open"
        RESOLVED = "resolved"

    # Set by the review engine; ``both`` by the start page.
    fact: Fact | None
    other: Fact | None
    best: Fact | None
    both: list[Fact | None]

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="review_items")
    branch = models.ForeignKey(Branch, on_delete=models.CASCADE, related_name="review_items")
    kind = models.CharField(max_length=20, choices=Kind.choices)
    status = models.CharField(max_length=10, choices=Status.choices, default=Status.OPEN)
    fact_id = models.UUIDField()
    other_id = models.UUIDField()
    pair = models.CharField(max_length=100, unique=True, help_text="Branch and both facts: asked only once.")
    score = models.FloatField(
        help_text="How alike the two texts are: their cosine, of a contested pair their share of words."
    )
    resolution = models.CharField(
        max_length=40, blank=True, help_text="What was decided; of an open one, what was decided and undone."
    )
    details = JSONTextField(default=dict)
    created_at = models.DateTimeField(auto_now_add=True)
    resolved_at = models.DateTimeField(null=True, blank=True)
    resolved_by = models.CharField(max_length=200, blank=True)
    seq = models.BigIntegerField(default=0, help_text="The commit that answered it, or undid the answer.")

    class Meta:
        db_table = "memory_reviewitem"  # its name since before this app
        ordering = ["-created_at"]
        indexes = [
            models.Index(fields=["branch", "seq"], name="review_answered"),
            models.Index(fields=["project", "status"], name="review_waiting"),
            models.Index(fields=["fact_id"], name="review_fact"),
            models.Index(fields=["other_id"], name="review_other"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.fact_id}"


class SavedView(ProjectRow):
    """Reasons, filters and a branch of the queue. It is its owner's; a shared one all curators may use."""

    owner = models.CharField(max_length=100, help_text="The key or user that made it.")
    owner_label = models.CharField(max_length=200, blank=True)
    name = models.CharField(max_length=100)
    branch = models.CharField(max_length=200, blank=True, help_text="Its name; empty: main.")
    reasons = JSONTextField(default=list)
    filters = JSONTextField(default=dict)
    shared = models.BooleanField(default=False)
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["name", "pk"]
        constraints = [models.UniqueConstraint(fields=["project", "owner", "name"], name="saved_view_name")]

    def __str__(self) -> str:
        return self.name
