"""What figures are of: a branch at a point, as one actor may read it, and where agents work."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from typing import Any
from uuid import UUID

from django.db.models import Max, Q, QuerySet
from django.utils import timezone

from analytics.engines.stored import load_stored, read_tally
from analytics.engines.tallies import Measure, Tally, add_up
from analytics.models import StoredTally
from conversations.models import Conversation
from memory.actors import Actor
from memory.db.expressions import NotHidden
from memory.db.querysets import Lineage
from memory.engines.versions.lookup import MAIN, find_branch, resolve_point
from memory.models import Branch, Commit, Fact, Observation, Session
from memory.models.base import OPEN

AGENTS_MEMORIES: tuple[Any, ...] = (Fact, Observation, Conversation)


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


# ---- branches of an agent ----------------------------------------------------------------------------


def list_branches(actor: Actor, branch_name: str, find_others: Callable[[Actor], list[str]]) -> Iterator[str]:
    """Yield the branch that is named, else main, and the others that have it when main does not."""
    if branch_name or actor.may_use(MAIN):
        yield branch_name or MAIN
    if not branch_name:
        yield from (name for name in find_others(actor) if name != MAIN)


def find_agent(actor: Actor, agent_id: str) -> list[str]:
    """Return the branches on which an agent did something, the last one first."""
    names = list_usable(actor)
    last: dict[int, datetime] = {}
    sessions = Session.objects.filter(branch__in=names, agent_id=agent_id, hidden=False, deleted_at=None)
    found = [sessions.order_by().values_list("branch").annotate(at=Max("started_at"))]
    for model in AGENTS_MEMORIES:
        rows = select_open(model, names).filter(agent_id=agent_id).order_by()
        found.append(rows.values_list("branch").annotate(at=Max("created_at")))
    for branch, at in (row for rows in found for row in rows):
        last[branch] = max(at, last.get(branch, at))
    return [names[branch] for branch in sorted(last, key=lambda branch: (last[branch], branch), reverse=True)]


def find_conversation(actor: Actor, conversation_id: UUID) -> list[str]:
    """Return the branches on which a conversation was begun, changed or brought by a merge."""
    names = list_usable(actor)
    rows = select_open(Conversation, names).filter(uid=conversation_id)
    return [names[branch] for branch in rows.order_by("rid").values_list("branch", flat=True)]


def list_usable(actor: Actor) -> dict[int, str]:
    """Return the names of the branches that the actor may use, by their keys."""
    rows = Branch.objects.filter(project=actor.project_id).values_list("pk", "name")
    return {pk: name for pk, name in rows if actor.may_use(name)}


def select_open(model: Any, names: dict[int, str]) -> QuerySet:
    """Return the memories that branches hold themselves, but for those that a quarantine hides."""
    rows: QuerySet = model._base_manager.filter(branch__in=names, seq_to=OPEN, deleted=False)
    return rows.filter(NotHidden())
