"""What figures are of: a branch at a point, as one actor may read it."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

from django.db.models import Q
from django.utils import timezone

from analytics.engines.stored import load_stored, read_tally
from analytics.engines.tallies import Measure, Tally, add_up
from analytics.models import StoredTally
from memory.actors import Actor
from memory.db.querysets import Lineage
from memory.engines.versions.lookup import find_branch, resolve_point
from memory.models import Branch, Commit


@dataclass
class Scope:
    """A branch at a point; each tally of it is made once."""

    actor: Actor
    branch: Branch
    lineage: Lineage
    now: datetime
    tallies: dict[Measure, Tally] = field(default_factory=dict)
    recalls: dict[Any, tuple[Counter[str], Counter[str]]] = field(default_factory=dict)  # of ranges

    @classmethod
    def open(cls, actor: Actor, branch_name: str, at: Any = None) -> "Scope":
        """Return the scope. Raises ScopeMissing, BranchForbidden, BranchNotFound, Invalid, NotFound."""
        actor.require_scope("read", branch_name)
        branch = find_branch(actor, branch_name)
        seq = resolve_point(branch, at)
        now = timezone.now() if at is None else find_time(branch, seq)
        return cls(actor, branch, branch.lineage(seq), now)

    @cached_property
    def stored(self) -> dict[str, StoredTally]:
        return load_stored(self.lineage)

    def tally(self, measure: Measure) -> Tally:
        """Return the tally of a measure on the whole branch."""
        if measure not in self.tallies:
            self.tallies[measure] = read_tally(measure, self.lineage, self.stored)
        return self.tallies[measure]

    def count(self, measure: Measure, *among: Q, **where: Any) -> Tally:
        """Return the tally of the few memories with given values of columns, which an index finds."""
        return add_up(measure, self.lineage, Q(*among, **where))


def find_time(branch: Branch, seq: int) -> datetime:
    """Return when the newest commit was made that a point shows."""
    for owner, limit in branch.lineage(seq):
        at = Commit.objects.filter(branch=owner, seq__lte=limit).order_by("-seq").values_list("at", flat=True)
        if found := at.first():
            return found.astimezone(UTC)
    return branch.created_at


def share(part: int, whole: int) -> float | None:
    """Return a part of a whole, None where there is none."""
    return round(part / whole, 4) if whole else None


def order_counts(counts: Mapping[Any, int], maximum: int = 50) -> dict[Any, int]:
    """Return the highest counts first, at most so many."""
    return dict(sorted(counts.items(), key=lambda entry: (-entry[1], str(entry[0])))[:maximum])
