"""Comparisons of two conversations, routes of the first."""

from typing import Any

from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from conversations.answers import comparisons as comparison_shapes
from conversations.engines.semantic_diff.engine import SemanticDiffEngine
from memory.api.base import Resource, get_request_actor
from memory.engines.support import validation as c
from memory.operations.inputs import Input, parse_id

engine = SemanticDiffEngine()


class ComparisonRoutes(Resource):
    @action(detail=True, methods=["get"], url_path="diff/(?P<other>[^/]+)")
    def diff(self, request: Request, pk: str, other: str) -> Response:
        first, second, payload = parse_id(pk), parse_id(other), Input(request)
        branches, paging, actor = take_branches(payload), payload.take_paging(), get_request_actor(request)
        payload.refuse_unknown()
        page = engine.diff_rows(first=first, second=second, actor=actor, **branches, **paging)
        return Response(comparison_shapes.row_diff(page, actor))

    @action(detail=True, methods=["get"], url_path="semantic-diff/(?P<other>[^/]+)")
    def semantic_diff(self, request: Request, pk: str, other: str) -> Response:
        first, second, payload = parse_id(pk), parse_id(other), Input(request)
        branches, actor = take_branches(payload), get_request_actor(request)
        payload.refuse_unknown()
        found = engine.semantic_diff(first=first, second=second, actor=actor, **branches)
        return Response(comparison_shapes.semantic_diff(found))


def take_branches(payload: Input) -> dict[str, Any]:
    """Take the branch of each side; the second's is the first's by default."""
    branch = payload.take_branch()
    return {
        "branch_name": branch,
        "other_branch": payload.take_value("other_branch", c.text_check(200), ""),
    }
