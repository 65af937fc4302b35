"""/replay-batches: many conversations replayed with the same parameters, and one report."""

from typing import Any

from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from conversations.answers import replays as replay_shapes
from conversations.api import requests as r
from conversations.engines.conversations import ConversationFilter
from conversations.engines.orders import REPLAY_BATCHES
from conversations.engines.replays.batches import FIRST, ReplayBatchEngine
from conversations.engines.replays.engine import CHECKS, LIMITS, PARAMETERS
from memory.answers.rendering import page_shape
from memory.api.base import ResourceViewSet, get_request_actor
from memory.api.routes import serve_at
from memory.api.schema import document_routes, page, paging_by, route
from memory.engines.support import validation as c
from memory.exceptions import Invalid
from memory.operations.inputs import Input, parse_id, parse_ids, parse_object

engine = ReplayBatchEngine()
MONEY = "max_total_cost"
ROUTES = {
    "ReplayBatchViewSet": {
        "create": route(
            "Replay many conversations in the background",
            {202: replay_shapes.BatchReportShape},
            r.ReplayBatchInput,
        ),
        "list": route(
            "List batches of replays, newest first",
            {200: page(replay_shapes.ReplayBatchShape)},
            None,
            paging_by(REPLAY_BATCHES),
        ),
        "retrieve": route("What a batch of replays has come to", {200: replay_shapes.BatchReportShape}),
        "run": route(
            "Go on with the replays of a batch that stopped or failed",
            {202: replay_shapes.BatchReportShape},
            r.BatchLimitsInput,
        ),
        "stop": route("Stop the replays of a batch that are not done", {200: replay_shapes.BatchReportShape}),
    }
}


@serve_at("replay-batches", "replay-batch")
@document_routes(ROUTES, replay_shapes, r)
class ReplayBatchViewSet(ResourceViewSet):
    lookup_value_regex = "[^/]+"

    def create(self, request: Request) -> Response:
        payload = Input(request)
        branch, actor = payload.take_branch(), payload.take_actor(get_request_actor(request))
        options = {
            "conversation_ids": payload.take_value("conversation_ids", parse_ids),
            "filters": payload.take_value("filters", parse_filters),
            "start": payload.take_value("start", c.plain_text, FIRST),
            "name": payload.take_value("name", c.plain_text, ""),
            "memory": payload.take_value("memory", parse_object),
            MONEY: payload.take_value(MONEY, CHECKS["max_cost"]),
        }
        parameters = payload.take_fields(PARAMETERS)
        batch = engine.create_batch(actor=actor, branch_name=branch, **options, **parameters)
        return self._answer(request, batch.pk, 202)

    def list(self, request: Request) -> Response:
        payload = Input(request)
        paging = payload.take_paging(order=REPLAY_BATCHES)
        payload.refuse_unknown()
        found = engine.list_batches(actor=get_request_actor(request), **paging)
        return Response(page_shape(found, replay_shapes.batch))

    def retrieve(self, request: Request, pk: str) -> Response:
        Input(request).refuse_unknown()
        return self._answer(request, parse_id(pk))

    @action(detail=True, methods=["post"])
    def run(self, request: Request, pk: str) -> Response:
        uid, limits = parse_id(pk), Input(request).take_fields((*LIMITS, MONEY))
        engine.run_batch(batch_id=uid, actor=get_request_actor(request), **limits)
        return self._answer(request, uid, 202)

    @action(detail=True, methods=["post"])
    def stop(self, request: Request, pk: str) -> Response:
        uid = parse_id(pk)
        Input(request).refuse_unknown()
        engine.stop_batch(batch_id=uid, actor=get_request_actor(request))
        return self._answer(request, uid)

    @staticmethod
    def _answer(request: Request, uid: Any, status: int = 200) -> Response:
        report = engine.get_report(batch_id=uid, actor=get_request_actor(request))
        return Response(replay_shapes.report(report), status=status)


def parse_filters(name: str, value: Any) -> ConversationFilter:
    """Parse filters of conversations. Raises Invalid, UnknownField."""
    if not isinstance(value, dict):
        raise Invalid("{field} must be an object.", field=name)
    return ConversationFilter.from_values(value)
