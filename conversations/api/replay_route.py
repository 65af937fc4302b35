"""The replay of a conversation, a route of it."""

from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from conversations.answers import replays as replay_shapes
from conversations.api.comparisons import ComparisonRoutes
from conversations.engines.replays.engine import PARAMETERS, ReplayEngine
from memory.api.base import get_request_actor
from memory.engines.support import validation as c
from memory.operations.inputs import Input, parse_id, parse_object

engine = ReplayEngine()


class ReplayRoute(ComparisonRoutes):
    @action(detail=True, methods=["post"])
    def replay(self, request: Request, pk: str) -> Response:
        uid, payload = parse_id(pk), Input(request)
        branch, actor = payload.take_branch(), payload.take_actor(get_request_actor(request))
        memory_branch = payload.take_value("memory_branch", c.text_check(200), "")
        memory = payload.take_value("memory", parse_object)
        message_id = payload.take_needed("message_id", c.parse_uuid)
        row = engine.create_replay(
            conversation_id=uid,
            message_id=message_id,
            actor=actor,
            branch_name=branch,
            memory_branch=memory_branch,
            memory=memory,
            **payload.take_fields(PARAMETERS),
        )
        return Response(replay_shapes.replay(row), status=201)
