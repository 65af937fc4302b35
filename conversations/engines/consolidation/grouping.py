"""Groups of facts in which each says the same as each other (complete link). No database access."""

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from math import ceil
from typing import Any
from uuid import UUID

import numpy as np

from conversations.engines.consolidation.matching import Texts
from memory.engines.support.similarity import MIN_JACCARD, get_thresholds
from memory.models import Fact, FactAssessment

BLOCK_SIZE = 256  # rows of a matrix of cosines
MAX_COMPARED = 200  # facts that share rare words with one, the best first
MAX_NEAR = 20  # facts of the nearest meaning
MAX_GROUP = 100  # facts of one group: the next run takes the others

Apart = Callable[[UUID, UUID], bool]


def never(_one: UUID, _other: UUID) -> bool:
    """Return that no two facts have to stay apart."""
    return False


def group_facts(facts: Sequence[Fact], texts: Texts, apart: Apart = never) -> list[list[Fact]]:
    """Return groups of two facts and more, the best of each first; ``apart`` says which pairs stay apart."""
    buckets = defaultdict[Hashable, list[Fact]](list)
    for fact in facts:
        buckets[get_bucket(fact)].append(fact)
    ordered = (sorted(bucket, key=rank_member) for bucket in buckets.values())
    return [group for bucket in ordered for group in link_completely(bucket, texts, apart)]


def get_bucket(fact: Fact) -> Hashable:
    """Return what facts must have in common: what holds elsewhere, at another time or for others differs."""
    names = "kind repository visibility valid_from valid_until expires_at user_id app_id".split()
    return tuple(getattr(fact, name) for name in names)


def rank_member(fact: Fact) -> tuple[Any, ...]:
    """Return what the best of a group is chosen by: the lowest."""
    verified = fact.verification_status == FactAssessment.Status.VERIFIED
    return (not verified, not fact.pinned, -fact.confidence, -fact.confirmation_count, fact.rid)


def link_completely(ordered: Sequence[Fact], texts: Texts, apart: Apart = never) -> list[list[Fact]]:
    """Return groups of which every pair says the same, the best of each first.

    The facts are taken in their order, the best first; each joins the group to whose least alike member it is
    most alike. Neither time nor memory grows with the square of their number, see ``MAX_COMPARED``.
    """
    sharing, near = WordIndex(ordered, texts), find_near(ordered, texts)
    groups: dict[int, list[int]] = {}
    for at, fact in enumerate(ordered):
        others = dict.fromkeys([*near.get(at, ()), *sharing.take_earlier(at)])
        likely = {id(groups[other]): groups[other] for other in others}
        scored = [
            (score, -group[0], group)
            for group in likely.values()
            if len(group) < MAX_GROUP
            if (score := measure_group(fact, [ordered[one] for one in group], texts, apart))
        ]
        groups[at] = max(scored)[2] if scored else []
        groups[at].append(at)
    whole = {id(group): group for group in groups.values() if len(group) > 1}
    return [[ordered[at] for at in group] for group in whole.values()]


def measure_group(fact: Fact, group: Sequence[Fact], texts: Texts, apart: Apart) -> float:
    """Return how alike a fact is to the least alike member of a group; 0 where one says something else."""
    least = 1.0
    for other in group:
        score = 0.0 if apart(fact.uid, other.uid) else texts.measure(fact.fact_text, other.fact_text)
        if not score:
            return 0.0
        least = min(least, score)
    return least


class WordIndex:
    """The facts that share rare words, each asked for in its turn.

    Of n words a text with a Jaccard above MIN_JACCARD lacks fewer than (1 - MIN_JACCARD) n: no pair above it
    is missing, unless more than MAX_COMPARED facts share these words.
    """

    def __init__(self, facts: Sequence[Fact], texts: Texts) -> None:
        counts = Counter(word for fact in facts for word in texts.words[fact.fact_text])
        self._rarest = [choose_rarest(texts.words[fact.fact_text], counts) for fact in facts]
        self._earlier = defaultdict[str, list[int]](list)

    def take_earlier(self, at: int) -> list[int]:
        """Return the facts before this one that share its rarest words, and note it for those after it."""
        found: dict[int, None] = {}
        for word in self._rarest[at]:
            earlier = self._earlier[word]
            if len(found) < MAX_COMPARED:
                found |= dict.fromkeys(earlier[:MAX_COMPARED])
            earlier.append(at)
        return list(found)[:MAX_COMPARED]


def choose_rarest(words: frozenset[str], counts: Mapping[str, int]) -> list[str]:
    ordered = sorted(words, key=lambda word: (counts[word], word))
    return ordered[: ceil((1 - MIN_JACCARD) * len(ordered)) + 1]


def find_near(facts: Sequence[Fact], texts: Texts) -> dict[int, list[int]]:
    """Return for each fact those before it at the model's threshold, the nearest MAX_NEAR of them."""
    known = [at for at, fact in enumerate(facts) if fact.fact_text in texts.vectors]
    if len(known) < 2:
        return {}
    matrix = np.stack([texts.vectors[facts[at].fact_text] for at in known])
    least, found = get_thresholds(texts.model).same, {}
    for start in range(0, len(known), BLOCK_SIZE):
        cosines = matrix[start : start + BLOCK_SIZE] @ matrix.T
        for row, values in enumerate(cosines, start):
            near = np.flatnonzero(values[:row] >= least)
            nearest = near[np.argsort(-values[near], kind="stable")[:MAX_NEAR]]
            found[known[row]] = [known[one] for one in nearest.tolist()]
    return found
