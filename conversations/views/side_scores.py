"""Scores of a replay beside those of its source."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _

from conversations.engines.replays.batches import average_scores
from conversations.models import Replay


@dataclass(frozen=True)
class SideScore:
    """The averages of judged scores in one dimension, None where a side has none."""

    dimension: str
    source: float | None
    replay: float | None

    @property
    def title(self) -> str:
        return _(self.dimension.replace("_", " "))

    @property
    def change(self) -> str:
        """Return how much better or worse the replay is; "" where a side has no score."""
        if self.source is None or self.replay is None:
            return ""
        return f"{self.replay - self.source:+.2f}"


def list_side_scores(source: Mapping[str, float], replay: Mapping[str, float]) -> Sequence[SideScore]:
    """Return the scores of both sides, by dimension."""
    return [SideScore(name, source.get(name), replay.get(name)) for name in sorted({*source, *replay})]


def load_side_scores(row: Replay) -> Sequence[SideScore]:
    """Return what judges and people give a replay and its source."""
    sides = (row.source_id, row.conversation_id)
    return list_side_scores(*(average_scores(row.project_id, [uid]) for uid in sides))
