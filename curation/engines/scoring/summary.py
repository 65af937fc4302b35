"""The summary of a target's scores."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any
from uuid import UUID

from curation.models import Score

NO_JUDGEMENT = "Left out of them: scores of a heuristic, which are no judgement."
GUESSED = "A heuristic alone gave scores, which are no judgement."


@dataclass(frozen=True)
class DimensionSummary:
    """What judges and people give in one dimension."""

    dimension: str
    count: int
    average: float
    min: float
    max: float


@dataclass(frozen=True)
class ScoreSummary:
    """The scores of a target; the newest of each scorer counts, a key or a person once."""

    dimensions: Sequence[DimensionSummary]
    guesses: Annotated[int, NO_JUDGEMENT]
    warning: Annotated[str, "Empty, or that nobody has judged yet."]


def summarize_rows(rows: Any) -> ScoreSummary:
    """Summarize the newest score of each scorer; one key or person counts once in each dimension."""
    newest = find_newest(rows)
    values: dict[str, list[float]] = defaultdict(list)
    for (_target, dimension, method, _giver), voices in group_by_giver(newest).items():
        if method != Score.Method.HEURISTIC:
            values[dimension].append(average(voices))
    guesses = sum(key[2] == Score.Method.HEURISTIC for key in newest)
    dimensions = [
        DimensionSummary(name, len(own), average(own), min(own), max(own))
        for name, own in sorted(values.items())
    ]
    return ScoreSummary(dimensions, guesses, GUESSED if guesses and not dimensions else "")


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
