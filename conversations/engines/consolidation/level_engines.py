"""Levels of consolidation that an app further up brings, such as dreaming."""

from typing import Protocol
from uuid import UUID

from conversations.engines.consolidation.report import ConsolidationReport
from conversations.models import ConsolidationRun
from memory.actors import Actor


class LevelEngine(Protocol):
    """Runs of one level, and their undo."""

    def consolidate(
        self, *, branch_name: str, actor: Actor, dry_run: bool, current_cycle: int | None
    ) -> ConsolidationReport: ...

    def undo_run(self, *, run_id: UUID, actor: Actor) -> ConsolidationRun: ...


ENGINES: dict[str, LevelEngine] = {}


def register_level(level: str, engine: LevelEngine) -> None:
    """Let the engine make and undo the runs of a level."""
    ENGINES[level] = engine
