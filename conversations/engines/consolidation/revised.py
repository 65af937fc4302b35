"""Older decisions whose place those of a session take: found by rule, linked, and put to a curator."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.utils import timezone

from memory.engines.facts.assessment import searchable_rows
from memory.engines.review.revision_items import store_revisions
from memory.engines.search.candidates import find_candidates
from memory.engines.search.query import build_query
from memory.engines.sessions.manager import Utterance
from memory.engines.sessions.revisions import Revision, get_time
from memory.engines.sessions.utterances import DECIDED, find_utterances
from memory.engines.support.revision_rules import revises
from memory.engines.versions.commits import CommitWriter
from memory.engines.versions.repositories import find_repositories
from memory.models import Fact, Session

MAX_CANDIDATES = 50  # older statements that share the most words with a new one


@dataclass(frozen=True)
class Statement:
    """A fact that states something, when it was said, and whether by a person."""

    fact: Fact
    at: datetime
    is_persons: bool


def find_earlier(session: Session, texts: Iterable[str]) -> dict[str, list[Fact]]:
    """Return the decisions of the session's repository that share the most words with each text.

    It is done before the commit, so that no other writer waits for it.
    """
    lineage = session.branch.lineage()
    rows = searchable_rows(lineage, timezone.now()).filter(category__in=sorted(DECIDED))
    found = {}
    for text in texts:
        query = build_query(text, search_type="keyword")
        hits = find_candidates(rows, query, "keyword", MAX_CANDIDATES, session.project_id, substrings=False)
        facts = list(rows.rows().filter(pk__in=hits.rids)) if hits.rids else []
        known = zip(facts, find_repositories(session.project_id, facts), strict=True)
        found[text] = [fact for fact, repository in known if repository == session.project_path]
    return found


def find_changes(session: Session, texts: Sequence[str], stated: Sequence[str]) -> set[str]:
    """Return those of the texts that change a decision of the repository, or one just ``stated``."""
    earlier = find_earlier(session, texts)
    known = {text: [*(fact.fact_text for fact in found), *stated] for text, found in earlier.items()}
    return {text for text, olds in known.items() if any(revises(text, old) for old in olds)}


def link_revised(
    commit: CommitWriter, statements: Sequence[Statement], earlier: Mapping[UUID, Sequence[Fact]]
) -> None:
    """Link older statements to those of a person that take their place.

    ``earlier`` has the candidates by the new fact's id.
    """
    found = sorted(find_pairs(statements, earlier, commit), key=lambda pair: pair.since)
    store_revisions(commit, list({pair.key: pair for pair in found}.values()))


def find_pairs(
    statements: Sequence[Statement], earlier: Mapping[UUID, Sequence[Fact]], commit: CommitWriter
) -> Iterator[Revision]:
    """Yield the pairs of an older and a newer statement, among the new ones and those stored before."""
    own = {one.fact.uid for one in statements}
    likely = {
        fact.uid: fact
        for one in statements
        for fact in earlier.get(one.fact.uid, ())
        if fact.uid not in own and disagree(one.fact, fact)
    }
    utterances = find_utterances(likely.values(), commit.lineage)
    stored = {uid: read_statement(fact, utterances.get(uid)) for uid, fact in likely.items()}
    for at, one in enumerate(statements):
        others = [stored[fact.uid] for fact in earlier.get(one.fact.uid, ()) if fact.uid in stored]
        for other in (*others, *statements[:at]):
            older, newer = (one, other) if one.at < other.at else (other, one)
            if is_revision(older, newer):
                yield Revision(older.fact, newer.fact, newer.at)


def read_statement(fact: Fact, utterance: Utterance | None) -> Statement:
    is_persons = utterance is not None and utterance.speaker == Utterance.PERSON
    return Statement(fact, get_time(fact, utterance), is_persons)


def disagree(one: Fact, other: Fact) -> bool:
    return revises(one.fact_text, other.fact_text) or revises(other.fact_text, one.fact_text)


def is_revision(older: Statement, newer: Statement) -> bool:
    differ = older.fact.uid != newer.fact.uid
    return newer.is_persons and differ and revises(newer.fact.fact_text, older.fact.fact_text)
