"""Older decisions whose place those of a session take: found by rule, linked, and put to a curator.

What no rule understands is found by nearness: a new decision about the same thing as one of an earlier
session leaves that one in doubt, and both are told.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from django.utils import timezone

from conversations.engines.consolidation.matching import Texts
from memory.db.querysets import Lineage, VersionedQuerySet
from memory.engines.facts.assessment import searchable_rows
from memory.engines.search.candidates import find_candidates
from memory.engines.search.query import build_query
from memory.engines.sessions.manager import Utterance
from memory.engines.sessions.revision_links import store_revisions
from memory.engines.sessions.revisions import Revision, get_time
from memory.engines.sessions.utterances import REVISABLE, find_utterances
from memory.engines.support.batches import batched
from memory.engines.support.claims import list_synonyms
from memory.engines.support.personal_facts import read_personal
from memory.engines.support.standing import changes
from memory.engines.versions.commits import CommitWriter
from memory.engines.versions.repositories import find_repositories
from memory.models import Branch, Fact, Session
from memory.models.hashes import normalise_text
from memory.models.links import NEAR_WEIGHT

MAX_NEAR = 5  # older statements that are nearest to a new one in meaning
MAX_CANDIDATES = 50  # older statements that share the most words with a new one
BATCH_SIZE = 500


@dataclass(frozen=True)
class Statement:
    """A fact with the text that states it, when it was said, and whether by a person."""

    fact: Fact
    text: str
    at: datetime
    is_persons: bool


@dataclass(frozen=True)
class Comparison:
    """Texts of a session compared with each other and with stored facts: before the commit, as it takes long.

    ``disagreeing`` are the facts of which one says otherwise than a text, or may, by text; ``revising`` the
    pairs of a newer and an older text; ``near`` those of a text and a fact that is about the same thing.
    """

    disagreeing: Mapping[str, Sequence[Fact]]
    revising: frozenset[tuple[str, str]]
    near: frozenset[tuple[str, UUID]] = frozenset()

    @property
    def uids(self) -> set[UUID]:
        return {fact.uid for facts in self.disagreeing.values() for fact in facts}

    def without(self, uids: Collection[UUID]) -> "Comparison":
        """Return the comparison without some of the stored facts."""
        kept = {
            text: [fact for fact in facts if fact.uid not in uids] for text, facts in self.disagreeing.items()
        }
        return replace(self, disagreeing=kept)

    def weigh(self, newer: Statement, older: Statement) -> float:
        """Return the weight of the link from an older statement to one that leaves it doubted or replaced, 0
        where it holds.
        """
        if not newer.is_persons:
            return 0.0
        if (newer.text, older.text) in self.revising:
            return 1.0
        return NEAR_WEIGHT if (newer.text, older.fact.uid) in self.near else 0.0


def compare_texts(
    session: Session, requested: Iterable[str], fresh: Collection[str], texts: Texts
) -> Comparison:
    """Compare texts with each other, and with the decisions of the session's repository; those that are
    ``fresh`` also by nearness.
    """
    earlier = find_earlier(session, requested)
    near = find_near(session, {text: earlier[text] for text in fresh}, texts)
    olds = {text: [*(fact.fact_text for fact in facts), *earlier] for text, facts in earlier.items()}
    pairs = {(text, old) for text, others in olds.items() for old in others}
    pairs |= {(old, text) for text, old in pairs}
    revising = frozenset(pair for pair in pairs if changes(*pair))
    disagreeing = {
        text: [fact for fact in facts if revising & {(text, fact.fact_text), (fact.fact_text, text)}]
        for text, facts in earlier.items()
    }
    for text, facts in near.items():
        disagreeing[text] += [fact for fact in facts if fact not in disagreeing[text]]
    pairs_near = frozenset((text, fact.uid) for text, facts in near.items() for fact in facts)
    return Comparison(disagreeing, revising, pairs_near)


def find_earlier(session: Session, texts: Iterable[str]) -> dict[str, list[Fact]]:
    """Return the statements of the session's repository that share the most words with each text, and those
    on what a person has one of.
    """
    session.branch.refresh_from_db(fields=["head"])  # what an earlier piece of the session wrote counts
    rows, found = list_decided(session.branch), {}
    for text in dict.fromkeys(texts):
        query = build_query(" ".join([text, *list_synonyms(text)]), search_type="keyword")
        hits = find_candidates(rows, query, "keyword", MAX_CANDIDATES, session.project_id, substrings=False)
        found[text] = [*hits.rids, *list_same_kind(rows, text)]
    return load_own(session, rows, found)


def find_near(session: Session, earlier: Mapping[str, Sequence[Fact]], texts: Texts) -> dict[str, list[Fact]]:
    """Return the decisions of earlier sessions that are about the same thing as a text, by text, and do not
    say the same; ``earlier`` are those that share words with it.

    Within a session rules alone judge: there people list what belongs together ("access tokens live …,
    refresh tokens live …").
    """
    if not texts.model:
        return {}
    rows, found = list_decided(session.branch), dict[str, dict[int, float]]()
    for text in filter(texts.vectors.__contains__, earlier):
        hits = rows.search_vectors(texts.vectors[text], MAX_NEAR, texts.model, session.project_id)
        found[text] = dict(hits)
    own = {text: facts for text, facts in earlier.items() if text not in found}
    own |= load_own(session, rows, found)
    return {
        text: [
            fact
            for fact in facts
            if fact.session_id not in ("", session.key)
            and normalise_text(fact.fact_text) != normalise_text(text)
            and texts.are_on_topic(text, fact.fact_text, found.get(text, {}).get(fact.rid))
        ]
        for text, facts in own.items()
    }


def list_decided(branch: Branch) -> VersionedQuerySet[Fact]:
    """Return the decisions and preferences of a branch that a search finds."""
    return searchable_rows(branch.lineage(), timezone.now()).filter(category__in=sorted(REVISABLE))


def load_own(
    session: Session, rows: VersionedQuerySet[Fact], found: Mapping[str, Iterable[int]]
) -> dict[str, list[Fact]]:
    """Return those of the found rows that are facts of the session's repository, by text."""
    rids = sorted({rid for several in found.values() for rid in several})
    facts = [fact for batch in batched(rids, BATCH_SIZE) for fact in rows.rows().filter(pk__in=batch)]
    known = zip(facts, find_repositories(session.project_id, facts), strict=True)
    own = {fact.rid: fact for fact, repository in known if repository == session.project_path}
    return {text: [own[rid] for rid in sorted(set(rids)) if rid in own] for text, rids in found.items()}


def list_same_kind(rows: VersionedQuerySet, text: str) -> list[int]:
    """Return the newest facts of the kind of which a person has one, such as a home: whatever their words."""
    personal = read_personal(text)
    if personal is None or not personal.slot:
        return []
    return [fact.rid for fact in rows.filter(category=personal.category).newest(MAX_CANDIDATES)]


def find_changed(session: Session, texts: Iterable[str]) -> dict[str, list[tuple[str, datetime]]]:
    """Return the decisions of the repository that each text changes, with the times of their words."""
    found = find_earlier(session, texts)
    changed = {text: [one for one in facts if changes(text, one.fact_text)] for text, facts in found.items()}
    facts = {fact.uid: fact for several in changed.values() for fact in several}
    utterances = find_utterances(facts.values(), session.branch.lineage())
    return {
        text: [(one.fact_text, get_time(one, utterances.get(one.uid))) for one in several]
        for text, several in changed.items()
    }


def link_revised(commit: CommitWriter, statements: Sequence[Statement], comparison: Comparison) -> None:
    """Link older statements to those of a person that take their place.

    Of a pair that changed its direction the last one counts; where both were said at once, what came last.
    """
    pairs = find_pairs(statements, comparison, commit.lineage)
    last = {frozenset(pair.key): pair for pair in sorted(pairs, key=lambda pair: pair.since)}
    store_revisions(commit, list(last.values()))


def find_pairs(
    statements: Sequence[Statement], comparison: Comparison, lineage: Lineage
) -> Iterator[Revision]:
    """Yield the pairs of an older and a newer statement, among the new ones and those stored before."""
    own = {one.fact.uid for one in statements}
    earlier = (fact for one in statements for fact in comparison.disagreeing[one.text])
    stored = read_stored((fact for fact in earlier if fact.uid not in own), lineage)
    for at, one in enumerate(statements):
        others = [stored[fact.uid] for fact in comparison.disagreeing[one.text] if fact.uid in stored]
        for other in (*others, *statements[:at]):
            older, newer = (one, other) if one.at < other.at else (other, one)
            if older.fact.uid != newer.fact.uid and (weight := comparison.weigh(newer, older)):
                yield Revision(older.fact, newer.fact, newer.at, weight)


def read_stored(facts: Iterable[Fact], lineage: Lineage) -> dict[UUID, Statement]:
    """Return stored facts as statements, by id."""
    found = {fact.uid: fact for fact in facts}
    utterances = find_utterances(found.values(), lineage)
    return {uid: read_statement(fact, utterances.get(uid)) for uid, fact in found.items()}


def read_statement(fact: Fact, utterance: Utterance | None) -> Statement:
    is_persons = utterance is not None and utterance.speaker == Utterance.PERSON
    return Statement(fact, fact.fact_text, get_time(fact, utterance), is_persons)
