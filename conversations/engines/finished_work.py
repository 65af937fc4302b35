"""Whether the work of a task of conversations is done, so that one that was set aside can go."""

from uuid import UUID

from conversations.engines.replays.endings import list_compared_early
from conversations.models import ConsolidationRun, Replay

State = ConsolidationRun.State


def is_consolidated(run_id: str) -> bool:
    waiting = ConsolidationRun.objects.filter(state__in=(State.QUEUED, State.RUNNING))
    return not waiting.filter(pk=UUID(run_id)).exists()


def is_replayed(replay_id: str) -> bool:
    return not Replay.objects.filter(pk=UUID(replay_id), state__in=Replay.ACTIVE).exists()


def is_compared(replay_id: str) -> bool:
    return not list_compared_early().filter(pk=UUID(replay_id)).exists()
