"""Facts that say the same as a text, in nearly the same words or in meaning; guarded by ``same_claim``."""

import logging
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import ceil
from uuid import UUID

import numpy as np
from django.utils import timezone

from memory.db.querysets import VersionedQuerySet
from memory.engines.embedding.engine import load_vectors
from memory.engines.embedding.models import searched_provider
from memory.engines.facts.assessment import searchable_rows
from memory.engines.statements.change_words import FUNCTION_WORDS
from memory.engines.statements.changing import announces_change
from memory.engines.statements.claims import prefers_same, says_same, shares_half, shares_root, shares_topic
from memory.engines.statements.restatement import qualifies_otherwise, restates
from memory.engines.support.model_budgets import paid_by
from memory.engines.support.similarity import MIN_JACCARD, get_thresholds, same_claim, swaps_words
from memory.engines.versions.repositories import is_elsewhere, name_repositories
from memory.exceptions import ProviderUnavailable
from memory.models import Branch, Fact
from memory.models.hashes import content_hash, normalise_text
from memory.words import TOKEN

RESTATED = 0.9  # how alike two texts count that say the same in other words
MAX_CANDIDATES = 20  # facts that share rare words with a text
NEIGHBOURS = 5  # facts of the nearest meaning
MAX_EMBEDDED = 100  # texts without a vector that one comparison embeds
logger = logging.getLogger(__name__)


@dataclass
class Texts:
    """Texts to compare, with their words and, where there is an embedder, their vectors."""

    words: Mapping[str, frozenset[str]]
    vectors: Mapping[str, np.ndarray] = field(default_factory=dict)
    model: str = ""

    def add_words(self, others: Iterable[str]) -> "Texts":
        """Return the texts with some more, which have no vectors."""
        more = {text: split_tokens(text) for text in others if text not in self.words}
        return replace(self, words={**self.words, **more})

    def measure(self, one: str, other: str) -> float:
        """Return how alike two texts are, from 0 to 1; 0 unless they say the same."""
        is_likely = shares_half(one, other)
        if is_likely and (restates(one, other) or prefers_same(one, other)):
            return RESTATED
        score = self._measure_words(one, other)
        if is_likely and not score and says_same(one, other) and same_claim(one, other):
            score = RESTATED
        return 0.0 if score and (swaps_words(one, other) or qualifies_otherwise(one, other)) else score

    def measure_echo(self, one: str, other: str) -> float:
        """Return how alike a text is to one that memory gave: another word may stand in it."""
        return RESTATED if restates(one, other) else self._measure_words(one, other)

    def rate_topic(self, newer: str, older: str) -> float:
        """Return how near two statements about one thing are, whatever they say of it, 0 where they are not:
        near in meaning, with a word in common, less near where the newer one says that something changes. Of
        models that were not measured none are; where the model cannot read the newer one, their words decide.
        """
        limits = get_thresholds(self.model)
        if newer not in self.vectors:
            return float(limits.topic <= 1 and shares_topic(newer, older))
        if older not in self.vectors or not shares_root(newer, older):
            return 0.0
        cosine = float(self.vectors[newer] @ self.vectors[older])
        return cosine if cosine >= (limits.changed if announces_change(newer) else limits.topic) else 0.0

    def _measure_words(self, one: str, other: str) -> float:
        jaccard = measure_jaccard(self.words[one], self.words[other])
        score = jaccard if jaccard > MIN_JACCARD else self._measure_meaning(one, other)
        return score if score and same_claim(one, other) else 0.0

    def _measure_meaning(self, one: str, other: str) -> float:
        if one not in self.vectors or other not in self.vectors:
            return 0.0
        cosine = float(self.vectors[one] @ self.vectors[other])
        return cosine if cosine >= get_thresholds(self.model).same else 0.0


def split_tokens(text: str) -> frozenset[str]:
    """Return the words of a text and its ideographs, each once."""
    return frozenset(TOKEN.findall(normalise_text(text)))


def measure_jaccard(words: frozenset[str], others: frozenset[str]) -> float:
    shorter, longer = sorted((len(words), len(others)))
    if not shorter or shorter <= MIN_JACCARD * longer:
        return 0.0
    common = len(words & others)
    return common / (shorter + longer - common)


def choose_rare(words: Iterable[str]) -> list[str]:
    """Return so many of a text's words that each text of the same words has one of them, long ones first.

    Of n words a text with a Jaccard above MIN_JACCARD lacks fewer than (1 - MIN_JACCARD) n.
    """
    ordered = sorted(words, key=lambda word: (word in FUNCTION_WORDS, -len(word), word))
    return ordered[: ceil((1 - MIN_JACCARD) * len(ordered)) + 1]


def read_texts(project_id: UUID, texts: Iterable[str], *, embed: bool = True) -> Texts:
    """Return texts with their words, and with vectors of an embedder. Not to be called in a transaction.

    Vectors that are stored are read; of the others MAX_EMBEDDED at most are made, none without ``embed``.
    """
    words = {text: split_tokens(text) for text in texts}
    try:
        provider = searched_provider(project_id)
        if provider is None:
            return Texts(words)
        vectors = load_stored(project_id, list(words), provider.model)
        missing = [text for text in words if text not in vectors][: MAX_EMBEDDED * embed]
        missing = [text for text in missing if provider.can_read(text)]
        if missing:
            with paid_by(project_id):
                vectors |= dict(zip(missing, provider.embed(missing), strict=True))
        return Texts(words, vectors, provider.model)
    except ProviderUnavailable as error:
        logger.warning("Texts are compared by their words alone: %s", error)
        return Texts(words)


def load_stored(project_id: UUID, texts: Sequence[str], model: str) -> dict[str, np.ndarray]:
    """Return the vectors that are stored of texts, by text."""
    hashes = {content_hash(text): text for text in texts}
    ready, _ = load_vectors(project_id, model, list(hashes))
    return {hashes[value]: data for value, data in ready.items()}


def find_same(
    branch: Branch, repository: str, texts: Texts, requested: Mapping[str, Collection[UUID]]
) -> dict[str, Fact]:
    """Return for each text the searchable fact of a branch that says the same in other words, if any does.

    With each text come the facts that it may only repeat, in its own words: those that memory gave an agent.

    Of several the most alike one counts, then the oldest. Facts with the very same text are not among them.
    """
    rows = searchable_rows(branch.lineage(), timezone.now())
    rows = rows.exclude(kind=Fact.Kind.REFLECTION)  # it is like its members by design
    hits = {text: find_alike(branch, rows, texts, text) for text in requested}
    facts = load_facts(branch, {rid for found in hits.values() for rid in found})
    known = add_texts(texts, branch.project_id, [fact.fact_text for fact in facts.values()])
    best = {
        text: choose_best(
            text, [facts[rid] for rid in found if rid in facts], repository, known, requested[text]
        )
        for text, found in hits.items()
    }
    return {text: fact for text, fact in best.items() if fact is not None}


def find_alike(branch: Branch, rows: VersionedQuerySet[Fact], texts: Texts, text: str) -> set[int]:
    """Return the row ids of facts that share a text's rare words, or are nearest to it in meaning."""
    found = {rid for rid, _ in rows.match_words(choose_rare(texts.words[text]), MAX_CANDIDATES)[0]}
    if text in texts.vectors:
        near = rows.search_vectors(texts.vectors[text], NEIGHBOURS, texts.model, branch.project_id)
        found |= {rid for rid, cosine in near if cosine >= get_thresholds(texts.model).same}
    return found


def load_facts(branch: Branch, rids: Iterable[int]) -> dict[int, Fact]:
    """Return the facts of a branch that a search finds now, by row id, with their repositories."""
    facts = searchable_rows(branch.lineage(), timezone.now()).fetch_by_key("rid", sorted(rids))
    return {fact.rid: fact for fact in name_repositories(facts, branch.project_id)}


def add_texts(texts: Texts, project_id: UUID, others: Sequence[str], *, embed: bool = False) -> Texts:
    """Return texts with some more, of which only stored vectors are read unless ``embed`` is set."""
    fresh = [text for text in others if text not in texts.words]
    if not fresh:
        return texts
    more = read_texts(project_id, fresh, embed=embed)
    return Texts({**texts.words, **more.words}, {**texts.vectors, **more.vectors}, texts.model)


def choose_best(
    text: str, facts: Sequence[Fact], repository: str, texts: Texts, recalled: Collection[UUID]
) -> Fact | None:
    plain, best = normalise_text(text), (0.0, 0)
    chosen = None
    for fact in facts:
        if is_elsewhere(fact.repository, repository) or normalise_text(fact.fact_text) == plain:
            continue
        measure = texts.measure_echo if fact.uid in recalled else texts.measure
        score = measure(text, fact.fact_text)
        if score and (score, -fact.rid) > best:
            best, chosen = (score, -fact.rid), fact
    return chosen
