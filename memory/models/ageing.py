"""What ageing archived, and why: beside the history, which holds the archived versions themselves."""

from typing import Any

from django.db import models
from django.utils.translation import gettext_lazy as _

from memory.models.branches import Branch
from memory.models.projects import Project


class AgedVersion(models.Model):
    """The reason why a version archived its fact.

    ``vid`` names the version across branches, so that the reason is found where a merge brought it.
    """

    class Reason(models.TextChoices):
        EXPIRED = "expired", _("expired")
        TIME_TO_LIVE = "time_to_live", _("past its time to live")
        STALE = "stale", _("stale")
        OVER_BUDGET = "over_budget", _("over the budget")

    vid = models.BigIntegerField(primary_key=True)
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    branch = models.ForeignKey(Branch, on_delete=models.CASCADE, related_name="+", db_index=False)
    seq = models.BigIntegerField(help_text="The commit that archived it.")
    uid = models.UUIDField()
    reason = models.CharField(max_length=20, choices=Reason.choices)
    since = models.DateTimeField(null=True, help_text="When the reason began to hold; null for the budget.")
    worth = models.FloatField(null=True, help_text="What it was worth; only for the budget.")

    title: Any  # of the reason, set where it is shown

    class Meta:
        indexes = [
            models.Index(fields=["uid"], name="aged_uid"),
            models.Index(fields=["branch", "seq"], name="aged_commit"),
        ]

    def __str__(self) -> str:
        return f"{self.uid} {self.reason}"
