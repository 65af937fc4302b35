"""/messages: read, search."""

from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from conversations.answers import conversations as shapes
from conversations.api.schema import documented
from conversations.engines.messages import MessageEngine, MessageFilter
from conversations.filters import MessageFilterSet
from memory.api.base import ResourceViewSet, build_row_response, get_request_actor
from memory.api.routes import serve_at
from memory.operations.inputs import Input, parse_id, parse_point
from memory.operations.search_inputs import parse_text_search

message_engine = MessageEngine()


@serve_at("messages", "message")
@documented
class MessageViewSet(ResourceViewSet):
    lookup_value_regex = "[^/]+"
    filterset_class = MessageFilterSet

    @action(detail=False, methods=["get"])
    def search(self, request: Request) -> Response:
        payload, actor = Input(request), get_request_actor(request)
        branch, query, options = parse_text_search(payload)
        filters = MessageFilter.from_values(payload.take_unchecked(MessageFilterSet.base_filters))
        payload.refuse_unknown()
        found = message_engine.search_messages(
            query=query, actor=actor, branch_name=branch, filters=filters, **options
        )
        return Response(shapes.messages_found(found, branch, actor))

    def retrieve(self, request: Request, pk: str) -> Response:
        uid, payload = parse_id(pk), Input(request)
        branch, at, actor = (
            payload.take_branch(),
            payload.take_value("at", parse_point),
            get_request_actor(request),
        )
        payload.refuse_unknown()
        row = message_engine.get_message(message_id=uid, actor=actor, branch_name=branch, at=at)
        return build_row_response(shapes.message(row, branch, actor))
