"""What has no form of an operation at /sessions: the context of a session that does not exist yet."""

from typing import Any

from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from memory.answers import capture as shapes
from memory.api.base import get_request_actor
from memory.api.operations import build_view
from memory.api.routes import serve_at
from memory.api.schema import BRANCH, TEXT, query, route
from memory.engines.sessions.briefing import preview_context
from memory.engines.support import validation as c
from memory.operations.inputs import Input
from memory.operations.sessions import SESSIONS

DeclaredView: Any = build_view(SESSIONS)


@serve_at("sessions", "session")
class SessionViewSet(DeclaredView):
    @route(
        "What the next session would be told at its start; nothing is counted as told",
        {200: shapes.NextContextShape},
        None,
        [BRANCH, query("repository", TEXT, "As its hooks name it, such as github.com/acme/shop.")],
    )
    @action(detail=False, methods=["get"], url_path="next-context")
    def next_context(self, request: Request) -> Response:
        payload = Input(request)
        branch, repository = payload.take_branch(), payload.take_value("repository", c.plain_text, "")
        payload.refuse_unknown()
        found = preview_context(actor=get_request_actor(request), branch_name=branch, repository=repository)
        return Response(shapes.next_context(found, branch, repository))
