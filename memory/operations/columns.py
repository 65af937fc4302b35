"""A column of a list: which value of a row it shows, on a page and at a terminal."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

from memory.engines.support.ordering import Ordering

# How a value is shown; without a kind, as it is.
Kind = Literal["", "time", "number", "share", "size", "names", "word", "branch", "filter", "session"]
NUMBERS = ("number", "share", "size")


@dataclass(frozen=True)
class Column:
    """A value of the rows of a list.

    ``label`` is its head on a page, ``head`` at a terminal; without one it is not shown there. ``name`` is
    that of the value in an answer, ``of`` where it stands in a row if that is elsewhere. ``order`` is what
    sorts by it, if that has another name, ``tone`` the classes of its cells on a page, ``none`` what stands
    there for no value. At a terminal it stands behind all that are less ``late``.
    """

    name: str
    label: Any = ""
    head: str = ""
    kind: Kind = ""
    of: str = ""
    order: str = ""
    tone: str = ""
    none: Any = ""
    late: int = 0

    def read(self, row: Any) -> Any:
        """Return the value of a row; None where there is none."""
        for part in (self.of or self.name).split("."):
            row = row.get(part) if isinstance(row, dict) else getattr(row, part, None)
        return row

    @property
    def tones(self) -> str:
        """Return the classes of its cells."""
        return self.tone or ("number" if self.kind in NUMBERS else "")

    def find_order(self, order: Ordering | None) -> str:
        """Return what sorts a list by it; "" for nothing."""
        name = self.order or self.name
        return name if order and {name, f"-{name}"} & order.columns.keys() else ""


def describe_columns(columns: Iterable[Column]) -> list[str]:
    """Return the columns of a terminal as commands have them: ``id``, or ``made=created_at``."""
    shown = sorted((one for one in columns if one.head), key=lambda one: one.late)
    return [one.name if one.head == one.name else f"{one.head}={one.name}" for one in shown]
