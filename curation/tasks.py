"""Background tasks of curation: thin, called by id, safe to run twice."""

from uuid import UUID

from celery import shared_task

BATCH_SIZE = 500  # texts that are compared before another project has its turn


@shared_task(name="curation.verify")
def verify(job_id: str) -> None:
    from curation.engines.verification.engine import VerificationEngine

    VerificationEngine().run_job(UUID(job_id))


@shared_task(name="curation.sweep_verification")
def sweep_verification() -> None:
    """Go on with jobs whose message or worker was lost, or that waited for a judge."""
    from curation.engines.verification.engine import VerificationEngine

    VerificationEngine().resume_jobs()


@shared_task(name="curation.score")
def score(scoring_id: str) -> None:
    from curation.engines.scoring.engine import ScoringEngine

    ScoringEngine().run_scoring(UUID(scoring_id))


@shared_task(name="curation.sweep_scorings")
def sweep_scorings() -> None:
    """Go on with scorings whose message or worker was lost, or that waited for a judge."""
    from curation.engines.scoring.engine import ScoringEngine

    ScoringEngine().resume_scorings()


@shared_task(name="curation.verify_due")
def verify_due() -> None:
    """Verify edited facts and old judgements again, within the budget of an hour."""
    from curation.engines.verification.engine import verify_due

    verify_due()


@shared_task(name="curation.dream")
def dream() -> None:
    """Propose reflections, in the projects that asked for it."""
    from curation.engines.dreaming.engine import dream_projects

    dream_projects()


# The names of these two are from before they moved here: saved schedules have them.
@shared_task(name="memory.near")
def near(project_id: str) -> None:
    from curation.engines.review.near_duplicates import NearDuplicateEngine
    from memory.queue.producer import enqueue

    if NearDuplicateEngine().check_pending(UUID(project_id), BATCH_SIZE) >= BATCH_SIZE:
        enqueue("memory.near", project_id)


@shared_task(name="memory.sweep_near")
def sweep_near() -> None:
    from curation.engines.review.near_duplicates import NearDuplicateEngine

    NearDuplicateEngine().compare_due()
