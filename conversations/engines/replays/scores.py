"""Scores of replays and their sources, side by side, which another app gives."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol
from uuid import UUID

from django.utils.translation import gettext as _

from conversations.models import Replay
from memory.actors import Actor
from memory.extensions import load_extensions


class ReplayScoring(Protocol):
    """Interface of the scores of another app, named in its config."""

    def score_replay(self, row: Replay, actor: Actor) -> None:
        """Have judges rate a replay and its source, in the background."""

    def load_scores(
        self, project_id: UUID, conversation_ids: Sequence[UUID]
    ) -> Mapping[UUID, Mapping[str, float]]:
        """Return the judged scores of conversations, by conversation and dimension."""


def list_scorings() -> list[ReplayScoring]:
    """Return what scores replays."""
    return [made() for made in load_extensions("replay_scores").values()]


@dataclass(frozen=True)
class SideScore:
    """What source and replay are given in one dimension, None where a side has no score."""

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


def compare_scores(row: Replay) -> Sequence[SideScore]:
    """Return the scores of a replay and its source, by dimension."""
    source, replay = list_sides([row])[0]
    names = sorted({*source, *replay})
    return [SideScore(name, source.get(name), replay.get(name)) for name in names]


def average_sides(rows: Sequence[Replay]) -> Sequence[SideScore]:
    """Return the average scores of replays and their sources, by dimension.

    A pair counts where both are rated: the averages are of the same conversations.
    """
    pairs: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for source, replay in list_sides(rows):
        for name in source.keys() & replay.keys():
            pairs[name].append((source[name], replay[name]))
    sides = {name: zip(*pairs[name], strict=True) for name in sorted(pairs)}
    return [SideScore(name, *map(average, found)) for name, found in sides.items()]


def list_sides(rows: Sequence[Replay]) -> list[tuple[Mapping[str, float], Mapping[str, float]]]:
    """Return what the source and the replay of each row are given, by dimension."""
    ids = [uid for row in rows for uid in (row.source_id, row.conversation_id)]
    scores: dict[UUID, Mapping[str, float]] = {}
    for scoring in list_scorings() if rows else ():
        scores |= scoring.load_scores(rows[0].project_id, ids)
    return [(scores.get(row.source_id, {}), scores.get(row.conversation_id, {})) for row in rows]


def average(values: Sequence[float]) -> float:
    return round(sum(values) / len(values), 4)
