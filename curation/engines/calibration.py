"""Calibration: how far the judge agrees with the curators, from their own verdicts on the same texts."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from curation.models import Verification
from memory.actors import Actor
from memory.engines.support.batches import batched
from memory.engines.versions.branch_access import filter_allowed_branches
from memory.models import FactAssessment

MAX_JUDGED = 10_000  # newest judgements that are looked at
BATCH_SIZE = 500
Status, Method = FactAssessment.Status, FactAssessment.Method
VERDICTS = (Status.VERIFIED.value, Status.UNVERIFIED.value, Status.INVALIDATED.value)
DECIDED = (Status.VERIFIED, Status.INVALIDATED)  # a cleared verdict decides nothing
Key = tuple[UUID, str]  # a fact and its text


@dataclass(frozen=True)
class Calibration:
    """Agreement of one judge, or of all, with people: ``table`` counts pairs of their verdicts, person first.

    ``kappa`` is None where it is not defined: without pairs, or when all say the same by chance alone.
    """

    model: str
    prompt: str
    pairs: int
    agreement: float | None
    kappa: float | None
    table: Mapping[str, Mapping[str, int]]


def calibrate(*, actor: Actor) -> list[Calibration]:
    """Compare the judges with the people, all together first, then each model with each of its prompts.

    The newest judgement of a text counts, and the newest verdict of a person on it, on the branches that the
    actor may use. A judge does not see what people said. Needs the scope curate.
    """
    actor.require_scope("curate")
    rows = Verification.objects.filter(project=actor.project_id, method=Method.JUDGE)
    allowed = filter_allowed_branches(rows, actor).order_by("-created_at", "-pk")
    judged = list(allowed.values_list("fact_id", "judged_hash", "model", "prompt", "verdict")[:MAX_JUDGED])
    people = load_people(actor, {row[0] for row in judged})
    found: dict[tuple[str, str], dict[Key, tuple[str, str]]] = {("", ""): {}}
    for uid, judged_hash, model, prompt, verdict in judged:
        if person := people.get((uid, judged_hash)):
            for name in (("", ""), (model, prompt)):
                found.setdefault(name, {}).setdefault((uid, judged_hash), (person, verdict))
    return [compare(*name, list(pairs.values())) for name, pairs in found.items()]


def load_people(actor: Actor, uids: set[UUID]) -> dict[Key, str]:
    """Return the newest verdict of a person on each text of these facts."""
    found: dict[Key, tuple] = {}
    for batch in batched(sorted(uids), BATCH_SIZE):
        rows = FactAssessment.objects.all_versions().filter(
            uid__in=batch, method=Method.HUMAN, deleted=False, branch__project=actor.project_id
        )
        for uid, judged_hash, at, status in filter_allowed_branches(rows, actor).values_list(
            "uid", "judged_hash", "at", "status"
        ):
            found[uid, judged_hash] = max(found.get((uid, judged_hash), (at, status)), (at, status))
    return {key: status for key, (_, status) in found.items() if status in DECIDED}


def compare(model: str, prompt: str, pairs: Sequence[tuple[str, str]]) -> Calibration:
    """Compare pairs of verdicts, person first."""
    counts = Counter(pairs)
    table = {person: {judge: counts[person, judge] for judge in VERDICTS} for person in VERDICTS}
    agreed = sum(counts[one, one] for one in VERDICTS)
    agreement = round(agreed / len(pairs), 4) if pairs else None
    return Calibration(model, prompt, len(pairs), agreement, compute_kappa(counts), table)


def compute_kappa(counts: Mapping[tuple[str, str], int]) -> float | None:
    """Return Cohen's kappa of pairs of verdicts: agreement beyond what chance gives."""
    total = sum(counts.values())
    if not total:
        return None
    observed = sum(count for (one, other), count in counts.items() if one == other) / total
    first, second = Counter[str](), Counter[str]()
    for (one, other), count in counts.items():
        first[one] += count
        second[other] += count
    expected = sum(first[name] * second[name] for name in first) / total**2
    return None if expected == 1 else round((observed - expected) / (1 - expected), 4)
