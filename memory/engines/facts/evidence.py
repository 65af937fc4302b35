"""Evidence of a fact: verdicts, confirmations, recalls, links, sources and successors."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from memory.actors import Actor
from memory.db.querysets import Lineage
from memory.engines.facts.assessment import annotate_facts, list_confirmations, mask_archived
from memory.engines.facts.links import describe_targets
from memory.engines.facts.recall_log import newest_recalls
from memory.engines.versions.lookup import MAIN, open_point
from memory.models import Branch, Commit, Confirmation, Fact, FactAssessment, FactLink, RecallLog, Vector
from memory.models.end_users import get_owner, is_of_another
from memory.models.vectors import vector_slot
from memory.providers.embedding import get_floor, get_provider

VERDICTS = 20
RECALLS = 100  # that are counted by session; the newest are shown
LINKS = 50
SIMILAR = 5


@dataclass(frozen=True)
class Verdict:
    """Verdict in a fact's history; ``counts`` is False unless it is the latest and on the present text.

    ``by_kind`` is the kind of who gave it, since a label may be of several; "" where history does not tell.
    """

    status: str
    method: str
    reason: str
    by: str
    by_kind: str
    at: datetime
    counts: bool
    commit: Commit | None


@dataclass(frozen=True)
class Edge:
    """Link seen from a fact: the other fact, and whether the link leads to it."""

    link: FactLink
    other: Fact
    outward: bool


@dataclass(frozen=True)
class Source:
    """Link to the observation or message that a fact comes from, with the start of its text."""

    link: FactLink
    line: str


@dataclass(frozen=True)
class Evidence:
    """Evidence of a fact, newest first throughout. ``made`` is the commit of the version shown."""

    verdicts: Sequence[Verdict]
    confirmations: Sequence[Confirmation]
    recalls: Sequence[RecallLog]
    parent: Fact | None
    successors: Sequence[Fact]
    edges: Sequence[Edge]
    sources: Sequence[Source]
    made: Commit | None


class EvidenceEngine:
    def load_evidence(self, *, fact: Fact, actor: Actor, branch_name: str = MAIN, at: Any = None) -> Evidence:
        """Return the evidence of a fact with a fixed number of queries.

        Other facts are None or left out where the branch does not show them. Raises BranchNotFound, scope and
        branch refusals.
        """
        branch, seq = open_point(actor, branch_name, at)
        lineage = branch.lineage(seq)
        links = list(FactLink.objects.in_lineage(lineage).filter(from_id=fact.uid).newest(LINKS))
        links += FactLink.objects.in_lineage(lineage).filter(to_id=fact.uid).newest(LINKS)
        ends = {end for link in links for end in (link.from_id, link.to_id)} | {fact.parent_id}
        successors = Fact.objects.in_lineage(lineage).filter(parent_id=fact.uid).newest(LINKS)
        others = self._load_facts(
            branch, lineage, [end for end in ends if end and end != fact.uid], successors
        )
        return Evidence(
            verdicts=self._list_verdicts(fact, lineage),
            confirmations=list_confirmations(fact.uid, lineage),
            recalls=newest_recalls(actor, fact.uid, RECALLS),
            parent=others.get(fact.parent_id) if fact.parent_id else None,
            successors=successors,
            edges=[edge for link in links if (edge := build_edge(fact, link, others))],
            sources=list_sources(fact, links, describe_targets(lineage, _to_sources(fact, links))),
            made=get_fact_commit(fact),
        )

    def load_link_ends(
        self, *, links: Sequence[FactLink], actor: Actor, branch_name: str = MAIN, at: Any = None
    ) -> dict[UUID, str]:
        """Return the text line of each memory at an end of these links, by id; those not shown are left out.

        Raises as ``load_evidence`` does.
        """
        branch, point = open_point(actor, branch_name, at)
        shown = Fact.objects.on(branch, point).filter(uid__in={link.from_id for link in links}).fetch_all()
        return {fact.uid: fact.essence for fact in shown} | describe_targets(branch.lineage(point), links)

    def find_similar(
        self, *, fact: Fact, actor: Actor, branch_name: str = MAIN, at: Any = None, least: float = 0.0
    ) -> list[tuple[Fact, float]]:
        """Return the nearest searchable facts by cosine, each with its score; none without a vector.

        ``least`` leaves out those that are less near, where unrelated texts are 0 and the same text is 1.
        Raises as ``load_evidence`` does.
        """
        branch, seq = open_point(actor, branch_name, at)
        lineage = branch.lineage(seq)
        slot = vector_slot(actor.project_id, fact.embedding_model, fact.content_hash)
        vector = Vector.objects.filter(slot=slot).values_list("data", flat=True).first()
        if vector is None:
            return []
        rows = Fact.objects.in_lineage(lineage).searchable()
        rows = rows.filter_indexed(**get_owner(fact).list_columns())
        near = rows.search_vectors(vector, SIMILAR + 1, fact.embedding_model, actor.project_id)
        if least and (provider := get_provider()) and provider.model == fact.embedding_model:
            least += get_floor(provider) * (1 - least)
        scores = {rid: score for rid, score in near if rid != fact.rid and score >= least}
        found = Fact.objects.in_lineage(lineage).filter(rid__in=scores).fetch_all()
        mask_archived(branch, annotate_facts(found, lineage, actor.project_id))
        same = (one for one in found if not is_of_another(fact, one))
        return sorted(((one, scores[one.rid]) for one in same), key=lambda pair: -pair[1])[:SIMILAR]

    def _load_facts(
        self, branch: Branch, lineage: Lineage, uids: Sequence[UUID], more: Sequence[Fact]
    ) -> dict[UUID, Fact]:
        found = Fact.objects.in_lineage(lineage).filter(uid__in=uids).fetch_all()
        mask_archived(branch, annotate_facts([*found, *more], lineage, branch.project_id))
        return {fact.uid: fact for fact in found}

    def _list_verdicts(self, fact: Fact, lineage: Lineage) -> list[Verdict]:
        rows = list(FactAssessment.objects.history(lineage, fact.uid)[:VERDICTS])
        originals = load_originals(rows)
        commits = Commit.objects.that_made(
            {(row.branch_id, row.seq_from) for row in (*rows, *originals.values())}
        )
        return [
            Verdict(
                row.status,
                row.method,
                row.reason,
                row.by,
                find_kind(row, originals.get(row.vid, row), commits),
                row.at,
                counts=index == 0 and row.judged_hash == fact.judged_hash and not row.deleted,
                commit=commits.get((row.branch_id, row.seq_from)),
            )
            for index, row in enumerate(rows)
        ]


def load_originals(rows: Sequence[FactAssessment]) -> dict[int, FactAssessment]:
    """Return the versions of which some of these are copies, made by merges or restores, by vid."""
    copied = [row.vid for row in rows if row.vid != row.rid]
    return FactAssessment._base_manager.in_bulk(copied) if copied else {}


def find_kind(
    row: FactAssessment, original: FactAssessment, commits: Mapping[tuple[int, int], Commit]
) -> str:
    """Return the kind of who gave a verdict: the actor of the commit at its time, whose label it has."""
    commit = commits.get((original.branch_id, original.seq_from))
    is_its = commit is not None and (commit.at, commit.actor_label) == (row.at, row.by)
    return commit.actor_kind if commit is not None and is_its else ""


def _to_sources(fact: Fact, links: Sequence[FactLink]) -> list[FactLink]:
    """Return the links from a fact to observations and messages."""
    return [link for link in links if link.from_id == fact.uid and link.to_type != FactLink.Target.FACT]


def list_sources(fact: Fact, links: Sequence[FactLink], lines: dict[UUID, str]) -> list[Source]:
    """Return the visible sources of a fact, each once."""
    found = {link.to_id: link for link in _to_sources(fact, links) if link.to_id in lines}
    return [Source(link, lines[uid]) for uid, link in found.items()]


def build_edge(fact: Fact, link: FactLink, others: dict[UUID, Fact]) -> Edge | None:
    outward = link.from_id == fact.uid
    other = others.get(link.to_id if outward else link.from_id)
    return Edge(link, other, outward) if other else None


def get_fact_commit(fact: Fact) -> Commit | None:
    """Return the commit that made this version."""
    key = (fact.branch_id, fact.seq_from)
    return Commit.objects.that_made({key}).get(key)
