"""Branch policies: what direct writes to a branch do, and what a merge into it needs."""

from collections.abc import Collection, Sequence
from typing import Any, Self

from django.db import models
from django.utils.translation import gettext_lazy as _

from memory.db.fields import JSONTextField
from memory.models.facts import FactAssessment
from memory.models.projects import ProjectRow

MAX_APPROVALS = 5
# Those whose verdicts can count: the heuristic verifies nothing.
VERIFYING_METHODS = (FactAssessment.Method.HUMAN.value, FactAssessment.Method.JUDGE.value)


class Gate(models.TextChoices):
    """The checks that a merge request passes, by the names that policies use."""

    CONFLICTS = "conflicts", _("No conflict is left open")
    REQUIRE_VERIFIED = "require_verified", _("Every fact that arrives is verified")
    SECRETS = "secrets", _("No secret arrives")
    RECALL = "recall", _("No saved question loses what it finds")


class DirectWrites(models.TextChoices):
    """What a branch does with writes that no merge brings."""

    ALLOW = "allow", _("Written at once")
    PROPOSE = "propose", _("Facts become proposals; only curators change what is there")
    REFUSE = "refuse", _("Refused, whoever writes: merges and accepted proposals change it")


def filter_methods(methods: Sequence[str]) -> list[str]:
    """Return those of the methods that verify."""
    return [one for one in methods if one in VERIFYING_METHODS]


class BranchPolicy(ProjectRow):
    """The policy of one branch, or of every branch whose name matches a pattern such as task/*.

    One of before that accepts the heuristic is read without it; where it names nothing else, any judgement
    counts.
    """

    pattern = models.CharField(max_length=200)
    gates = JSONTextField(default=list)
    approvals = models.PositiveSmallIntegerField(default=0)
    author_may_approve = models.BooleanField(default=False)
    accept_methods = JSONTextField(default=list)
    direct_writes = models.CharField(max_length=10, choices=DirectWrites.choices, default=DirectWrites.ALLOW)
    updated_at = models.DateTimeField()
    updated_by = models.CharField(max_length=200, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["project", "pattern"], name="one_policy_of_a_pattern")]

    def __str__(self) -> str:
        return self.pattern

    @classmethod
    def from_db(
        cls, db: str | None, field_names: Collection[str], values: Collection[Any], **options: Any
    ) -> Self:
        row = super().from_db(db, field_names, values, **options)
        if "accept_methods" in field_names:
            row.accept_methods = filter_methods(row.accept_methods) or list(VERIFYING_METHODS)
        return row
