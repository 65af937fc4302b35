"""The case of a fact: what a judge is shown besides its text."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from memory.actors import Actor
from memory.db.querysets import Lineage
from memory.engines.facts.evidence import EvidenceEngine
from memory.engines.facts.links import target_model
from memory.models import Branch, BranchedModel, Fact, FactLink, Observation

MAX_SOURCES = 5
MAX_VERSIONS = 3
MAX_OUTPUT = 1000  # characters of a tool's output


@dataclass(frozen=True)
class Excerpt:
    """A piece of stored text, and what it is."""

    title: str
    text: str


@dataclass(frozen=True)
class Case:
    """A fact with its evidence: sources first, then its history, then similar facts.

    Verdicts on it are left out, so that a judge agrees with a person by itself or not at all.
    """

    fact: Fact
    evidence: Sequence[Excerpt]


def load_case(fact: Fact, branch: Branch, actor: Actor) -> Case:
    """Return what the branch shows about a fact, whose derived fields must be set."""
    lineage = branch.lineage()
    similar = EvidenceEngine().find_similar(fact=fact, actor=actor, branch_name=branch.name)
    parts = chain(
        list_sources(fact, lineage),
        list_versions(fact, lineage),
        (Excerpt(f"a similar fact, {score:.2f} alike", one.fact_text) for one, score in similar),
    )
    return Case(fact, list(parts))


def list_sources(fact: Fact, lineage: Lineage) -> Iterator[Excerpt]:
    """Yield the messages and observations that a fact comes from."""
    links = FactLink.objects.in_lineage(lineage).filter(from_id=fact.uid)
    sources = [link for link in links.newest(MAX_SOURCES) if link.to_type != FactLink.Target.FACT]
    for kind in sorted({link.to_type for link in sources}):
        uids = [link.to_id for link in sources if link.to_type == kind]
        for row in target_model(kind).objects.in_lineage(lineage).filter(uid__in=uids).fetch_all():
            yield Excerpt(f"its source: {kind} of {row.created_at:%Y-%m-%d}", read_source(row, lineage))


def read_source(row: BranchedModel, lineage: Lineage) -> str:
    if isinstance(row, Observation):
        output = (row.raw_output or read_output(row, lineage))[:MAX_OUTPUT]
        return f"{row.summary}\noutcome: {row.outcome}" + (f"\n{output}" if output else "")
    return str(getattr(row, row.TEXT))


def read_output(row: Observation, lineage: Lineage) -> str:
    """Return what a captured call gave back, which its message holds; "" where there is none."""
    if row.message_id is None:
        return ""
    messages = target_model(FactLink.Target.MESSAGE)
    shown = messages.objects.in_lineage(lineage).filter(uid=row.message_id).fetch_all()
    return next((str(getattr(message, messages.TEXT)) for message in shown), "")


def list_versions(fact: Fact, lineage: Lineage) -> Iterator[Excerpt]:
    """Yield the earlier texts of a fact, newest first."""
    versions = Fact.objects.history(lineage, fact.uid)[: MAX_VERSIONS + 1]
    before = [one for one in versions if one.fact_text not in ("", fact.fact_text)]
    for one in before[:MAX_VERSIONS]:
        yield Excerpt(f"what it said before, version {one.version}", one.fact_text)
