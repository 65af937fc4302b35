"""Results of verification: judgements as rows, and their verdicts on the facts of a branch."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from django.utils import timezone

from curation.engines.judge import Judgement, Method
from curation.engines.ratings import DIMENSIONS, guess_verdict
from curation.models import Score, Verification, VerificationCursor, VerificationJob
from memory.db.bulk_sql import build_row, insert_all
from memory.engines.facts.verdicts import NewVerdict, record_verdicts
from memory.engines.support.batches import batched
from memory.engines.support.usage import count_rows, is_derived
from memory.engines.versions.commits import CommitWriter
from memory.models import Branch, Fact, FactAssessment
from memory.models.nodes import uuid7

SCORER = "verification_engine"
BATCH_SIZE = 500
VERIFIED, PLAUSIBLE = FactAssessment.Status.VERIFIED, FactAssessment.Status.PLAUSIBLE
COSTS = ("calls", "input_tokens", "output_tokens")


def store_judgements(job: VerificationJob, pairs: Sequence[tuple[Fact, Judgement]]) -> list[Verification]:
    """Store judgements that were not weighed against the facts' verdicts yet, with their scores."""
    rows = [build_verification(job, fact, one) for fact, one in pairs]
    insert_all(rows)
    scores = zip(rows, pairs, strict=True)
    of_rows = [build_score(row, name, one) for row, (_, one) in scores for name in DIMENSIONS]
    insert_all(of_rows)
    if not is_derived(job):
        count_rows(job.project_id, [*rows, *of_rows])
    return rows


def build_verification(job: VerificationJob, fact: Fact, one: Judgement) -> Verification:
    values: dict[str, Any] = {name: getattr(one, name) for name in (*COSTS, "took_ms", "fallback", "votes")}
    row = build_row(
        Verification,
        {
            **values,
            "id": uuid7(),
            "project_id": job.project_id,
            "branch_id": job.branch_id,
            "job_id": job.pk,
            "fact_id": fact.uid,
            "judged_hash": fact.judged_hash,
            "method": one.method,
            "verdict": one.verdict,
            "average": one.rating.average,
            "model": one.model,
            "prompt": one.prompt,
            "applied": None,
            "disagrees": contradicts_heuristic(fact, one),
            "created_at": timezone.now(),
            "created_by": job.created_by,
        },
    )
    row.set_checksum()
    return row


def contradicts_heuristic(fact: Fact, one: Judgement) -> bool:
    """Return whether a judge gave another verdict than the heuristic, whose plausible is as near as it comes
    to verified.
    """
    expected = PLAUSIBLE if one.verdict == VERIFIED else one.verdict
    return one.method == Method.JUDGE and expected != guess_verdict(fact)


def build_score(row: Verification, name: str, one: Judgement) -> Score:
    values = {
        "id": uuid7(),
        "project_id": row.project_id,
        "branch_id": row.branch_id,
        "verification_id": row.pk,
        "scoring_id": None,
        "method": row.method,
        "target_type": Score.Target.FACT,
        "target_id": row.fact_id,
        "scorer": SCORER,
        "dimension": name,
        "value": one.rating.scores[name],
        "explanation": one.rating.reasons.get(name, ""),
        "created_at": row.created_at,
    }
    score = build_row(Score, values)
    score.set_checksum()
    return score


def apply_verdicts(commit: CommitWriter, facts: Mapping[UUID, Fact], rows: Sequence[Verification]) -> None:
    """Give each fact the verdict of its row, unless a stronger one stands or its text has changed since."""
    verdicts = [
        NewVerdict(facts[row.fact_id], row.verdict, row.method, describe_reason(row), describe_author(row))
        for row in rows
        if row.fact_id in facts and facts[row.fact_id].judged_hash == row.judged_hash
    ]
    news = {one.fact.uid for one in record_verdicts(commit, verdicts)}
    retire_rows(commit.branch, rows)
    for applied in (True, False):
        chosen = [row.pk for row in rows if (row.fact_id in news) == applied]
        for batch in batched(chosen, BATCH_SIZE):
            Verification.objects.filter(pk__in=batch).update(applied=applied)
    for row in rows:
        row.applied = row.fact_id in news
    VerificationCursor.objects.get_or_create(branch=commit.branch, defaults={"seq": commit.branch.head})


def retire_rows(branch: Branch, rows: Sequence[Verification]) -> None:
    """Mark the verifications before these as no longer the latest of their facts."""
    for batch in batched(list(rows), BATCH_SIZE):
        older = Verification.objects.filter(branch=branch, fact_id__in=[row.fact_id for row in batch])
        older.filter(latest=True).exclude(pk__in=[row.pk for row in batch]).update(latest=False)


def describe_author(row: Verification) -> str:
    """Return who gave a verdict: the model, or the heuristic under its own name."""
    return f"judge {row.model}"[:200] if row.method == Method.JUDGE else "heuristic"


def describe_reason(row: Verification) -> str:
    if row.method != Method.JUDGE:
        return (
            "The heuristic answers plausible or unverified."
            f" Average {row.average:.2f} of confidence, category and length: no judgement."
        )
    return f"Average {row.average:.2f} of accuracy, relevance and specificity, by prompt {row.prompt}."
