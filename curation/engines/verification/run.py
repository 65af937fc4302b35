"""One run of a verification job by a worker: in portions, so that a crash loses no answer of the judge.

Each judgement is stored as soon as it is there; the verdicts of a portion then go onto the branch in one
commit, with the position of the job. A run that begins again finds what is stored and asks only for the rest.
"""

import logging
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from curation.engines.verification.judge import Judgement, Method, describe_error, judge_case, load_case
from curation.engines.verification.ratings import Rating, guess_verdict, rate_by_heuristic
from curation.models import Score, Verification, VerificationCursor, VerificationJob
from memory.actors import Actor
from memory.db.bulk_sql import build_row, insert_all
from memory.db.transactions import retry_transaction
from memory.engines.facts.assessment import annotate_facts
from memory.engines.facts.verdicts import JUDGEABLE, NewVerdict, record_verdicts
from memory.engines.support import leases
from memory.engines.support.batches import batched, filter_in
from memory.engines.support.model_budgets import RETRY_SECONDS, paid_by
from memory.engines.support.usage import count_rows, is_derived
from memory.engines.versions.commits import CommitWriter, open_commit
from memory.engines.versions.policies import Write
from memory.exceptions import BranchArchived, BranchNotFound, ModelBudgetSpent, ProviderUnavailable
from memory.models import Branch, Fact, FactAssessment
from memory.providers.chat import ChatServer, get_judge
from memory.providers.openai_server import REFUSED_TEXTS, REFUSING, find_configured

logger = logging.getLogger(__name__)
State = VerificationJob.State
SCORER = "verification_engine"
BATCH_SIZE = 500
VERIFIED, PLAUSIBLE = FactAssessment.Status.VERIFIED, FactAssessment.Status.PLAUSIBLE
COSTS = ("calls", "input_tokens", "output_tokens")
COUNTED_FIELDS = (*COSTS, "tries", "fallback")  # columns that a run counts itself
JUDGED_SIZE, HEURISTIC_SIZE = 10, 500  # facts of one commit
REFUSED_REQUEST = REFUSED_TEXTS  # about this fact alone, such as a text that is too long for the model


class Paused(Exception):
    """The judge asked for time: the job waits."""


class BudgetSpent(Exception):
    """The next fact would cost more calls than the job may make."""


def find_judge() -> tuple[ChatServer | None, str]:
    """Return the judge of the settings, and why there is none although they name one."""
    return find_configured(get_judge)


def claim_job(job_id: UUID) -> VerificationJob | None:
    """Take a job that no worker has, until its next sign of life is due."""
    if not leases.claim_row(VerificationJob, job_id, lease_seconds(find_judge()[0])):
        return None
    return VerificationJob.objects.select_related("branch").get(pk=job_id)


class VerificationRun:
    """A run of one job."""

    def __init__(self, job: VerificationJob) -> None:
        self.job = job
        self.lease = leases.Lease.of(job)
        self.judge, problem = find_judge()
        self.job.fallback = self.job.fallback or problem
        self.actor = Actor(job.project_id, "system", label=job.created_by, scopes=frozenset({"admin"}))

    @property
    def asks(self) -> bool:
        return self.judge is not None and not self.job.fallback

    def carry_out(self) -> None:
        """Verify the rest of the job's facts, until it is done, waits, or has spent its budget."""
        job = self.job
        try:
            while job.position < job.total:
                size = JUDGED_SIZE if self.asks else HEURISTIC_SIZE
                self._verify_portion([UUID(uid) for uid in job.fact_ids[job.position : job.position + size]])
        except Paused:
            return
        except leases.LeaseLost:
            logger.info("Verification job %s is another worker's", job.pk)
        except BudgetSpent:
            self._finish(State.STOPPED)
        except ModelBudgetSpent as spent:
            self._wait_for_budget(spent)
        except (BranchArchived, BranchNotFound) as error:
            self._finish(State.FAILED, error.text[:500])
        else:
            self._finish(State.DONE)

    def _finish(self, state: str, note: str = "") -> None:
        notes = {"note": note} if note else {}
        kept = {name: getattr(self.job, name) for name in COUNTED_FIELDS}
        self.lease.running.update(state=state, finished_at=timezone.now(), resume_at=None, **kept, **notes)
        self.job.refresh_from_db()

    # ---- a portion -----------------------------------------------------------------------------

    def _verify_portion(self, uids: Sequence[UUID]) -> None:
        """Judge the facts, then commit their verdicts; also of those before a pause or the budget's end."""
        facts = self._load_facts(uids)
        rows, end = self._load_stored(uids), None
        if self.asks:
            for reached, uid in enumerate(uids):
                try:
                    self._judge_once(facts, rows, uid)
                except (Paused, BudgetSpent, ModelBudgetSpent) as reason:
                    uids, end = uids[:reached], reason
                    break
        else:
            self._rate_rest(facts, rows, uids)
        if uids:
            self._commit_portion(uids, [rows[uid] for uid in uids if uid in rows])
        if end is not None:
            raise end

    def _load_facts(self, uids: Sequence[UUID]) -> dict[UUID, Fact]:
        """Return those of the facts that may be judged as the branch shows them now."""
        lineage = self.job.branch.lineage(None)
        rows = Fact.objects.in_lineage(lineage).filter(uid__in=uids, status__in=JUDGEABLE).fetch_all()
        if self.asks:
            annotate_facts(rows, lineage, self.job.project_id)
        return {fact.uid: fact for fact in rows}

    def _load_stored(self, uids: Sequence[UUID]) -> dict[UUID, Verification]:
        """Return what a run before this one stored and did not commit."""
        stored = Verification.objects.filter(job=self.job, fact_id__in=uids, applied=None)
        return {row.fact_id: row for row in stored}

    def _judge_once(self, facts: dict[UUID, Fact], rows: dict[UUID, Verification], uid: UUID) -> None:
        if uid not in facts or uid in rows:
            return
        (rows[uid],) = self._store([(facts[uid], self._ask_judge(facts[uid]))])

    def _ask_judge(self, fact: Fact) -> Judgement:
        """Return the judgement on a fact. Raises Paused, BudgetSpent, ModelBudgetSpent."""
        if not self.asks or self.judge is None:  # the server refused the fact before
            return Judgement(rate_by_heuristic(fact), fallback=self.job.fallback)
        if self.job.calls + self.job.votes > self.job.budget:
            raise BudgetSpent
        self.lease.renew(lease_seconds(self.judge, self.job.votes))
        try:
            with paid_by(self.job.project_id):
                found = judge_case(self.judge, load_case(fact, self.job.branch, self.actor), self.job.votes)
        except ModelBudgetSpent:
            raise
        except ProviderUnavailable as error:
            return self._stand_in(fact, error)
        self.job.tries = 0
        return found

    def _stand_in(self, fact: Fact, error: ProviderUnavailable) -> Judgement:
        """Let the heuristic stand in for a judge that does not answer, or wait for it. Raises Paused."""
        status, why = error.data.get("status"), describe_error(error)
        self.job.calls += 1
        if status not in REFUSED_REQUEST and status not in REFUSING:
            self.job.tries += 1
            if self.job.tries < leases.MAX_TRIES:
                self._wait(why, error.data.get("retry_after"))
        if status not in REFUSED_REQUEST:
            self.job.fallback = why
        return Judgement(rate_by_heuristic(fact), fallback=why)

    def _wait(self, why: str, retry_after: int | None) -> None:
        """Have the job go on later: when the server asked for it, else twice as late each time."""
        kept = {name: getattr(self.job, name) for name in COUNTED_FIELDS}
        self.lease.postpone(leases.choose_wait(self.job.tries - 1, retry_after), note=why, **kept)
        raise Paused

    def _wait_for_budget(self, spent: ModelBudgetSpent) -> None:
        """Have the job go on when there is a budget again; what it has is on the branch."""
        kept = {name: getattr(self.job, name) for name in COUNTED_FIELDS}
        note = f"{spent.text} {self.job.position} of {self.job.total} facts are done."
        self.lease.postpone(RETRY_SECONDS, note=note[:500], **kept)

    def _rate_rest(
        self, facts: dict[UUID, Fact], rows: dict[UUID, Verification], uids: Sequence[UUID]
    ) -> None:
        missing = [facts[uid] for uid in uids if uid in facts and uid not in rows]
        why = self.job.fallback
        rated = [(fact, Judgement(rate_by_heuristic(fact), fallback=why)) for fact in missing]
        rows |= {row.fact_id: row for row in self._store(rated)}

    def _store(self, pairs: Sequence[tuple[Fact, Judgement]]) -> list[Verification]:
        """Store judgements and what they cost, so that neither is lost nor paid for twice."""
        for name in COSTS:
            setattr(self.job, name, getattr(self.job, name) + sum(getattr(one, name) for _, one in pairs))
        return self._insert(pairs)

    @retry_transaction
    def _insert(self, pairs: Sequence[tuple[Fact, Judgement]]) -> list[Verification]:
        with transaction.atomic():
            self.lease.update(**{name: getattr(self.job, name) for name in COUNTED_FIELDS})
            return store_judgements(self.job, pairs)

    @retry_transaction
    def _commit_portion(self, uids: Sequence[UUID], rows: Sequence[Verification]) -> None:
        """Apply the verdicts and move on, in one transaction."""
        branch, counts = self.job.branch, dict(self.job.counts)
        with open_commit(self.actor, branch.name, "fact.verify", write=Write.EXEMPT) as commit:
            shown = commit.visible_rows(Fact).filter(uid__in=uids, status__in=JUDGEABLE).fetch_all()
            facts = {fact.uid: fact for fact in shown}
            apply_verdicts(commit, facts, rows)
            commit.detail = {"job": str(self.job.pk)}
            for row in rows:
                for name in (row.verdict, row.method):
                    counts[name] = counts.get(name, 0) + 1
            counts["refused"] = counts.get("refused", 0) + len(uids) - len(rows)
            gone = [uid for uid in uids if uid not in facts]
            Verification.objects.filter(branch=branch, fact_id__in=gone).update(latest=False)
            position = self.job.position + len(uids)
            self.lease.update(position=position, counts=counts)
        self.job.position, self.job.counts = position, counts
        branch.refresh_from_db(fields=["head", "head_at"])


def lease_seconds(judge: ChatServer | None, votes: int = 1) -> float:
    """Return how long a run may need between two signs of life."""
    return leases.LEASE_SECONDS + (judge.timeout * votes if judge else 0.0)


# ---- results -----------------------------------------------------------------------------------------


def store_judgements(job: VerificationJob, pairs: Sequence[tuple[Fact, Judgement]]) -> list[Verification]:
    """Store judgements that were not weighed against the facts' verdicts yet, with their scores."""
    rows = [build_verification(job, fact, one) for fact, one in pairs]
    insert_all(rows)
    target = {"scorer": SCORER, "target_type": Score.Target.FACT}
    of_rows = []
    for row, (_, one) in zip(rows, pairs, strict=True):
        own = {"verification_id": row.pk, "target_id": row.fact_id, "created_at": row.created_at}
        of_rows += build_scores(one.rating, row, method=row.method, **target, **own)
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


def build_scores(rating: Rating, row: Any, **values: Any) -> list[Score]:
    """Return the scores of a rating, one a dimension, on the branch of the row that has it."""
    values |= {"project_id": row.project_id, "branch_id": row.branch_id}
    scores = []
    for name, value in rating.scores.items():
        about = {"dimension": name, "value": value, "explanation": rating.reasons.get(name, "")}
        scores.append(build_row(Score, {**values, **about}))
        scores[-1].set_checksum()
    return scores


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
        for part in filter_in(Verification.objects.all(), "pk", chosen):
            part.update(applied=applied)
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
