"""Filters that may be combined with MATCH: those on columns of the row itself."""

from collections.abc import Iterable
from typing import Any

from django.db.models import Q, QuerySet
from django.db.models.expressions import Exists, Subquery

RecordedFilter = tuple[bool, tuple, dict]


def split_plain(filters_given: Iterable[RecordedFilter]) -> tuple[list[RecordedFilter], list[RecordedFilter]]:
    """Split filters into those that may be combined with MATCH and those that may not."""
    plain: list[RecordedFilter] = []
    later: list[RecordedFilter] = []
    for filters in filters_given:
        _, args, kwargs = filters
        (later if any(map(_looks_elsewhere, (*args, *kwargs.values()))) else plain).append(filters)
    return plain, later


def _looks_elsewhere(part: Any) -> bool:
    if isinstance(part, Q):
        return any(map(_looks_elsewhere, part.children))
    if isinstance(part, tuple) and len(part) == 2 and isinstance(part[0], str):  # a lookup and its value
        return _looks_elsewhere(part[1])
    if isinstance(part, QuerySet | Exists | Subquery) or getattr(part, "looks_elsewhere", False):
        return True
    sources: Any = getattr(part, "get_source_expressions", list)()
    return any(map(_looks_elsewhere, filter(None, sources)))
