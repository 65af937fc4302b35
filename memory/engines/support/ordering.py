"""The columns by which a list can be sorted, by their names in the API."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from memory.engines.support import validation as c

UNIQUE = frozenset({"id", "uid", "number"})  # in the order in which their rows were made


@dataclass(frozen=True)
class Ordering:
    """The columns of the database of each name that sorts a list; ``-name`` sorts it downwards.

    The sign of a name is the direction that is more often wanted, and the first name is the order without
    another wish. Rows of the same value follow their ids, so that a page begins where the one before ended;
    those of ``unique`` columns have no such rows.
    """

    columns: Mapping[str, str]
    unique: Collection[str] = ()

    @property
    def default(self) -> str:
        return next(iter(self.columns))

    @property
    def names(self) -> list[str]:
        """Return every order that there is."""
        return [order for name in self.columns for order in (name, turn_round(name))]

    def check(self, ordering: str) -> str:
        """Return the order that is asked for, the default for "". Raises Invalid for an unknown one."""
        return c.one_of(self.names)("ordering", ordering) if ordering else self.default

    def read_key(self, ordering: str) -> tuple[str, str]:
        """Return the column of an order, ``-name`` for descending, and the unique one of rows with the same
        value where it is none. Raises Invalid for an unknown order.
        """
        order = self.check(ordering)
        column = self.columns[order if order in self.columns else turn_round(order)]
        ties = "" if column in UNIQUE or column in self.unique else "id"
        return f"-{column}" if order.startswith("-") else column, ties

    def is_by_age(self, order: str) -> bool:
        """Return whether rows are sorted by when they were made."""
        return self.read_key(order)[0].removeprefix("-") in UNIQUE


def turn_round(order: str) -> str:
    """Return an order in its other direction."""
    return order.removeprefix("-") if order.startswith("-") else f"-{order}"


# The order of versions, whose ids are those of their rows' making; no index serves another one of them.
BY_AGE = Ordering({"-created_at": "uid"})
