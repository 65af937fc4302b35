"""/sessions: begun, read with their context, ended."""

from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from memory.api import capture_shapes as shapes
from memory.api.base import Resource, actor_of
from memory.api.capture_filters import SessionFilterSet
from memory.api.capture_schema import documented
from memory.api.reading import Input, whole
from memory.api.shapes import page
from memory.engines import cleaning as c
from memory.engines.session_manager import CHECKS, SessionManager
from memory.exceptions import Invalid

MANAGER = SessionManager()


@documented
class SessionViewSet(Resource):
    lookup_field = "session_id"
    # The id is the client's own and may hold slashes; the last segment is a route below a session.
    lookup_value_regex = r"(?:[^/]+/)*(?!(?:context|end)/?$)[^/]+"
    filterset_class = SessionFilterSet

    def create(self, request: Request) -> Response:
        given = Input(request)
        branch = given.branch()
        key = given.take("session_id", c.plain_text)
        if key is None:
            raise Invalid("{field} is needed.", field="session_id")
        named = [name for name in CHECKS if name not in ("session_id", "summary")]
        wanted = {name: given.take(name, CHECKS[name], "") for name in named}
        given.end()
        done = MANAGER.create_session(session_id=key, actor=actor_of(request), branch_name=branch, **wanted)
        row = {**shapes.session(done.session), "created": done.created}
        return Response(row, status=201 if done.created else 200)

    def list(self, request: Request) -> Response:
        given = Input(request)
        branch, paging = given.branch(default=""), given.paging()
        wanted = {name: given.take(name, c.text(200), "") for name in SessionFilterSet.base_filters}
        given.end()
        found = MANAGER.get_recent_sessions(actor=actor_of(request), branch_name=branch, **wanted, **paging)
        return Response(page(found, shapes.session))

    def retrieve(self, request: Request, session_id: str) -> Response:
        Input(request).end()
        return Response(shapes.session(MANAGER.get_session(session_id=session_id, actor=actor_of(request))))

    @action(detail=True, methods=["get"])
    def context(self, request: Request, session_id: str) -> Response:
        given = Input(request)
        limits = {name: given.take(name, whole, n) for name, n in (("message_limit", 50), ("fact_limit", 20))}
        given.end()
        found = MANAGER.get_session_context(session_id=session_id, actor=actor_of(request), **limits)
        return Response(shapes.session_context(found))

    @action(detail=True, methods=["post"])
    def end(self, request: Request, session_id: str) -> Response:
        given = Input(request)
        how = {
            "status": given.take("status", c.plain_text, "completed"),
            "summary": given.take("summary", c.plain_text, ""),
        }
        given.end()
        return Response(
            shapes.session(MANAGER.end_session(session_id=session_id, actor=actor_of(request), **how))
        )
