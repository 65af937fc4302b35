"""One judgement: what a judge is shown of a fact, between fences, and its votes, or why there is none."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from curation.engines.verification.ratings import (
    Rating,
    combine_votes,
    cut_characters,
    parse_rating,
    rate_by_heuristic,
)
from memory.actors import Actor
from memory.db.querysets import Lineage
from memory.engines.facts.evidence import EvidenceEngine
from memory.engines.facts.links import target_model
from memory.exceptions import ModelBudgetSpent, ProviderNonsense, ProviderUnavailable
from memory.models import Branch, BranchedModel, Fact, FactAssessment, FactLink, Observation
from memory.providers.chat import ChatServer, Message
from memory.providers.prompts import build_prompt

MAX_SOURCES = 5
MAX_VERSIONS = 3
MAX_OUTPUT = 1000  # characters of a tool's output


class Excerpt(NamedTuple):
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


FOLDER = Path(__file__).parents[2] / "prompts"
VERIFY, SCORE = "verify-1", "score-1"  # a changed prompt is a new file, since results name it
MAX_FACT = 16_000  # characters of the fact that a judge reads
MAX_EXCERPT = 2_000  # of one piece of evidence
MAX_EVIDENCE = 12_000  # of all of it


def build_messages(case: Case) -> list[Message]:
    """Return the messages for a judge: the rules with the fence of this prompt, and the data between it."""
    fact = case.fact
    text = f"category: {fact.category}\nstored: {fact.created_at:%Y-%m-%d}\n\n{fact.fact_text}"
    parts = [Excerpt("the fact to rate", cut_characters(MAX_FACT, text)), *fit(case.evidence)]
    missing = "" if case.evidence else "\n\nNo evidence is stored with this fact."
    return build_prompt(FOLDER / f"{VERIFY}.txt", parts, missing)


def fit(evidence: Sequence[Excerpt]) -> list[Excerpt]:
    """Return the evidence, each piece cut, as far as it fits."""
    found, left = list[Excerpt](), MAX_EVIDENCE
    for one in evidence:
        text = cut_characters(min(MAX_EXCERPT, left), one.text) if left > 0 else ""
        if text:
            found.append(Excerpt(one.title, text))
        left -= len(text)
    return found


Method = FactAssessment.Method


@dataclass
class Judgement:
    """A rating, who gave it and what it cost. ``fallback`` says why the heuristic stood in for the judge."""

    rating: Rating
    method: str = Method.HEURISTIC
    model: str = ""
    prompt: str = ""
    votes: int = 0
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    took_ms: float = 0.0
    fallback: str = ""

    @property
    def verdict(self) -> str:
        """Return what the thresholds make of the average; the heuristic only guesses."""
        return FactAssessment.read_status(self.rating.verdict, self.method)


def judge_case(judge: ChatServer, case: Case, votes: int) -> Judgement:
    """Ask a judge for its votes; where an answer is nonsense, the heuristic stands in for it.

    Where the project's budget ends among its votes, those before it decide. Raises ProviderUnavailable when
    the judge does not answer.
    """
    started, found = time.perf_counter(), Judgement(rate_by_heuristic(case.fact))
    ratings: list[Rating] = []
    try:
        for _vote in range(votes):
            found.calls += 1
            messages = build_messages(case)
            answer = judge.complete(messages)
            found.input_tokens += answer.input_tokens
            found.output_tokens += answer.output_tokens
            ratings.append(parse_rating(answer.text, messages[-1].content))
    except ProviderNonsense as error:
        found.fallback = describe_error(error)
        ratings = []
    except ModelBudgetSpent:
        if not ratings:
            raise
        found.calls -= 1  # it was not sent; the votes that were paid for count
    if ratings:
        found.rating, found.method = combine_votes(ratings), Method.JUDGE
        found.model, found.prompt, found.votes = judge.model[:200], VERIFY, len(ratings)
    found.took_ms = round((time.perf_counter() - started) * 1000, 1)
    return found


def describe_error(error: ProviderUnavailable) -> str:
    """Return why there is no judgement, as it is stored."""
    return error.text[:500]
