"""Groups of texts that are alike in meaning. No database access; equal input gives equal groups."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from curation.engines.dreaming.rules import DreamRules
from memory.engines.support.similarity import get_thresholds, same_claim
from memory.models import Fact

BLOCK_SIZE = 1024  # rows of a matrix of cosines
MAX_NEIGHBOURS = 64  # of a text that are remembered
MAX_MEMBERS = 30
FEW_TEXTS = 20  # observations of which nothing is taken off
CONFIDENCE_WEIGHT, CONFIRMATION_WEIGHT = 0.1, 0.1
MAX_CONFIRMATIONS = 5  # more weigh no more


@dataclass(frozen=True)
class Cluster:
    """Facts that are alike, the one that weighs most first, and their centroid."""

    members: Sequence[Fact]
    centroid: np.ndarray
    weights: Sequence[float]


def find_clusters(
    facts: Sequence[Fact], matrix: np.ndarray, model: str, rules: DreamRules
) -> Iterator[Cluster]:
    """Yield the groups of facts, whose vectors are the rows of ``matrix``, each fact in one at most."""
    if len(facts) < rules.min_size:
        return
    order = sorted(range(len(facts)), key=lambda at: facts[at].uid)
    facts, matrix = [facts[at] for at in order], matrix[order]
    own = take_common_off(matrix)
    near = find_neighbours(own, find_least_cosine(rules))
    free = np.ones(len(facts), dtype=bool)
    for seed in sorted(range(len(facts)), key=lambda at: (-len(near[at]), at)):
        if not free[seed]:
            continue
        members = gather_members(own, near[seed][free[near[seed]]], rules)
        members = drop_disputed(facts, matrix, members, model)
        if len(members) >= rules.min_size:
            free[members] = False
            yield build_cluster(facts, matrix, members)


def take_common_off(matrix: np.ndarray) -> np.ndarray:
    """Return unit vectors without what all texts have in common, the more of it the more texts there are.

    Observations of one speaker or in one form are all alike: that makes no group of them. What a few have in
    common may be what makes them a group.
    """
    share = max(0.0, 1 - FEW_TEXTS / max(len(matrix), 1))
    rest = matrix - share * matrix.mean(axis=0)
    own: np.ndarray = rest / np.maximum(np.linalg.norm(rest, axis=1, keepdims=True), 1e-9)
    return own


def find_least_cosine(rules: DreamRules) -> float:
    """Return the cosine of two members of the smallest group, each as far from its centroid as may be."""
    return (rules.min_size * rules.cohesion**2 - 1) / (rules.min_size - 1)


def find_neighbours(matrix: np.ndarray, least: float) -> list[np.ndarray]:
    """Return for each row the rows at ``least`` or nearer, itself among them, the nearest first."""
    found: list[np.ndarray] = []
    for start in range(0, len(matrix), BLOCK_SIZE):
        cosines = matrix[start : start + BLOCK_SIZE] @ matrix.T
        for row in cosines:
            near = np.flatnonzero(row >= least)
            found.append(near[np.argsort(-row[near], kind="stable")][:MAX_NEIGHBOURS])
    return found


def gather_members(matrix: np.ndarray, near: np.ndarray, rules: DreamRules) -> np.ndarray:
    """Return the rows that are at the cohesion or nearer to the centroid of those that stay.

    They go one at a time, the farthest first: each changes where the centroid is.
    """
    while len(near) >= rules.min_size:
        cosines = matrix[near] @ compute_centroid(matrix[near])
        if cosines.min() >= rules.cohesion:
            return near[np.argsort(-cosines, kind="stable")][:MAX_MEMBERS]
        near = np.delete(near, cosines.argmin())
    return near[:0]


def compute_centroid(matrix: np.ndarray) -> np.ndarray:
    mean = matrix.mean(axis=0)
    norm = float(np.linalg.norm(mean))
    centroid: np.ndarray = mean / norm if norm else mean
    return centroid


def drop_disputed(facts: Sequence[Fact], matrix: np.ndarray, members: np.ndarray, model: str) -> np.ndarray:
    """Return the members without those of which two say the same but for numbers, negation or names."""
    least = get_thresholds(model).same
    rows, columns = np.nonzero(np.triu(matrix[members] @ matrix[members].T >= least, k=1))
    disputed: set[int] = set()
    for a, b in zip(members[rows].tolist(), members[columns].tolist(), strict=True):
        if not same_claim(facts[a].fact_text, facts[b].fact_text):
            disputed |= {a, b}
    return np.array([at for at in members.tolist() if at not in disputed], dtype=int)


def build_cluster(facts: Sequence[Fact], matrix: np.ndarray, members: np.ndarray) -> Cluster:
    centroid = compute_centroid(matrix[members])
    cosines = (matrix[members] @ centroid).tolist()
    weighed = {
        at: weigh_fact(facts[at], cosine) for at, cosine in zip(members.tolist(), cosines, strict=True)
    }
    order = sorted(weighed, key=lambda at: (-round(weighed[at], 6), at))
    return Cluster([facts[at] for at in order], centroid, [weighed[at] for at in order])


def weigh_fact(fact: Fact, cosine: float) -> float:
    """Return how much a member says of its group: its place, its confidence and its confirmations."""
    confirmed = min(fact.confirmation_count, MAX_CONFIRMATIONS) / MAX_CONFIRMATIONS
    return cosine + CONFIDENCE_WEIGHT * fact.confidence + CONFIRMATION_WEIGHT * confirmed
