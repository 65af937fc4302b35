"""Background tasks of conversations: thin, called by id, safe to run twice."""

from uuid import UUID

from celery import shared_task


@shared_task(name="conversations.consolidate")
def consolidate(run_id: str) -> None:
    """Carry out a queued run of consolidation."""
    from conversations.engines.consolidation.engine import ConsolidationEngine

    ConsolidationEngine().carry_out_queued(run_id=UUID(run_id))
