"""VerificationEngine: facts rated by a judge, by the heuristic where there is none, or by a person."""

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from itertools import groupby
from typing import Annotated, Any, Unpack
from uuid import UUID

from django.db import connection, transaction
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from curation.engines.orders import JOBS
from curation.engines.verification.run import State, VerificationRun, claim_job, find_judge
from curation.engines.verification.selection import (
    DEFAULT_LIMIT,
    MAX_FACTS,
    check_number,
    find_aged,
    find_edited,
    select_facts,
)
from curation.models import Verification, VerificationCursor, VerificationJob
from memory.actors import Actor
from memory.conf import conf
from memory.db.transactions import never_rerun, retry_methods, retry_transaction
from memory.engines.audit.trail import record_entry
from memory.engines.facts.bulk_actions import MAX_FACTS as MAX_NAMED
from memory.engines.facts.bulk_actions import check_ids
from memory.engines.facts.engine import FactEngine
from memory.engines.facts.filters import FactFilter
from memory.engines.facts.verdicts import require_judgeable
from memory.engines.fields.base import Field
from memory.engines.fields.fact_filters import FACT_FILTERS
from memory.engines.fields.types import Choice, Flag, Identifier, ListOf, Record, Text, Whole
from memory.engines.support.leases import list_due
from memory.engines.support.pagination import Page, Sorting, paginate
from memory.engines.support.usage import SCHEDULE
from memory.engines.versions.branch_access import filter_allowed_branches
from memory.engines.versions.lookup import MAIN, find_branch, require_live
from memory.exceptions import NotFound, StaleVersion, UnknownField
from memory.models import Branch, Fact, FactAssessment
from memory.queue.producer import enqueue

MAX_VOTES, MAX_BUDGET = 9, 100_000
MAX_WAIT_SECONDS, POLL_SECONDS = 30, 0.1
WAIT = Field(
    "wait",
    Whole(0, MAX_WAIT_SECONDS),
    "Seconds to wait for the judge; the rating is then the answer.",
)
VERDICT = Field("verdict", Choice([(name, name) for name in FactAssessment.JUDGEMENTS]))
VERDICT_REASON = Field("reason", Text(2000), "With a verdict.")
CHOSEN = Field(
    "filters",
    Record("BatchFiltersInput", "Filters of facts, as a list of them has.", FACT_FILTERS),
    "By default those that neither a person nor a judge has judged.",
    null=True,
)
FACT_IDS = Field("fact_ids", ListOf(Identifier(), min_items=1, max_items=MAX_NAMED), "These alone.")
LIMIT = Field(
    "limit",
    Whole(1, MAX_FACTS),
    f"The newest so many; {DEFAULT_LIMIT}.",
    label=_("Maximum unverified facts"),
)
BUDGET = Field(
    "budget",
    Whole(1, MAX_BUDGET),
    "Calls of the judge; the settings' number.",
    label=_("Maximum calls of the judge"),
)
VOTES = Field("votes", Whole(1, MAX_VOTES), "Answers on each fact.")
AGAIN = Field("again", Flag(), "Also texts that were rated before.", label=_("also those rated before"))
DONE_STATES = (State.DONE, State.STOPPED, State.FAILED)


@retry_methods
class VerificationEngine:
    @never_rerun  # each of its steps is rerun by itself: no fact gets two jobs
    def judge_fact(
        self,
        *,
        fact_id: UUID,
        actor: Actor,
        branch_name: str = MAIN,
        verdict: Annotated[str, VERDICT] = "",
        reason: Annotated[str | None, VERDICT_REASON] = None,
        wait: Annotated[int, WAIT] = 0,
        expected_version: int | None = None,
    ) -> Fact | VerificationJob:
        """Record a person's verdict; without one, queue a rating, and wait for it so many seconds.

        In a transaction, which no worker can see into before it ends, nothing is waited for. Raises as
        ``start_verification`` does, and as FactEngine.set_verification.
        """
        WAIT.check("wait", wait)
        where: dict[str, Any] = {"fact_id": fact_id, "actor": actor, "branch_name": branch_name}
        where["expected_version"] = expected_version
        if verdict:
            return FactEngine().set_verification(verdict=verdict, reason=reason or "", **where)
        if reason is not None:
            raise UnknownField(field=VERDICT_REASON.name)  # it goes with a verdict
        job = self.start_verification(**where)
        if not wait or connection.in_atomic_block:
            return job
        return self.wait_for_job(job_id=job.pk, actor=actor, seconds=wait)

    def start_verification(
        self, *, fact_id: UUID, actor: Actor, branch_name: str = MAIN, expected_version: int | None = None
    ) -> VerificationJob:
        """Queue the verification of one fact; return its job.

        The judge of the settings rates it; where there is none, or it gives no usable answer, the heuristic
        does, and the result says so. It becomes the fact's verdict unless a stronger one stands on the same
        text: of a person, or of a judge against the heuristic. Needs the scope curate. Raises NotFound,
        IllegalTransition for a fact that is archived or superseded, StaleVersion, BranchNotFound,
        BranchArchived, BranchReadOnly.
        """
        job = self._build_single_job(actor, branch_name, fact_id, expected_version)
        job.save()
        enqueue("curation.verify", str(job.pk))
        return job

    def verify_batch(
        self,
        *,
        actor: Actor,
        branch_name: str = MAIN,
        chosen: Annotated[Mapping[str, Any] | None, CHOSEN] = None,
        fact_ids: Annotated[Sequence[UUID], FACT_IDS] = (),
        limit: Annotated[int, LIMIT] = DEFAULT_LIMIT,
        budget: Annotated[int | None, BUDGET] = None,
        votes: Annotated[int | None, VOTES] = None,
        again: Annotated[bool, AGAIN] = False,
    ) -> VerificationJob:
        """Queue the verification of facts of a branch; return the job, which tells how far it is.

        Of those that the filters ``chosen`` let pass, by default the unverified ones, the newest ``limit``
        are taken; ``again`` takes in those whose text was rated before. ``budget`` bounds the calls of the
        judge: the job stops before it would make more. Needs the scope curate. Raises Invalid, TooLarge,
        BranchNotFound, BranchArchived.
        """
        actor.require_scope("curate", branch_name)
        branch = require_live(find_branch(actor, branch_name))
        check_number("limit", limit, MAX_FACTS)
        filters = None if chosen is None else FactFilter.from_values(chosen)
        ids = check_ids(fact_ids) if fact_ids else select_facts(branch, filters, limit, again)
        job = build_job(actor, branch, ids, budget, votes)
        job.save()
        record_entry(actor, "verification.batch", branch.name, {"job": str(job.pk), "facts": job.total})
        enqueue("curation.verify", str(job.pk))
        return job

    def run_job(self, job_id: UUID) -> None:
        """Carry out a queued job, or go on with one that was interrupted; no two workers run the same."""
        if (job := claim_job(job_id)) is not None:
            VerificationRun(job).carry_out()

    def resume_jobs(self) -> None:
        """Go on with jobs whose message or worker was lost, and those that waited long enough."""
        for job_id in list_due(VerificationJob):
            self.run_job(job_id)

    # ---- reading -------------------------------------------------------------------------------

    def get_job(self, *, job_id: UUID, actor: Actor) -> VerificationJob:
        """Return a job. Raises NotFound, also where the actor may not use its branch."""
        actor.require_scope("read")
        if (job := list_allowed(actor).filter(pk=job_id).first()) is None:
            raise NotFound("There is no job with this id.")
        return job

    def list_jobs(self, *, actor: Actor, **paging: Unpack[Sorting]) -> Page[VerificationJob]:
        """List the jobs on the branches that the actor may use, newest first."""
        actor.require_scope("read")
        rows = list_allowed(actor).defer("fact_ids")
        every = VerificationJob.objects.filter(project=actor.project_id)
        return paginate(rows, JOBS, **paging, of=every)

    def wait_for_job(self, *, job_id: UUID, actor: Actor, seconds: float) -> VerificationJob:
        """Return a job when it has ended, or as it is after so many seconds, at most 30."""
        return wait_for(lambda: self.get_job(job_id=job_id, actor=actor), DONE_STATES, seconds)

    def get_status(
        self, *, fact_id: UUID, actor: Actor, branch_name: str = MAIN, at: Any = None
    ) -> tuple[Fact, Verification | None]:
        """Return a fact with its verdict, and the newest rating of its present text on the branch, if any.

        A rating of a branch that this one was forked from counts as well. Raises NotFound, BranchNotFound.
        """
        fact = FactEngine().get_fact(fact_id=fact_id, actor=actor, branch_name=branch_name, at=at)
        return fact, find_rating(fact, find_branch(actor, branch_name))

    # ---- pieces --------------------------------------------------------------------------------

    def _build_single_job(
        self, actor: Actor, branch_name: str, fact_id: UUID, expected: int | None = None
    ) -> VerificationJob:
        actor.require_scope("curate", branch_name)
        branch = require_live(find_branch(actor, branch_name))
        fact = FactEngine().get_fact(fact_id=fact_id, actor=actor, branch_name=branch_name)
        if expected is not None:
            require_version(fact, expected)
        require_judgeable(fact)
        return build_job(actor, branch, [fact_id], max(conf().judge_budget, conf().judge_votes), None)


def wait_for(read: Callable[[], Any], ended: Collection[str], seconds: float) -> Any:
    """Return a row when its state is one of these, or as it is after so many seconds, at most 30."""
    end = time.monotonic() + min(seconds, MAX_WAIT_SECONDS)
    while (row := read()).state not in ended and time.monotonic() < end:
        time.sleep(POLL_SECONDS)
    return row


def require_version(fact: Fact, expected: int) -> None:
    """Raise StaleVersion unless a fact is at the version that the caller has read."""
    if fact.version != expected:
        raise StaleVersion(current=fact.version, expected=expected)


def build_job(
    actor: Actor, branch: Branch, ids: Sequence[UUID], budget: int | None, votes: int | None
) -> VerificationJob:
    """Build a job; without a number of calls or votes those of the settings. Raises Invalid."""
    votes = conf().judge_votes if votes is None else check_number("votes", votes, MAX_VOTES)
    budget = conf().judge_budget if budget is None else check_number("budget", budget, MAX_BUDGET)
    now: datetime = timezone.now()
    return VerificationJob(
        project_id=actor.project_id,
        branch=branch,
        fact_ids=[str(uid) for uid in ids],
        total=len(ids),
        votes=votes,
        budget=budget,
        created_at=now,
        created_by=actor.label,
    )


def list_allowed(actor: Actor) -> Any:
    jobs = VerificationJob.objects.filter(project=actor.project_id).select_related("branch")
    return filter_allowed_branches(jobs, actor)


def find_rating(fact: Fact, branch: Branch) -> Verification | None:
    """Return the newest rating of a fact's present text along the lineage of a branch, with its scores."""
    branches = [pk for pk, _seq in branch.lineage()]
    rows = Verification.objects.filter(
        branch__in=branches, fact_id=fact.uid, judged_hash=fact.judged_hash
    ).exclude(applied=None)
    return rows.prefetch_related("scores").order_by("-pk").first()


def verify_due() -> int:
    """Queue jobs for what is due, in each project within the calls of an hour; return how many facts.

    Without a judge nothing is due: the heuristic would say the same again. A project whose jobs of the
    schedule still run gets no more.
    """
    if find_judge()[0] is None:
        return 0
    cursors = VerificationCursor.objects.filter(branch__archived_at=None).select_related("branch")
    ordered = cursors.order_by("branch__project", "branch")
    found = 0
    for project_id, group in groupby(ordered, key=lambda one: one.branch.project_id):
        if not list_running(project_id):
            found += queue_project(list(group))
    return found


def list_running(project_id: UUID) -> bool:
    states = (State.QUEUED, State.RUNNING, State.WAITING)
    jobs = VerificationJob.objects.filter(project=project_id, state__in=states, created_by=SCHEDULE)
    return jobs.exists()


def queue_project(cursors: list[VerificationCursor]) -> int:
    """Queue one job for each branch of a project, until the calls of an hour are given out."""
    left = total = conf().judge_budget // conf().judge_votes
    for cursor in cursors:
        if left > 0:
            left -= queue_branch(cursor, left)
    return total - left


@retry_transaction
def queue_branch(cursor: VerificationCursor, left: int) -> int:
    """Queue what is due on a branch, and move its cursor, in one transaction; return how many facts."""
    with transaction.atomic():
        ids = find_edited(cursor, left)
        ids = list(dict.fromkeys([*ids, *find_aged(cursor.branch, left - len(ids))]))
        cursor.save()
        if not ids:
            return 0
        actor = Actor(cursor.branch.project_id, "system", label=SCHEDULE)
        budget = len(ids) * conf().judge_votes
        job = build_job(actor, cursor.branch, ids, budget, None)
        job.save()
        enqueue("curation.verify", str(job.pk))
    return len(ids)
