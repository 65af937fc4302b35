"""Calibration: how far the judge agrees with the curators, from their own verdicts on the same texts."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any
from uuid import UUID

from curation.models import Verification
from memory.actors import Actor
from memory.engines.support.batches import gather_in
from memory.engines.versions.branch_access import filter_allowed_branches
from memory.models import FactAssessment

MAX_JUDGED = 10_000  # newest judgements that are looked at
Status, Method = FactAssessment.Status, FactAssessment.Method
VERDICTS = (Status.VERIFIED.value, Status.UNVERIFIED.value, Status.INVALIDATED.value)
DECIDED = (Status.VERIFIED, Status.INVALIDATED)  # a cleared verdict decides nothing
Key = tuple[UUID, str]  # a fact and its text


@dataclass(frozen=True)
class Calibration:
    """Agreement of a judge with people."""

    model: Annotated[str, "Empty: all judges together."]
    prompt: str
    pairs: Annotated[int, "Texts with a verdict of both."]
    agreement: float | None
    kappa: Annotated[float | None, "Cohen's; null where it is not defined."]
    table: Annotated[Mapping[str, Any], "Counts by the person's verdict, then the judge's."]


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
    rows = FactAssessment.objects.all_versions().filter(
        method=Method.HUMAN, deleted=False, branch__project=actor.project_id
    )
    verdicts = gather_in(
        filter_allowed_branches(rows, actor), "uid", uids, "at", "status", "uid", "judged_hash"
    )
    newest = {(uid, judged_hash): status for _, status, uid, judged_hash in sorted(verdicts)}
    return {key: status for key, status in newest.items() if status in DECIDED}


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
