"""Background tasks of curation: thin, called by id, safe to run twice."""

from uuid import UUID

from celery import shared_task


@shared_task(name="curation.verify")
def verify(job_id: str) -> None:
    from curation.engines.verification import VerificationEngine

    VerificationEngine().run_job(UUID(job_id))


@shared_task(name="curation.sweep_verification")
def sweep_verification() -> None:
    """Go on with jobs whose message or worker was lost, or that waited for a judge."""
    from curation.engines.verification import VerificationEngine

    VerificationEngine().resume_jobs()


@shared_task(name="curation.verify_due")
def verify_due() -> None:
    """Verify edited facts and old judgements again, within the budget of an hour."""
    from curation.engines import again

    again.verify_due()
