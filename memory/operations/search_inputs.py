"""Parsing of searches: the query, its options, and the filters of facts."""

from typing import Any

from memory.engines.facts.filters import FactFilter
from memory.exceptions import Invalid, UnknownField
from memory.filters import FactFilterSet
from memory.operations.inputs import Input

RANGES = {"created": ("created_after", "created_before"), "valid": ("valid_after", "valid_before")}


def take_query(payload: Input) -> str:
    """Take the query, named ``query`` or ``q``. Raises Invalid if it is missing or they differ."""
    payload.accept_alias("q", "query")
    text = payload.take_value("query", lambda _, value: value)
    if text is None:
        raise Invalid("{field} is needed.", field="query" if payload.body else "q")
    return text


def take_fact_filters(payload: Input) -> FactFilter:
    """Take the filters, with ``time_range`` as two of them. Raises UnknownField, Invalid."""
    filters = payload.take_unchecked(FactFilterSet.base_filters)
    for name, value in _time_range(payload.body.pop("time_range", None)).items():
        if name in filters:
            raise Invalid("time_range and {field} cannot be given together.", field=name)
        filters[name] = value
    return FactFilterSet.parse_values(filters)


def _time_range(value: Any) -> dict[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise Invalid("{field} must be an object with start, end and field.", field="time_range")
    if unknown := value.keys() - {"start", "end", "field"}:
        raise UnknownField(field=f"time_range.{min(unknown)}")
    kind = value.get("field", "created")
    if not isinstance(kind, str) or kind not in RANGES:
        raise Invalid("{field} must be created or valid.", field="time_range.field")
    ends = zip(RANGES[kind], (value.get("start"), value.get("end")), strict=True)
    return {name: end for name, end in ends if end is not None}
