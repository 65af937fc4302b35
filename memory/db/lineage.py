"""Lineages that are read without what is in quarantine."""

from collections.abc import Sequence


class MaskedLineage(list[tuple[int, int]]):
    """A lineage of a project in which something is hidden: querysets leave hidden versions out.

    Where nothing is hidden a lineage is a plain list, and no query says anything of it.
    """


def take_own(lineage: Sequence[tuple[int, int]]) -> Sequence[tuple[int, int]]:
    """Return the lineage of what a branch shows of its own: what is in quarantine stays hidden."""
    return MaskedLineage(lineage[:1]) if isinstance(lineage, MaskedLineage) else lineage[:1]


def take_parents(lineage: Sequence[tuple[int, int]]) -> Sequence[tuple[int, int]]:
    """Return the lineage of the parent: what is in quarantine stays hidden along it."""
    return MaskedLineage(lineage[1:]) if isinstance(lineage, MaskedLineage) else lineage[1:]
