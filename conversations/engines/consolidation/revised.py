"""Older decisions whose place those of a session take: found by rule, linked, and put to a curator.

What no rule understands is found by nearness: a new decision about the same thing as one of an earlier
session leaves that one in doubt, and both are told.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import permutations
from uuid import UUID

from django.utils import timezone

from conversations.engines.consolidation.matching import Texts, add_texts
from memory.db.querysets import Lineage, VersionedQuerySet
from memory.engines.facts.assessment import searchable_rows
from memory.engines.search.candidates import embed_query, find_candidates
from memory.engines.sessions.manager import Utterance
from memory.engines.sessions.revisions import Revision, get_time, store_revisions
from memory.engines.sessions.utterances import REVISABLE, find_utterances
from memory.engines.statements.claims import list_synonyms, shares_root
from memory.engines.statements.personal_facts import read_personal
from memory.engines.statements.standing import changes, replaces
from memory.engines.statements.subject_words import list_translations
from memory.engines.versions.commits import CommitWriter
from memory.engines.versions.repositories import find_repositories
from memory.models import Branch, Fact, Session
from memory.models.hashes import normalise_text
from memory.models.links import NEAR_WEIGHT

MAX_NEAR = 5  # older statements that are nearest to a new one in meaning
MAX_DOUBTED = 3  # of those that are about the same thing as a new one
MAX_CANDIDATES = 15  # older statements that share the most words with a new one
MAX_SAME_KIND = 50  # newest ones of the kind of which a person has one


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

    ``disagreeing`` are the facts of which one says otherwise than a text, or may, by text; ``weights`` those
    of the links between a newer and an older text.
    """

    disagreeing: Mapping[str, Sequence[Fact]]
    weights: Mapping[tuple[str, str], float]

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
        return self.weights.get((newer.text, older.text), 0.0) if newer.is_persons else 0.0


class EarlierDecisions:
    """What a session's repository decided before, as far as it may be about a text. Each text is looked up
    once.
    """

    def __init__(self, session: Session, texts: Texts) -> None:
        self.session, self.texts = session, texts
        self._found: dict[str, list[Fact]] = {}

    def find(self, requested: Iterable[str]) -> dict[str, list[Fact]]:
        """Return the statements of the repository that share the most words with each text, those nearest to
        it in meaning, and those on what a person has one of.
        """
        texts = list(dict.fromkeys(requested))
        fresh = [text for text in texts if text not in self._found]
        if fresh:
            rows = list_decided(self.session.branch)
            hits = {text: self._search(rows, text) for text in fresh}
            self._found |= load_own(self.session, rows, hits)
        return {text: self._found[text] for text in texts}

    def _search(self, rows: VersionedQuerySet[Fact], text: str) -> list[int]:
        project_id, vector = self.session.project_id, self.texts.vectors.get(text)
        query = embed_query(" ".join([text, *list_synonyms(text), *list_translations(text)]), None)
        hits = find_candidates(rows, query, "keyword", MAX_CANDIDATES, project_id, substrings=False)
        near = [] if vector is None else rows.search_vectors(vector, MAX_NEAR, self.texts.model, project_id)
        return [*hits.rids, *(rid for rid, _cosine in near), *list_same_kind(rows, text)]

    def find_near(self, requested: Iterable[str]) -> dict[str, list[Fact]]:
        """Return the decisions of earlier sessions that are about the same thing as each text, the nearest
        few, and do not say the same.

        Within a session rules alone judge: there people list what belongs together ("access tokens live …,
        refresh tokens live …").
        """
        return {text: self._choose_near(text, facts) for text, facts in self.find(requested).items()}

    def _choose_near(self, text: str, facts: Iterable[Fact]) -> list[Fact]:
        others = [
            fact
            for fact in facts
            if fact.session_id not in ("", self.session.key)
            and normalise_text(fact.fact_text) != normalise_text(text)
            and shares_root(text, fact.fact_text)
        ]
        texts = add_texts(self.texts, self.session.project_id, [fact.fact_text for fact in others])
        rated = [(texts.rate_topic(text, fact.fact_text), fact.rid, fact) for fact in others]
        return [fact for rate, _, fact in sorted(rated, reverse=True)[:MAX_DOUBTED] if rate]


def compare_texts(
    earlier: EarlierDecisions,
    requested: Mapping[str, datetime],
    fresh: Collection[str],
    near_prompts: Collection[tuple[str, str]] = (),
) -> Comparison:
    """Compare texts, with the times when they were said, with each other and with the decisions of the
    session's repository; those that are ``fresh`` also by nearness. ``near_prompts`` are pairs of a text and
    one of an earlier prompt.
    """
    found = earlier.find(requested)
    near = earlier.find_near(text for text in fresh if not replaces_any(text, found[text]))
    pairs = {*permutations(found, 2), *list_pairs(requested, found)}
    weights = dict.fromkeys(near_prompts, NEAR_WEIGHT)
    weights |= {(text, fact.fact_text): NEAR_WEIGHT for text, facts in near.items() for fact in facts}
    weights |= {pair: 1.0 for pair in pairs if changes(*pair)}
    disagreeing = {
        text: [fact for fact in facts if weights.keys() & {(text, fact.fact_text), (fact.fact_text, text)}]
        for text, facts in found.items()
    }
    return Comparison(disagreeing, weights)


def replaces_any(text: str, facts: Iterable[Fact]) -> bool:
    """Return whether a text takes a decision's place by the rules: then it says what it changes."""
    return any(replaces(text, fact.fact_text) for fact in facts)


def list_pairs(
    requested: Mapping[str, datetime], found: Mapping[str, Iterable[Fact]]
) -> Iterator[tuple[str, str]]:
    """Yield pairs of a newer and an older text: a fact is the newer one only where it was written since."""
    for text, facts in found.items():
        for fact in facts:
            yield text, fact.fact_text
            if fact.updated_at > requested[text]:
                yield fact.fact_text, text


def list_decided(branch: Branch) -> VersionedQuerySet[Fact]:
    """Return the decisions and preferences of a branch that a search finds."""
    return searchable_rows(branch.lineage(), timezone.now()).filter(category__in=sorted(REVISABLE))


def load_own(
    session: Session, rows: VersionedQuerySet[Fact], found: Mapping[str, Iterable[int]]
) -> dict[str, list[Fact]]:
    """Return those of the found rows that are facts of the session's repository, by text."""
    rids = sorted({rid for several in found.values() for rid in several})
    facts = rows.fetch_by_key("rid", rids)
    known = zip(facts, find_repositories(session.project_id, facts), strict=True)
    own = {fact.rid: fact for fact, repository in known if repository == session.project_path}
    return {text: [own[rid] for rid in sorted(set(rids)) if rid in own] for text, rids in found.items()}


def list_same_kind(rows: VersionedQuerySet, text: str) -> list[int]:
    """Return the newest facts of the kind of which a person has one, such as a home: whatever their words."""
    personal = read_personal(text)
    if personal is None or not personal.slot:
        return []
    return [fact.rid for fact in rows.filter(category=personal.category).newest(MAX_SAME_KIND)]


def find_times(session: Session, facts: Iterable[Fact]) -> dict[UUID, datetime]:
    """Return when each fact was said."""
    known = {fact.uid: fact for fact in facts}
    utterances = find_utterances(known.values(), session.branch.lineage())
    return {uid: get_time(fact, utterances.get(uid)) for uid, fact in known.items()}


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
