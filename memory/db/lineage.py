"""Lineages along which queries do not show everything."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Self


@dataclass(frozen=True)
class EndUser:
    """The end user and the app that memory belongs to; "" is any."""

    user_id: str = ""
    app_id: str = ""

    def list_columns(self, model: Any = None) -> dict[str, str]:
        """Return the columns by which its memory is found, with their values; none that a model lacks."""
        if self == EVERYBODY or not (model is None or hasattr(model, "user_id")):
            return {}
        return {name: value for name, value in vars(self).items() if value}

    def owns(self, row: Any) -> bool:
        """Return whether a row belongs to it."""
        return all(getattr(row, name) == value for name, value in self.list_columns().items())


EVERYBODY = EndUser()


class MaskedLineage(tuple[tuple[int, int], ...]):
    """A lineage along which querysets leave versions out: those in quarantine, and those of other end users.

    Where nothing is left out a lineage is a plain sequence, and no query says anything of it.
    """

    hides: bool
    end_user: EndUser

    def __new__(
        cls, points: Iterable[tuple[int, int]], *, hides: bool = True, end_user: EndUser = EVERYBODY
    ) -> Self:
        made = super().__new__(cls, points)
        made.hides, made.end_user = hides, end_user
        return made

    def with_points(self, points: Iterable[tuple[int, int]]) -> Self:
        """Return other points, along which the same is left out."""
        return type(self)(points, hides=self.hides, end_user=self.end_user)


def take_own(lineage: Sequence[tuple[int, int]]) -> Sequence[tuple[int, int]]:
    """Return the lineage of what a branch shows of its own: what is left out stays so."""
    return lineage.with_points(lineage[:1]) if isinstance(lineage, MaskedLineage) else lineage[:1]


def take_parents(lineage: Sequence[tuple[int, int]]) -> Sequence[tuple[int, int]]:
    """Return the lineage of the parent: what is left out stays so along it."""
    return lineage.with_points(lineage[1:]) if isinstance(lineage, MaskedLineage) else lineage[1:]


def freeze(lineage: Sequence[tuple[int, int]]) -> Sequence[tuple[int, int]]:
    """Return a lineage that nobody changes."""
    return lineage if isinstance(lineage, tuple) else tuple(lineage)


def hides_quarantined(lineage: Sequence[tuple[int, int]]) -> bool:
    """Return whether something is in quarantine that queries along the lineage do not show."""
    return isinstance(lineage, MaskedLineage) and lineage.hides


def get_end_user(lineage: Sequence[tuple[int, int]]) -> EndUser:
    """Return whose memory alone a lineage shows."""
    return lineage.end_user if isinstance(lineage, MaskedLineage) else EVERYBODY
