"""What speaks for a fact: who judged it, who said the same, what came after it, and who used it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from memory.actors import Actor
from memory.db.querysets import Lineage
from memory.engines.belief import attach, confirmed, read_on
from memory.engines.branches import MAIN, find_branch, point_of
from memory.engines.recalls import newest_recalls
from memory.models import (
    Branch,
    Commit,
    Confirmation,
    Fact,
    FactAssessment,
    FactLink,
    Observation,
    RecallLog,
    Vector,
)
from memory.models.vectors import vector_slot

VERDICTS = 20
RECALLS = 10
LINKS = 50
SIMILAR = 5


@dataclass(frozen=True)
class Verdict:
    """One judgement; ``counts`` is False for one on what the fact said before."""

    status: str
    method: str
    reason: str
    by: str
    at: datetime
    counts: bool
    commit: Commit | None


@dataclass(frozen=True)
class Edge:
    """A link as the fact sees it: the other fact, and whether the link leads to it."""

    link: FactLink
    other: Fact
    outward: bool


@dataclass(frozen=True)
class Evidence:
    """Newest first everywhere. ``made`` is the commit of the version that is shown."""

    verdicts: Sequence[Verdict]
    confirmations: Sequence[Confirmation]
    recalls: Sequence[RecallLog]
    parent: Fact | None
    successors: Sequence[Fact]
    edges: Sequence[Edge]
    made: Commit | None


class EvidenceEngine:
    def evidence(self, *, fact: Fact, actor: Actor, branch_name: str = MAIN, at: Any = None) -> Evidence:
        """All that stands beside a fact that was read there: a fixed number of queries, whatever there is.

        ``parent`` and the others are None or left out where the branch does not show them. Raises
        BranchNotFound, scope and branch refusals.
        """
        actor.require("read", branch_name)
        branch = find_branch(actor, branch_name)
        lineage = branch.lineage(point_of(branch, at))
        links = list(FactLink.objects.along(lineage).filter(from_id=fact.uid).newest(LINKS))
        links += FactLink.objects.along(lineage).filter(to_id=fact.uid).newest(LINKS)
        ends = {end for link in links for end in (link.from_id, link.to_id)} | {fact.parent_id}
        successors = Fact.objects.along(lineage).filter(parent_id=fact.uid).newest(LINKS)
        others = self._facts(branch, lineage, [end for end in ends if end and end != fact.uid], successors)
        return Evidence(
            verdicts=self._verdicts(fact, lineage),
            confirmations=confirmed(fact.uid, lineage),
            recalls=newest_recalls(actor, fact.uid, RECALLS),
            parent=others.get(fact.parent_id) if fact.parent_id else None,
            successors=successors,
            edges=[edge for link in links if (edge := _edge(fact, link, others))],
            made=commit_of(fact),
        )

    def ends(
        self, *, links: Sequence[FactLink], actor: Actor, branch_name: str = MAIN, at: Any = None
    ) -> dict[UUID, str]:
        """The line of each fact and observation at an end of these links, by its id; without those that are
        not shown there.

        Raises as ``evidence`` does.
        """
        actor.require("read", branch_name)
        branch = find_branch(actor, branch_name)
        point = point_of(branch, at)
        uids = {end for link in links for end in (link.from_id, link.to_id)}
        shown = Fact.objects.on(branch, point).filter(uid__in=uids).gather()
        lines = {fact.uid: fact.essence for fact in shown}
        if observed := [link.to_id for link in links if link.to_type == FactLink.Target.OBSERVATION]:
            seen = Observation.objects.on(branch, point).filter(uid__in=observed).gather()
            lines |= {one.uid: one.summary for one in seen}
        return lines

    def similar(
        self, *, fact: Fact, actor: Actor, branch_name: str = MAIN, at: Any = None
    ) -> list[tuple[Fact, float]]:
        """The facts that a search finds whose meaning is nearest, each with its cosine; none without a
        vector. Raises as ``evidence`` does.
        """
        actor.require("read", branch_name)
        branch = find_branch(actor, branch_name)
        lineage = branch.lineage(point_of(branch, at))
        slot = vector_slot(actor.project_id, fact.embedding_model, fact.content_hash)
        vector = Vector.objects.filter(slot=slot).values_list("data", flat=True).first()
        if vector is None:
            return []
        rows = Fact.objects.along(lineage).searchable()
        near = rows.nearest(vector, SIMILAR + 1, fact.embedding_model, actor.project_id)
        scores = {rid: score for rid, score in near if rid != fact.rid}
        found = Fact.objects.along(lineage).filter(rid__in=scores).gather()
        read_on(branch, attach(found, lineage, actor.project_id))
        ranked = sorted(((one, scores[one.rid]) for one in found), key=lambda pair: -pair[1])
        return ranked[:SIMILAR]

    def _facts(
        self, branch: Branch, lineage: Lineage, uids: Sequence[UUID], more: Sequence[Fact]
    ) -> dict[UUID, Fact]:
        found = Fact.objects.along(lineage).filter(uid__in=uids).gather()
        read_on(branch, attach([*found, *more], lineage, branch.project_id))
        return {fact.uid: fact for fact in found}

    def _verdicts(self, fact: Fact, lineage: Lineage) -> list[Verdict]:
        rows = list(FactAssessment.objects.history(lineage, fact.uid)[:VERDICTS])
        commits = Commit.objects.that_made({(row.branch_id, row.seq_from) for row in rows})
        return [
            Verdict(
                row.status, row.method, row.reason, row.by, row.at,
                counts=place == 0 and row.judged_hash == fact.judged_hash and not row.deleted,
                commit=commits.get((row.branch_id, row.seq_from)),
            )
            for place, row in enumerate(rows)
        ]  # fmt: skip


def _edge(fact: Fact, link: FactLink, others: dict[UUID, Fact]) -> Edge | None:
    outward = link.from_id == fact.uid
    other = others.get(link.to_id if outward else link.from_id)
    return Edge(link, other, outward) if other else None


def commit_of(fact: Fact) -> Commit | None:
    """The commit that made this version."""
    place = (fact.branch_id, fact.seq_from)
    return Commit.objects.that_made({place}).get(place)
