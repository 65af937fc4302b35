"""What has no form of an operation at /facts: searches, with their budget and the filters of a body."""

from typing import Any

from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from memory.actors import Actor
from memory.answers import facts as shapes
from memory.api.access import SESSION_HEADER
from memory.api.base import get_request_actor
from memory.api.operation_views import build_view
from memory.api.routes import serve_at
from memory.api.schema import documented
from memory.engines.facts.short_ids import find_fact_id
from memory.engines.fields.common import STATED_CHECKS
from memory.engines.search.engine import SearchEngine
from memory.engines.support.pagination import MAX_CURSOR_LENGTH
from memory.engines.support.validation import text_check
from memory.exceptions import Invalid
from memory.operations.facts import FACTS
from memory.operations.inputs import (
    Input,
    count,
    parse_integer,
    parse_names,
    parse_point,
    word,
)
from memory.operations.search_inputs import take_fact_filters, take_query

DeclaredView: Any = build_view(FACTS)


@serve_at("facts", "fact")
@documented
class FactViewSet(DeclaredView):
    end_user_actions = DeclaredView.end_user_actions | {"explain", "search", "search_by_body"}

    @action(detail=True, methods=["get"])
    def explain(self, request: Request, pk: str) -> Response:
        payload = Input(request)
        actor = payload.take_end_user(get_request_actor(request))
        branch, limit, query, options = self.parse_options(payload)
        payload.refuse_unknown()
        answer = SearchEngine().explain(
            query=query,
            fact_id=find_fact_id("id", pk, actor=actor, branch_name=branch),
            actor=actor,
            branch_name=branch,
            limit=limit,
            **options,
        )
        return Response(shapes.explanation_shape(answer, branch))

    @action(detail=False, methods=["get"], url_path="search", reads=True)
    def search(self, request: Request) -> Response:
        return self._run_search(request)

    @search.mapping.post
    def search_by_body(self, request: Request) -> Response:
        return self._run_search(request)

    def _run_search(self, request: Request) -> Response:
        payload = Input(request)
        payload.accept_alias("branch_names", "branches")
        if "branches" in payload.query or "branches" in payload.body:
            return self._search_across(request, payload)
        actor = get_searching_actor(request, payload)
        branch, limit, query, options = self.parse_options(payload)
        page = take_page(payload)
        payload.refuse_unknown()
        found = SearchEngine().search(
            query=query,
            actor=actor,
            branch_name=branch,
            limit=limit,
            **page,
            **options,
        )
        return Response(shapes.found_shape(found))

    def _search_across(self, request: Request, payload: Input) -> Response:
        """Search several branches, by name or pattern; ``branch`` and ``at`` are refused."""
        patterns = payload.take_value("branches", parse_names)
        for one in ("branch", "branch_name", "at"):
            if one in payload.query or one in payload.body:
                raise Invalid("{field} cannot be given together with branches.", field=one)
        actor = get_searching_actor(request, payload)
        _, limit, query, options = self.parse_options(payload)
        options.pop("at")
        page = take_page(payload)
        payload.refuse_unknown()
        found = SearchEngine().search_cross_branch(
            query=query,
            branch_names=patterns,
            actor=actor,
            limit=limit,
            **page,
            **options,
        )
        return Response(shapes.found_shape(found))

    @staticmethod
    def parse_options(payload: Input) -> tuple[str, int, str, dict[str, Any]]:
        """Take branch, limit, query and search options."""
        options = {
            "search_type": payload.take_value("search_type", word, "hybrid"),
            "include": payload.take_value("include", parse_names, []),
            "recipe": payload.take_value("recipe", word, ""),
            "at": payload.take_value("at", parse_point),
            "current_cycle": payload.take_value("current_cycle", count),
            "filters": take_fact_filters(payload),
        }
        return (
            payload.take_branch(),
            payload.take_value("limit", parse_integer, 10),
            take_query(payload),
            options,
        )


def take_page(payload: Input) -> dict[str, Any]:
    """Take the budget of a prompt, or the cursor of a page behind the first. Raises Invalid."""
    cursor = payload.take_value("cursor", text_check(MAX_CURSOR_LENGTH), "")
    return {"max_tokens": payload.take_value("max_tokens", parse_integer), "cursor": cursor}


def get_searching_actor(request: Request, payload: Input) -> Actor:
    """Return the actor with the session in whose name it searches: ``session_id`` is a filter there.

    Raises Invalid, UserForbidden.
    """
    named = STATED_CHECKS["session_id"](SESSION_HEADER, request.headers.get(SESSION_HEADER, ""))
    return payload.take_end_user(get_request_actor(request)).with_origin(session_id=named)
