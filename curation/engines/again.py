"""Verifying again: facts that were edited since a judge rated them, and judgements that have grown old."""

from itertools import groupby
from uuid import UUID

from django.db import transaction

from curation.engines.selection import find_aged, find_edited
from curation.engines.verification import build_job
from curation.engines.verification_run import State, find_judge
from curation.models import VerificationCursor, VerificationJob
from memory.actors import Actor
from memory.conf import conf
from memory.db.transactions import retry_transaction
from memory.engines.support.usage import SCHEDULE
from memory.queue.producer import enqueue


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
