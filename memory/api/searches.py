"""/facts/search, in a query or in a body."""

from typing import Any

from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from memory.api import shapes
from memory.api.base import actor_of
from memory.api.filters import FactFilterSet
from memory.api.reading import Input, count, names, point, whole, word
from memory.engines.filters import FactFilter
from memory.engines.search import SearchEngine
from memory.exceptions import Invalid, UnknownField

ENGINE = SearchEngine()
RANGES = {"created": ("created_after", "created_before"), "valid": ("valid_after", "valid_before")}


class SearchRoutes:
    """The searching part of FactViewSet."""

    @action(detail=False, methods=["get"], url_path="search", writes=False)
    def search(self, request: Request) -> Response:
        return self._find(request)

    @search.mapping.post
    def search_by_body(self, request: Request) -> Response:
        return self._find(request)

    def _find(self, request: Request) -> Response:
        given = Input(request)
        if "branches" in given.query or "branches" in given.body:
            return self._across(request, given)
        branch, limit, query, how = self.wish(given)
        budget = given.take("max_tokens", whole)
        given.end()
        found = ENGINE.search(
            query=query, actor=actor_of(request), branch_name=branch, limit=limit, max_tokens=budget, **how
        )
        return Response(shapes.found(found))

    def _across(self, request: Request, given: Input) -> Response:
        """Over several branches, by name or pattern; ``branch`` and ``at`` name only one."""
        patterns = given.take("branches", names)
        for one in ("branch", "branch_name", "at"):
            if one in given.query or one in given.body:
                raise Invalid("{field} cannot be given together with branches.", field=one)
        _, limit, query, how = self.wish(given)
        how.pop("at")
        budget = given.take("max_tokens", whole)
        given.end()
        found = ENGINE.search_cross_branch(
            query=query, branch_names=patterns, actor=actor_of(request), limit=limit, max_tokens=budget, **how
        )
        return Response(shapes.found(found))

    @staticmethod
    def wish(given: Input) -> tuple[str, int, str, dict[str, Any]]:
        """Branch, limit, query, and how to search."""
        how = {
            "search_type": given.take("search_type", word, "hybrid"),
            "include": given.take("include", names, []),
            "recipe": given.take("recipe", word, ""),
            "at": given.take("at", point),
            "current_cycle": given.take("current_cycle", count),
            "filters": filters_of(given),
        }
        return given.branch(), given.take("limit", whole, 10), query_of(given), how


def looking(given: Input) -> tuple[str, str, dict[str, Any]]:
    """Branch, query, and how to search texts that are no facts."""
    how = {
        "search_type": given.take("search_type", word, "hybrid"),
        "recipe": given.take("recipe", word, ""),
        "at": given.take("at", point),
        "limit": given.take("limit", whole, 10),
    }
    return given.branch(), query_of(given), how


def query_of(given: Input) -> str:
    """The query, called ``query`` in a body and ``q`` in an address; both are understood in both."""
    said = [given.take(name, lambda _, value: value) for name in ("query", "q")]
    words = [text for text in said if text is not None]
    if not words:
        raise Invalid("{field} is needed.", field="query" if given.body else "q")
    if len(words) > 1 and words[0] != words[1]:
        raise Invalid("q and query say different things.", field="query")
    return words[0]


def filters_of(given: Input) -> FactFilter:
    """The filters, with ``time_range`` as two of them. Raises UnknownField, Invalid."""
    filters = given.some(FactFilterSet.base_filters)
    for name, value in _time_range(given.body.pop("time_range", None)).items():
        if name in filters:
            raise Invalid("time_range and {field} cannot be given together.", field=name)
        filters[name] = value
    return FactFilterSet.read(filters)


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
