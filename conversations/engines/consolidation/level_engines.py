"""Levels of consolidation that an app further up brings, such as dreaming."""

from typing import Protocol
from uuid import UUID

from conversations.engines.consolidation.report import ConsolidationReport
from conversations.models import ConsolidationRun
from memory.actors import Actor
from memory.extensions import find_extension


class LevelEngine(Protocol):
    """Runs of one level, and their undo."""

    def consolidate(
        self, *, branch_name: str, actor: Actor, dry_run: bool, current_cycle: int | None
    ) -> ConsolidationReport: ...

    def undo_run(self, *, run_id: UUID, actor: Actor) -> ConsolidationRun: ...


def find_level_engine(level: str) -> LevelEngine | None:
    """Return the engine that makes and undoes the runs of a level; None for one of this app."""
    made = find_extension("consolidation_levels", level)
    return made() if made else None
