"""Background tasks of analytics: thin, safe to run twice."""

from celery import shared_task


@shared_task(name="analytics.update_tallies")
def update_tallies() -> None:
    """Bring stored figures up to date, so that a page counts only what came since."""
    from analytics.engines.stored import update_tallies

    update_tallies()
