"""The observations of a branch that a run reads, with their stored vectors."""

from collections import defaultdict
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from curation.engines.dreaming.clusters import Cluster, find_clusters
from curation.engines.dreaming.rules import BOUNDS, DreamRules
from memory.db.expressions import ActiveOnLineage
from memory.db.querysets import Lineage
from memory.engines.embedding.engine import load_vectors
from memory.engines.embedding.models import usable_provider
from memory.engines.facts.assessment import annotate_facts, searchable_rows
from memory.engines.support.batches import batched
from memory.engines.versions.repositories import name_repositories
from memory.models import Branch, Confirmation, Fact

MAX_FACTS = 20_000  # the newest that a run compares
BATCH_SIZE = 500
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
    found: dict[str, np.ndarray] = {}
    for batch in batched(hashes, BATCH_SIZE):
        found |= load_vectors(source.branch.project_id, source.model, batch)[0]
    if missing := sum(fact.content_hash not in found for fact in source.facts):
        source.notes.append(PENDING.format(count=missing))
    return found


def group_facts(source: DreamSource, vectors: dict[str, np.ndarray], rules: DreamRules) -> Iterator[Cluster]:
    """Yield the groups among facts of one repository that hold at the same time."""
    buckets = defaultdict[Hashable, list[Fact]](list)
    for fact in source.facts:
        if (vector := vectors.get(fact.content_hash)) is not None:
            buckets[(*get_bounds(fact), len(vector))].append(fact)
    for _, facts in sorted(buckets.items(), key=lambda item: min(fact.uid for fact in item[1])):
        matrix = np.stack([vectors[fact.content_hash] for fact in facts]).astype(np.float32)
        yield from find_clusters(facts, matrix, source.model, rules)


def get_bounds(fact: Fact) -> tuple[Hashable, ...]:
    return tuple(getattr(fact, name) for name in BOUNDS)
