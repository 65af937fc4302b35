"""The observations of a branch that a run reads, and the groups of them that are alike in meaning."""

from collections import defaultdict
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from curation.engines.dreaming.rules import BOUNDS, DreamRules
from memory.db.expressions import ActiveOnLineage
from memory.db.querysets import Lineage
from memory.engines.embedding.engine import load_vectors
from memory.engines.embedding.models import usable_provider
from memory.engines.facts.assessment import annotate_facts, searchable_rows
from memory.engines.support.similarity import get_thresholds, same_claim
from memory.engines.versions.repositories import name_repositories
from memory.models import Branch, Confirmation, Fact

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


MAX_FACTS = 20_000  # the newest that a run compares
TOO_MANY = "Only the newest {most} observations were compared."
NO_MODEL = "Without an embedder nothing is grouped by meaning."
PENDING = "{count} observations have no vector, and were left out."


@dataclass
class DreamSource:
    """What a run reads of a branch, and the groups of it."""

    branch: Branch
    facts: Sequence[Fact] = ()
    clusters: Sequence[Cluster] = ()
    model: str = ""
    notes: list[str] = field(default_factory=list)


def read_source(branch: Branch, rules: DreamRules, cycle: int) -> DreamSource:
    """Read the observations of a branch that pass the gates, and group them. No provider is asked."""
    facts = read_facts(branch, rules, cycle)
    provider = usable_provider(branch.project_id)
    source = DreamSource(branch, facts[:MAX_FACTS], model=provider.model if provider else "")
    if len(facts) > MAX_FACTS:
        source.notes.append(TOO_MANY.format(most=MAX_FACTS))
    if not source.model:
        source.notes.append(NO_MODEL)
        return source
    vectors = load_fact_vectors(source)
    source.clusters = list(group_facts(source, vectors, rules))
    return source


def read_facts(branch: Branch, rules: DreamRules, cycle: int) -> list[Fact]:
    """Return the newest observations that pass the gates, one more than a run compares."""
    lineage = branch.lineage()
    rows = searchable_rows(lineage, timezone.now()).filter(
        kind=Fact.Kind.OBSERVATION, origin__in=rules.origins, created_cycle__lte=cycle - rules.min_age_cycles
    )
    if not rules.allow_zero_confirmation:
        rows = rows.filter(is_confirmed(lineage))
    facts = rows.exclude(visibility=Fact.Visibility.PRIVATE).newest(MAX_FACTS + 1)
    name_repositories(facts, branch.project_id)
    annotate_facts(facts, lineage, branch.project_id)
    return facts


def is_confirmed(lineage: Lineage) -> Q:
    """Return the condition that somebody confirmed a fact, which is read before the newest are cut off."""
    confirmed = Confirmation.objects.filter(ActiveOnLineage(lineage), uid=OuterRef("uid"))
    return Q(Exists(confirmed))


def load_fact_vectors(source: DreamSource) -> dict[str, np.ndarray]:
    """Return the stored vectors by the hash of a text; note how many facts have none."""
    hashes = list({fact.content_hash for fact in source.facts})
    found, _ = load_vectors(source.branch.project_id, source.model, hashes)
    if missing := sum(fact.content_hash not in found for fact in source.facts):
        source.notes.append(PENDING.format(count=missing))
    return found


def group_facts(source: DreamSource, vectors: dict[str, np.ndarray], rules: DreamRules) -> Iterator[Cluster]:
    """Yield the groups among facts of one repository that hold at the same time."""
    buckets = defaultdict[Hashable, list[Fact]](list)
    for fact in source.facts:
        if (vector := vectors.get(fact.content_hash)) is not None:
            buckets[(*(getattr(fact, name) for name in BOUNDS), len(vector))].append(fact)
    for _, facts in sorted(buckets.items(), key=lambda item: min(fact.uid for fact in item[1])):
        matrix = np.stack([vectors[fact.content_hash] for fact in facts]).astype(np.float32)
        yield from find_clusters(facts, matrix, source.model, rules)
