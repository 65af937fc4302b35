"""Whether the work of a task of curation is done, so that one that was set aside can go."""

from uuid import UUID

from curation.models import Scoring, VerificationJob

State = VerificationJob.State


def is_verified(job_id: str) -> bool:
    waiting = VerificationJob.objects.filter(state__in=(State.QUEUED, State.RUNNING, State.WAITING))
    return not waiting.filter(pk=UUID(job_id)).exists()


def is_scored(scoring_id: str) -> bool:
    return not Scoring.objects.filter(pk=UUID(scoring_id)).exclude(state__in=Scoring.ENDED).exists()
