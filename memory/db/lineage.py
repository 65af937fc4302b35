"""Lineages that are read without what is in quarantine."""


class MaskedLineage(list[tuple[int, int]]):
    """A lineage of a project in which something is hidden: querysets leave hidden versions out.

    Where nothing is hidden a lineage is a plain list, and no query says anything of it.
    """
