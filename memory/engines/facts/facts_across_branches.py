"""Facts as several branches show them: one page of questions may be about as many branches as questions."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from copy import copy
from functools import reduce
from operator import or_
from typing import Generic, TypeVar
from uuid import UUID

from django.db.models import Q

from memory.db.querysets import Lineage
from memory.engines.belief import Belief, Verdict, attach_use, believe, read_on
from memory.models import Branch, BranchedModel, Confirmation, Fact, FactAssessment

Row = TypeVar("Row", bound=BranchedModel)
Place = tuple[int, UUID]  # a branch and a fact
TOGETHER = 500  # conditions of a statement: a database takes an expression of limited depth


def facts_on(asked: Collection[tuple[Branch, UUID]], project_id: UUID) -> Mapping[Place, Fact]:
    """Each fact as the branch beside it shows it now, where it does, with what stands beside it.

    As many queries for any number of branches.
    """
    lineages = {branch.pk: branch.lineage() for branch, _ in asked}
    uids = {uid for _, uid in asked}
    facts = Nearest(Fact, lineages.values(), uids)
    verdicts = Nearest(FactAssessment, lineages.values(), uids)
    confirmed = Confirmed(lineages.values(), uids)
    found: dict[Place, Fact] = {}
    for branch, uid in asked:
        lineage = lineages[branch.pk]
        if fact := facts.shown(uid, lineage):
            belief = Belief(_verdict(verdicts.shown(uid, lineage)), confirmed.count(uid, lineage))
            # Two branches may show the same row and believe differently of it.
            (found[branch.pk, uid],) = read_on(branch, [believe(copy(fact), belief)])
    attach_use(list(found.values()), project_id)
    return found


class Nearest(Generic[Row]):
    """Rows of some memories that stood where some lineages look, and which of them each lineage shows."""

    def __init__(self, model: type[Row], lineages: Iterable[Lineage], uids: Collection[UUID]) -> None:
        self.rows = defaultdict[tuple[UUID, int], list[Row]](list)
        for stood in _stood(lineages, "seq_from"):
            for row in model.objects.all_versions().filter(stood, uid__in=uids):  # type: ignore[attr-defined]
                self.rows[row.uid, row.branch_id].append(row)

    def shown(self, uid: UUID, lineage: Lineage) -> Row | None:
        """The row of the nearest branch that says something of the memory, unless it says that it is gone."""
        for branch, limit in lineage:
            for row in self.rows[uid, branch]:
                if row.seq_from <= limit < row.seq_to:
                    return None if row.deleted else row
        return None


class Confirmed:
    """Who said the same as some facts where some lineages look."""

    def __init__(self, lineages: Iterable[Lineage], uids: Collection[UUID]) -> None:
        self.rows = defaultdict[tuple[UUID, int], list[tuple[str, int, int]]](list)
        for stood in _stood(lineages, "seq"):
            rows = Confirmation.objects.filter(stood, uid__in=uids)
            said = rows.values_list("uid", "branch_id", "source", "seq", "seq_to")
            for uid, branch, source, seq, until in said:
                self.rows[uid, branch].append((source, seq, until))

    def count(self, uid: UUID, lineage: Lineage) -> int:
        """How many sources, each counted once."""
        return len({
            source for branch, limit in lineage for source, seq, until in self.rows[uid, branch]
            if seq <= limit < until
        })  # fmt: skip


def _stood(lineages: Iterable[Lineage], begun: str) -> Iterator[Q]:
    """What was open where the lineages look, in portions; a row may be in two of them."""
    arms = sorted({arm for lineage in lineages for arm in lineage})
    each = [Q(branch_id=b, seq_to__gt=limit, **{f"{begun}__lte": limit}) for b, limit in arms]
    for start in range(0, len(each), TOGETHER):
        yield reduce(or_, each[start : start + TOGETHER])


def _verdict(row: FactAssessment | None) -> Verdict | None:
    return Verdict(*(getattr(row, name) for name in Verdict._fields)) if row else None
