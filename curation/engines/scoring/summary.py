"""The summary of a target's scores."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from curation.models import Score


@dataclass(frozen=True)
class DimensionSummary:
    """What judges and people give a target in one dimension."""

    dimension: str
    count: int
    average: float
    min: float
    max: float


@dataclass(frozen=True)
class ScoreSummary:
    """The dimensions in which a target was rated; ``guesses`` are scores of a heuristic, left out of them."""

    dimensions: Sequence[DimensionSummary]
    guesses: int


def summarize_rows(rows: Any) -> ScoreSummary:
    """Summarize the newest score of each scorer; one key or person counts once in each dimension."""
    newest = find_newest(rows)
    values: dict[str, list[float]] = defaultdict(list)
    for (_target, dimension, method, _giver), voices in group_by_giver(newest).items():
        if method != Score.Method.HEURISTIC:
            values[dimension].append(average(voices))
    guesses = sum(key[2] == Score.Method.HEURISTIC for key in newest)
    return ScoreSummary([summarize_values(name, values[name]) for name in sorted(values)], guesses)


def average_targets(rows: Any) -> dict[UUID, dict[str, float]]:
    """Return the average of each target's judged scores, by dimension."""
    values: dict[tuple[UUID, str], list[float]] = defaultdict(list)
    for (target, dimension, method, _giver), voices in group_by_giver(find_newest(rows)).items():
        if method != Score.Method.HEURISTIC:
            values[target, dimension].append(average(voices))
    found: dict[UUID, dict[str, float]] = defaultdict(dict)
    for (target, dimension), voices in values.items():
        found[target][dimension] = average(voices)
    return dict(found)


def find_newest(rows: Any) -> dict[tuple[UUID, str, str, str, str], float]:
    """Return the newest score by target, dimension, method, giver and scorer."""
    names = ("target_id", "dimension", "method", "giver", "scorer", "value")
    return {tuple(key): value for *key, value in rows.order_by("pk").values_list(*names)}


def group_by_giver(
    newest: Mapping[tuple[UUID, str, str, str, str], float],
) -> dict[tuple[UUID, str, str, str], list[float]]:
    """Return the scores of each giver; of scores that name none, of each scorer."""
    found: dict[tuple[UUID, str, str, str], list[float]] = defaultdict(list)
    for (target, dimension, method, giver, scorer), value in newest.items():
        found[target, dimension, method, giver or scorer].append(value)
    return found


def average(values: Sequence[float]) -> float:
    return round(sum(values) / len(values), 6)


def summarize_values(dimension: str, values: Sequence[float]) -> DimensionSummary:
    return DimensionSummary(dimension, len(values), average(values), min(values), max(values))
