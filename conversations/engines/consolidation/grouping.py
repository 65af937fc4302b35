"""Groups of facts in which each says the same as each other (complete link). No database access."""

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Sequence
from itertools import combinations, product
from math import ceil
from typing import Any

import numpy as np

from conversations.engines.consolidation.matching import MIN_JACCARD, Texts
from memory.engines.support.similarity import get_thresholds
from memory.models import Fact, FactAssessment

BLOCK_SIZE = 1024  # rows of a matrix of cosines


def group_facts(facts: Sequence[Fact], texts: Texts) -> list[list[Fact]]:
    """Return groups of two facts and more, the best of each first."""
    buckets = defaultdict[Hashable, list[Fact]](list)
    for fact in facts:
        buckets[get_bucket(fact)].append(fact)
    groups = [group for bucket in buckets.values() for group in link_completely(bucket, texts)]
    return [sorted(group, key=rank_fact) for group in groups]


def get_bucket(fact: Fact) -> Hashable:
    """Return what facts must have in common: what holds elsewhere, at another time or for others differs."""
    return (fact.kind, fact.repository, fact.visibility, fact.valid_from, fact.valid_until, fact.expires_at)


def rank_fact(fact: Fact) -> tuple[Any, ...]:
    """Return what the best of a group is chosen by: the lowest."""
    verified = fact.verification_status == FactAssessment.Status.VERIFIED
    return (not verified, not fact.pinned, -fact.confidence, -fact.confirmation_count, fact.rid)


def link_completely(facts: Sequence[Fact], texts: Texts) -> list[list[Fact]]:
    """Return groups of which every pair says the same, the most alike joined first."""
    scores = {
        (a, b): score
        for a, b in list_candidates(facts, texts)
        if (score := texts.measure(facts[a].fact_text, facts[b].fact_text))
    }
    groups = {at: [at] for pair in scores for at in pair}
    for a, b in sorted(scores, key=lambda pair: (-scores[pair], pair)):
        one, other = groups[a], groups[b]
        if one is not other and all(tuple(sorted(pair)) in scores for pair in product(one, other)):
            one += other
            for at in other:
                groups[at] = one
    whole = {id(group): group for group in groups.values() if len(group) > 1}
    return [[facts[at] for at in group] for group in whole.values()]


def list_candidates(facts: Sequence[Fact], texts: Texts) -> set[tuple[int, int]]:
    """Return the pairs that may be the same, by their positions."""
    return {*_share_words(facts, texts), *_share_meaning(facts, texts)}


def _share_words(facts: Sequence[Fact], texts: Texts) -> Iterator[tuple[int, int]]:
    """Yield the pairs that share one of their rarest words: no pair above MIN_JACCARD is missing.

    Of n words a text with a Jaccard above MIN_JACCARD lacks fewer than (1 - MIN_JACCARD) n.
    """
    counts = Counter(word for fact in facts for word in texts.words[fact.fact_text])
    by_word = defaultdict[str, list[int]](list)
    for at, fact in enumerate(facts):
        rarest = sorted(texts.words[fact.fact_text], key=lambda word: (counts[word], word))
        for word in rarest[: ceil((1 - MIN_JACCARD) * len(rarest)) + 1]:
            by_word[word].append(at)
    for positions in by_word.values():
        yield from combinations(positions, 2)


def _share_meaning(facts: Sequence[Fact], texts: Texts) -> Iterator[tuple[int, int]]:
    """Yield the pairs whose cosine is at the model's threshold."""
    known = [at for at, fact in enumerate(facts) if fact.fact_text in texts.vectors]
    if len(known) < 2:
        return
    matrix = np.stack([texts.vectors[facts[at].fact_text] for at in known])
    least = get_thresholds(texts.model).same
    for start in range(0, len(known), BLOCK_SIZE):
        rows, columns = np.nonzero(matrix[start : start + BLOCK_SIZE] @ matrix.T >= least)
        for row, column in zip((rows + start).tolist(), columns.tolist(), strict=True):
            if row < column:
                yield known[row], known[column]
