"""Ranking metrics, and a significance test between two recipes."""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from math import log2

import numpy as np

CUTS = (1, 5, 10, 20)
NAMES = (*(f"R@{k}" for k in CUTS), "MRR", "nDCG@10")
FLIPS = 10_000
SEED = 20_240_601


def of_ranking(ranked: Sequence[str], relevant: AbstractSet[str]) -> dict[str, float]:
    """Return recall at each cut, reciprocal rank and nDCG@10 of one answer."""
    found = [item in relevant for item in ranked]
    recall = {f"R@{k}": sum(found[:k]) / len(relevant) for k in CUTS}
    first = found.index(True) + 1 if True in found else 0
    gain = sum(hit / log2(rank + 2) for rank, hit in enumerate(found[:10]))
    best = sum(1 / log2(rank + 2) for rank in range(min(len(relevant), 10)))
    return {**recall, "MRR": 1 / first if first else 0.0, "nDCG@10": gain / best}


def mean(scores: Sequence[Mapping[str, float]]) -> dict[str, float]:
    return {name: float(np.mean([score[name] for score in scores])) for name in NAMES}


def compare(a: Sequence[float], b: Sequence[float]) -> dict[str, float]:
    """Compare b with a, question by question: the mean gain, its 95 % interval, and p.

    p is the share of random sign changes of the differences that give at least as large a mean (two-sided);
    the interval comes from resampling the questions.
    """
    differences = np.asarray(b) - np.asarray(a)
    rng = np.random.default_rng(SEED)
    seen, n = abs(differences.mean()), len(differences)
    flipped = np.abs(rng.choice((-1.0, 1.0), size=(FLIPS, n)) @ differences / n)
    drawn = differences[rng.integers(0, n, size=(FLIPS, n))].mean(axis=1)
    low, high = np.quantile(drawn, (0.025, 0.975))
    as_large = int((flipped >= seen - 1e-12).sum())
    return {
        "gain": float(differences.mean()),
        "low": float(low),
        "high": float(high),
        "p": (as_large + 1) / (FLIPS + 1),
    }
