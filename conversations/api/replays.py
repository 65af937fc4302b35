"""/replays: list, context, run, cancel, compare, complete; a replay is made under its conversation."""

from typing import Any

from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from conversations.answers import comparisons as comparison_shapes
from conversations.answers import replays as replay_shapes
from conversations.api.schema import documented
from conversations.engines.orders import REPLAYS
from conversations.engines.replays.engine import LIMITS, ReplayEngine
from memory.answers.rendering import page_shape
from memory.api.base import ResourceViewSet, build_row_response, get_request_actor
from memory.api.routes import serve_at
from memory.engines.support import validation as c
from memory.operations.inputs import Input, parse_id, parse_names

engine = ReplayEngine()


@serve_at("replays", "replay")
@documented
class ReplayViewSet(ResourceViewSet):
    lookup_value_regex = "[^/]+"

    def list(self, request: Request) -> Response:
        payload = Input(request)
        conversation, paging = (
            payload.take_value("conversation_id", c.parse_uuid),
            payload.take_paging(order=REPLAYS),
        )
        state = payload.take_value("state", parse_names, ())
        payload.refuse_unknown()
        page = engine.list_replays(
            actor=get_request_actor(request), conversation_id=conversation, state=state, **paging
        )
        return Response(page_shape(page, replay_shapes.replay))

    def retrieve(self, request: Request, pk: str) -> Response:
        return build_row_response(replay_shapes.replay(engine.get_replay(**self._named(request, pk))))

    @action(detail=True, methods=["get"])
    def context(self, request: Request, pk: str) -> Response:
        return Response(engine.get_replay_context(**self._named(request, pk)))

    @action(detail=True, methods=["post"])
    def run(self, request: Request, pk: str) -> Response:
        uid, payload = parse_id(pk), Input(request)
        row = engine.run_replay(
            replay_id=uid, actor=get_request_actor(request), **payload.take_fields(LIMITS)
        )
        return Response(replay_shapes.replay(row), status=202)

    @action(detail=True, methods=["post"])
    def cancel(self, request: Request, pk: str) -> Response:
        return Response(replay_shapes.replay(engine.cancel_replay(**self._named(request, pk))))

    @action(detail=True, methods=["post"])
    def complete(self, request: Request, pk: str) -> Response:
        return Response(replay_shapes.replay(engine.complete_replay(**self._named(request, pk))))

    @action(detail=True, methods=["get"])
    def diff(self, request: Request, pk: str) -> Response:
        uid, payload, actor = parse_id(pk), Input(request), get_request_actor(request)
        paging = payload.take_paging()
        payload.refuse_unknown()
        page = engine.diff_replay(replay_id=uid, actor=actor, **paging)
        return Response(comparison_shapes.row_diff(page, actor))

    @action(detail=True, methods=["get"], url_path="semantic-diff")
    def semantic_diff(self, request: Request, pk: str) -> Response:
        found = engine.semantic_diff(**self._named(request, pk))
        return Response(comparison_shapes.semantic_diff(found))

    def _named(self, request: Request, pk: str) -> dict[str, Any]:
        uid, payload = parse_id(pk), Input(request)
        payload.refuse_unknown()
        return {"replay_id": uid, "actor": get_request_actor(request)}
