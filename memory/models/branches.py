"""Branches and commits: a branch is a row with a parent, a fork point and a head."""

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import reduce
from operator import or_
from typing import Self

from django.db import models
from django.db.models import Q

from memory.db.fields import JSONTextField
from memory.db.lineage import EVERYBODY, EndUser, MaskedLineage
from memory.models.nodes import uuid7
from memory.models.projects import MadeRow, Project

MAX_DEPTH = 16

Lineage = Sequence[tuple[int, int]]  # (branch id, highest visible seq), nearest first


class BranchQuerySet(models.QuerySet["Branch"]):
    def live(self) -> Self:
        return self.filter(archived_at=None)

    def named_like(self, part: str) -> Self:
        """Return the branches with a part in their names, which are all of lower case."""
        return self.filter(name__contains=part.lower()) if part.isascii() else self.none()


class Branch(MadeRow):
    """A line of commits. ``head`` is the newest seq; ``fork_seq`` the parent's seq at the fork."""

    NATURAL_KEYS = (("project", "name"),)  # by which ``fetch_one`` finds a branch besides its id

    # A project with memory is never deleted by a cascade: its versions would be orphaned.
    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="branches")
    name = models.CharField(max_length=200)
    parent = models.ForeignKey("self", on_delete=models.PROTECT, null=True, related_name="children")
    fork_seq = models.BigIntegerField(default=0)
    ancestors = JSONTextField(
        default=list, help_text="[branch, highest seq that counts], nearest first: it can never change."
    )
    depth = models.PositiveSmallIntegerField(default=0)
    head = models.BigIntegerField(default=0)
    head_at = models.DateTimeField(help_text="When the newest commit was made; no later commit is earlier.")
    cycle = models.BigIntegerField(default=0)
    indexed = models.BooleanField(
        default=True, help_text="False until the index holds what a branch from a past point needs."
    )
    purpose = models.CharField(max_length=500, blank=True)
    owner = models.CharField(max_length=200, blank=True, default="", help_text="Who answers for it.")
    ttl_days = models.PositiveIntegerField(
        null=True, blank=True, help_text="It expires so many days after its last change; null: never."
    )
    tags = JSONTextField(default=list)
    read_only = models.BooleanField(default=False, help_text="It takes no commits: others fork it.")
    archived_at = models.DateTimeField(null=True, blank=True)
    masked = models.BooleanField(
        default=False, help_text="Whether a quarantine hides something in the project: see HiddenVersion."
    )

    # Whose memory alone is read through it: set for an actor, see memory.engines.versions.lookup.
    end_user: EndUser = EVERYBODY

    # Set where it is shown, see memory.engines.branches.distance.
    ahead: int
    behind: int

    objects = BranchQuerySet.as_manager()

    class Meta:
        ordering = ["name"]
        constraints = [models.UniqueConstraint(fields=["project", "name"], name="one_branch_of_a_name")]

    def __str__(self) -> str:
        return self.name

    def lineage(self, seq: int | None = None) -> Lineage:
        """Return this branch read at ``seq`` (its head when None), then each ancestor at its fork point.

        A seq below 0 lies before the fork: it counts commits back along the ancestors. See ``mask`` for what
        queries along it do not show.
        """
        return self.mask(self.full_lineage(seq))

    def mask(self, lineage: Lineage) -> Lineage:
        """Return a lineage of this project along which queries show nothing that is in quarantine, and of end
        users what the branch is read for.
        """
        return self._leave_out(lineage, self.masked)

    def narrow(self, lineage: Lineage) -> Lineage:
        """Return a lineage along which queries show, of end users, what the branch is read for; and what is
        in quarantine too.
        """
        return self._leave_out(lineage, False)

    def _leave_out(self, lineage: Lineage, hides: bool) -> Lineage:
        if not hides and self.end_user == EVERYBODY:
            return list(lineage)
        return MaskedLineage(lineage, hides=hides, end_user=self.end_user)

    def full_lineage(self, seq: int | None = None) -> list[tuple[int, int]]:
        """Return the same lineage, along which queries show what is in quarantine too.

        For what writes versions: a merge carries hidden ones over, and a slot that one has is taken.
        """
        if seq is not None and seq < 0:
            return self._lineage_before_fork(seq)
        own = (self.pk, self.head if seq is None else min(seq, self.head))
        return [own, *((branch, limit) for branch, limit in self.ancestors)]

    def _lineage_before_fork(self, seq: int) -> list[tuple[int, int]]:
        """Return the lineage at a seq before the fork: the ancestor of that time, at its seq."""
        for index, (branch, limit) in enumerate(self.ancestors):
            seq += limit
            if seq >= 0:
                return [(branch, seq), *((b, at) for b, at in self.ancestors[index + 1 :])]
        return [(self.ancestors[-1][0] if self.ancestors else self.pk, 0)]

    @property
    def inherited_commits(self) -> int:
        """Return how many commits the line had before this branch was forked: ``-n`` is the first seq."""
        return sum(limit for _branch, limit in self.ancestors)

    def lineage_at(self, seq: int) -> list[list[int]]:
        """Return the ``ancestors`` of a branch that is forked from this one at ``seq``."""
        # Before its first commit a branch has no rows of its own.
        return [[branch, limit] for branch, limit in [(self.pk, seq), *self.ancestors] if limit]


class CommitQuerySet(models.QuerySet["Commit"]):
    def filter_points(self, points: Iterable[tuple[int, int]]) -> "CommitQuerySet":
        """Return the commits at pairs of branch and seq."""
        seqs: dict[int, list[int]] = {}
        for branch, seq in points:
            seqs.setdefault(branch, []).append(seq)
        # One condition for each branch: databases limit the depth of an expression.
        requested = [Q(branch=branch, seq__in=batch) for branch, batch in seqs.items()]
        return self.filter(reduce(or_, requested)) if requested else self.none()

    def that_made(self, points: Iterable[tuple[int, int]]) -> dict[tuple[int, int], "Commit"]:
        """Return commits by pairs of branch and seq, each with its branch."""
        found = self.filter_points(points).select_related("branch")
        return {(commit.branch_id, commit.seq): commit for commit in found}


class Commit(models.Model):
    """A change with its actor, surface, time and counts; every change belongs to one commit."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    branch = models.ForeignKey(Branch, on_delete=models.CASCADE, related_name="commits")
    seq = models.BigIntegerField()
    at = models.DateTimeField()
    kind = models.CharField(max_length=40)
    message = models.CharField(max_length=500, blank=True)
    actor_kind = models.CharField(max_length=10)
    actor_id = models.CharField(max_length=64, blank=True)
    actor_label = models.CharField(max_length=200, blank=True)
    surface = models.CharField(max_length=20)
    session_id = models.CharField(max_length=200, blank=True)
    agent_id = models.CharField(max_length=200, blank=True)
    task_id = models.CharField(max_length=200, blank=True)
    # Of a merge: what was merged, and up to which seq; null where it took only a part. Of a revert: the
    # commit that it takes back.
    source_branch = models.ForeignKey(
        Branch, on_delete=models.SET_NULL, null=True, blank=True, related_name="+", db_constraint=False
    )
    source_seq = models.BigIntegerField(null=True, blank=True)
    reverts = models.UUIDField(null=True, blank=True)
    added = models.PositiveIntegerField(default=0)
    changed = models.PositiveIntegerField(default=0)
    removed = models.PositiveIntegerField(default=0)

    # Set where it is shown, see memory.engines.branches.commit_titles.
    title: str
    content: str
    tally: Counter[tuple[str, str]]

    objects = CommitQuerySet.as_manager()

    class Meta:
        ordering = ["branch", "-seq"]
        constraints = [models.UniqueConstraint(fields=["branch", "seq"], name="one_commit_of_a_seq")]
        indexes = [
            models.Index(fields=["branch", "at"], name="commit_branch_at"),
            models.Index(fields=["reverts"], name="commit_reverts"),
        ]

    def __str__(self) -> str:
        return f"{self.branch_id}@{self.seq} {self.kind}"
