"""What has no form of an operation at /messages: their search."""

from typing import Any

from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from conversations.answers import conversations as shapes
from conversations.engines.messages import MessageEngine, MessageFilter
from conversations.filters import MessageFilterSet
from conversations.operations.messages import MESSAGES
from memory.api.base import get_request_actor
from memory.api.operations import build_view
from memory.api.routes import serve_at
from memory.api.schema import LOOKING, document_routes, list_filter_parameters, route
from memory.operations.inputs import Input
from memory.operations.search_inputs import parse_text_search

DeclaredView: Any = build_view(MESSAGES)
PARAMETERS = [*LOOKING, *list_filter_parameters(MessageFilterSet)]
SEARCH = route("Search messages", {200: shapes.MessagesFoundShape}, None, PARAMETERS)


@serve_at("messages", "message")
@document_routes({"MessageViewSet": {"search": SEARCH}}, shapes)
class MessageViewSet(DeclaredView):
    filterset_class = MessageFilterSet

    @action(detail=False, methods=["get"])
    def search(self, request: Request) -> Response:
        payload, actor = Input(request), get_request_actor(request)
        branch, query, options = parse_text_search(payload)
        filters = MessageFilter.from_values(payload.take_unchecked(MessageFilterSet.base_filters))
        payload.refuse_unknown()
        found = MessageEngine().search_messages(
            query=query, actor=actor, branch_name=branch, filters=filters, **options
        )
        return Response(shapes.messages_found(found, branch, actor))
