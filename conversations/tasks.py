"""Background tasks of conversations: thin, called by id, safe to run twice."""

from uuid import UUID

from celery import shared_task


@shared_task(name="conversations.consolidate")
def consolidate(run_id: str) -> None:
    """Carry out a queued run of consolidation."""
    from conversations.engines.consolidation.engine import ConsolidationEngine

    ConsolidationEngine().carry_out_queued(run_id=UUID(run_id))


@shared_task(name="conversations.sweep_runs")
def sweep_runs() -> None:
    """End runs of consolidation whose process died, and queue those again whose message was lost."""
    from conversations.engines.consolidation.runs import end_dead_runs

    end_dead_runs()


@shared_task(name="conversations.consolidate_agents")
def consolidate_agents() -> None:
    """Consolidate what agents know, in the projects that asked for it."""
    from conversations.engines.consolidation.automatic import consolidate_projects

    consolidate_projects()


@shared_task(name="conversations.replay")
def replay(replay_id: str) -> None:
    from conversations.engines.replays.engine import ReplayEngine

    ReplayEngine().execute_replay(UUID(replay_id))


@shared_task(name="conversations.compare_replay")
def compare_replay(replay_id: str) -> None:
    """Compare a replay again whose texts had no vectors when it ended."""
    from conversations.engines.replays.endings import compare_again

    compare_again(UUID(replay_id))


@shared_task(name="conversations.sweep_replays")
def sweep_replays() -> None:
    """Go on with replays whose message or worker was lost, or that waited for a model or for vectors."""
    from conversations.engines.replays.engine import ReplayEngine

    ReplayEngine().resume_replays()
