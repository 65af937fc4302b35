"""/sessions: create, list, read with their context, end."""

from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from memory.answers import capture as shapes
from memory.answers.rendering import page_shape
from memory.api.base import Resource, get_request_actor
from memory.api.capture_schema import documented
from memory.api.routes import serve_at
from memory.engines.fields.capture import SESSION_FILTERS
from memory.engines.fields.orders import SESSIONS
from memory.engines.sessions.manager import CHECKS, SessionManager
from memory.engines.sessions.preview import preview_context
from memory.engines.support import validation as c
from memory.filters import SessionFilterSet
from memory.operations.inputs import Input, parse_integer

session_manager = SessionManager()


@serve_at("sessions", "session")
@documented
class SessionViewSet(Resource):
    lookup_field = "session_id"
    # The id is the client's own and may contain slashes; the last segment is a route of the session.
    lookup_value_regex = r"(?:[^/]+/)*(?!(?:context|end|next-context)/?$)[^/]+"
    filterset_class = SessionFilterSet

    def create(self, request: Request) -> Response:
        payload = Input(request)
        branch = payload.take_branch()
        key = payload.take_needed("session_id", c.plain_text)
        named = [name for name in CHECKS if name not in ("session_id", "summary")]
        requested = {name: payload.take_value(name, CHECKS[name], "") for name in named}
        payload.refuse_unknown()
        done = session_manager.create_session(
            session_id=key, actor=get_request_actor(request), branch_name=branch, **requested
        )
        row = {**shapes.session(done.session), "created": done.created}
        return Response(row, status=201 if done.created else 200)

    def list(self, request: Request) -> Response:
        payload = Input(request)
        branch, paging = payload.take_branch(default=""), payload.take_paging(order=SESSIONS)
        requested = {
            one.name: payload.take_value(one.name, c.blank_or(one.make_check()), "")
            for one in SESSION_FILTERS
        }
        payload.refuse_unknown()
        found = session_manager.get_recent_sessions(
            actor=get_request_actor(request), branch_name=branch, **requested, **paging
        )
        return Response(page_shape(found, shapes.session))

    def retrieve(self, request: Request, session_id: str) -> Response:
        Input(request).refuse_unknown()
        return Response(
            shapes.session(
                session_manager.get_session(session_id=session_id, actor=get_request_actor(request))
            )
        )

    @action(detail=False, methods=["get"], url_path="next-context")
    def next_context(self, request: Request) -> Response:
        payload = Input(request)
        branch, repository = payload.take_branch(), payload.take_value("repository", c.plain_text, "")
        payload.refuse_unknown()
        found = preview_context(actor=get_request_actor(request), branch_name=branch, repository=repository)
        return Response(shapes.next_context(found, branch, repository))

    @action(detail=True, methods=["get"])
    def context(self, request: Request, session_id: str) -> Response:
        payload = Input(request)
        limits = {
            name: payload.take_value(name, parse_integer, n)
            for name, n in (("message_limit", 50), ("fact_limit", 20))
        }
        payload.refuse_unknown()
        found = session_manager.get_session_context(
            session_id=session_id, actor=get_request_actor(request), **limits
        )
        return Response(shapes.session_context(found))

    @action(detail=True, methods=["post"])
    def end(self, request: Request, session_id: str) -> Response:
        payload = Input(request)
        options = {
            "status": payload.take_value("status", c.plain_text, "completed"),
            "summary": payload.take_value("summary", c.plain_text, ""),
        }
        payload.refuse_unknown()
        return Response(
            shapes.session(
                session_manager.end_session(
                    session_id=session_id, actor=get_request_actor(request), **options
                )
            )
        )
