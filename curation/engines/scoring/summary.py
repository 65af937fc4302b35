"""The summary of a target's scores."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

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
    """Summarize the newest score of each scorer."""
    newest = {
        (dimension, method, scorer): value
        for dimension, method, scorer, value in rows.order_by("pk").values_list(
            "dimension", "method", "scorer", "value"
        )
    }
    values: dict[str, list[float]] = defaultdict(list)
    for (dimension, method, _), value in newest.items():
        if method != Score.Method.HEURISTIC:
            values[dimension].append(value)
    guesses = sum(method == Score.Method.HEURISTIC for _, method, _ in newest)
    return ScoreSummary([summarize_values(name, values[name]) for name in sorted(values)], guesses)


def summarize_values(dimension: str, values: Sequence[float]) -> DimensionSummary:
    average = round(sum(values) / len(values), 6)
    return DimensionSummary(dimension, len(values), average, min(values), max(values))
