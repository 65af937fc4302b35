"""Figures of ranks: recall, mean reciprocal rank, what changed, and whether that may be chance."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import numpy as np

SAMPLES = 10_000
SEED = 20261124
BLOCK_SIZE = 500  # samples that are drawn together
LOST, GAINED, MOVED, SAME, UNSCORED = "lost", "gained", "moved", "same", "unscored"
Ranks = dict[UUID, int | None]


@dataclass(frozen=True)
class Result:
    """Ranks of a question's expected facts; ``missing`` says why some have none, ``by_words`` that the
    embedder did not answer.

    Facts that were erased or are on no branch are left out of ``ranks``. ``before`` has the ranks of the
    other side of a comparison.
    """

    question: UUID
    ranks: Ranks
    before: Ranks | None = None
    missing: dict[UUID, str] = field(default_factory=dict)
    by_words: bool = False

    @property
    def is_scored(self) -> bool:
        """Return whether any of the expected facts can be found at all."""
        return bool(self.ranks)

    def describe_change(self, k: int) -> str:
        """Return what became of it: lost when a fact left the first k, gained when one came."""
        if not self.is_scored or self.before is None:
            return UNSCORED
        then, now = (
            {uid for uid, rank in side.items() if is_hit(rank, k)} for side in (self.before, self.ranks)
        )
        if then - now:
            return LOST
        if now - then:
            return GAINED
        return MOVED if self.before != self.ranks else SAME


def is_hit(rank: int | None, k: int) -> bool:
    return rank is not None and rank <= k


def recall_at(ranks: Ranks, k: int) -> float:
    """Return the share of the expected facts among the first k."""
    return sum(is_hit(rank, k) for rank in ranks.values()) / len(ranks)


def reciprocal_rank(ranks: Ranks) -> float:
    """Return 1 / rank of the expected fact that comes first; 0 where none is found."""
    return max((1 / rank for rank in ranks.values() if rank), default=0.0)


def summarise(results: Sequence[Result], k: int) -> dict[str, Any]:
    """Return the figures of a run; those of a comparison too where there is a side before."""
    scored = [one for one in results if one.is_scored]
    figures: dict[str, Any] = {"scored": len(scored), **mean_figures([one.ranks for one in scored], k)}
    if by_words := sum(one.by_words for one in results):
        figures["by_words"] = by_words
    if not any(one.before is not None for one in results):
        return figures
    before = [one.before or {} for one in scored]
    changes = [one.describe_change(k) for one in scored]
    return {
        **figures,
        "before": mean_figures(before, k),
        **{name: changes.count(name) for name in (LOST, GAINED, MOVED)},
        "significance": compare_figures([one.ranks for one in scored], before, k),
    }


def mean_figures(sides: Sequence[Ranks], k: int) -> dict[str, float | None]:
    """Return recall@k and MRR over questions; null without any."""
    if not sides:
        return {"recall": None, "mrr": None}
    recall = float(np.mean([recall_at(ranks, k) for ranks in sides]))
    return {"recall": round(recall, 4), "mrr": round(float(np.mean([*map(reciprocal_rank, sides)])), 4)}


def compare_figures(now: Sequence[Ranks], before: Sequence[Ranks], k: int) -> dict[str, Any]:
    """Return difference, interval and p of recall and MRR, paired by question; {} without questions."""
    if not now:
        return {}
    pairs = list(zip(now, before, strict=True))
    recall = np.array([recall_at(new, k) - recall_at(old, k) for new, old in pairs])
    mrr = np.array([reciprocal_rank(new) - reciprocal_rank(old) for new, old in pairs])
    return {"recall": measure_difference(recall), "mrr": measure_difference(mrr)}


def measure_difference(differences: np.ndarray) -> dict[str, float]:
    """Return the mean of paired differences, its 95 % interval by resampling, and p by flips of signs.

    p is the share of sign flips, this one included, that give a mean at least as far from 0. Seeded: the
    same ranks give the same figures.
    """
    random, count = np.random.default_rng(SEED), len(differences)
    mean = float(differences.mean())
    means, extreme = [], 1
    for _ in range(SAMPLES // BLOCK_SIZE):
        picks = random.integers(0, count, (BLOCK_SIZE, count))
        means.append(differences[picks].mean(axis=1))
        signs = random.integers(0, 2, (BLOCK_SIZE, count)) * 2 - 1
        extreme += int((np.abs((signs * differences).mean(axis=1)) >= abs(mean) - 1e-12).sum())
    low, high = np.quantile(np.concatenate(means), [0.025, 0.975])
    values = {"difference": mean, "low": float(low), "high": float(high), "p": extreme / (SAMPLES + 1)}
    return {name: round(value, 4) for name, value in values.items()}
