"""What has no form of an operation at /conversations: documents of a conversation, out and in."""

import sys
from typing import Any

from django.http import HttpResponse
from rest_framework import serializers as s
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from conversations.answers import conversations as shapes
from conversations.engines.fields.conversations import CONVERSATION, MESSAGE
from conversations.engines.import_export.document import (
    FORMAT,
    MARKDOWN,
    MAX_MESSAGES,
    MESSAGE_FIELDS,
    SCHEMA_VERSION,
    STATES,
)
from conversations.engines.import_export.engine import ConversationTransfer
from conversations.operations.conversations import CONVERSATIONS
from memory.answers.declared_serializers import RequestShape, declare_fields, request_field
from memory.api.base import build_row_response, get_request_actor
from memory.api.operation_views import build_view
from memory.api.routes import serve_at
from memory.api.schema import AT, BRANCH, document_routes, query, route
from memory.engines.support import validation as c
from memory.operations.inputs import Input, parse_id, parse_point

JSON = "json"
FORMATS = JSON, MARKDOWN
FORMAT_PARAMETER = query(
    "format", {"type": "string", "enum": list(FORMATS)}, "Of the document; json by default."
)
transfer = ConversationTransfer()
DeclaredView: Any = build_view(CONVERSATIONS)


@declare_fields(MESSAGE[name] for name in MESSAGE_FIELDS)
class DocumentMessageInput(RequestShape):
    """A message of a document."""


class ConversationDocumentInput(s.Serializer):
    """What an export gave: a document, or with the format ``markdown`` a text."""

    format = s.ChoiceField(choices=[FORMAT, MARKDOWN])
    text = s.CharField(required=False, help_text="Of the format markdown alone, and then all there is.")
    schema_version = s.ChoiceField(choices=[SCHEMA_VERSION], required=False)
    id = s.UUIDField(required=False)
    branch = s.CharField(required=False, allow_blank=True)
    title = request_field(CONVERSATION["title"])
    model = request_field(CONVERSATION["model"])
    status = s.ChoiceField(choices=STATES, required=False)
    origin = s.DictField(required=False)
    messages = s.ListField(
        child=DocumentMessageInput(), min_length=1, max_length=MAX_MESSAGES, required=False
    )
    redacted = s.IntegerField(required=False)


IMPORTED = shapes.ImportedConversationShape
ROUTES = {
    "ConversationViewSet": {
        "export": route(
            "A conversation as a document, without secrets",
            {200: shapes.ConversationDocumentShape},
            None,
            [BRANCH, AT, FORMAT_PARAMETER],
        ),
        "import_document": route(
            "Import the document of a conversation; again, it adds nothing",
            {200: IMPORTED, 201: IMPORTED},
            ConversationDocumentInput,
            [BRANCH],
        ),
    }
}


@serve_at("conversations", "conversation")
@document_routes(ROUTES, shapes, sys.modules[__name__])
class ConversationViewSet(DeclaredView):
    @action(detail=True, methods=["get"])
    def export(self, request: Request, pk: str) -> Any:
        uid, payload = parse_id(pk), Input(request)
        branch, at = payload.take_branch(), payload.take_value("at", parse_point)
        form = payload.take_value("format", c.one_of(FORMATS), JSON)
        payload.refuse_unknown()
        where: dict[str, Any] = {
            "conversation_id": uid,
            "actor": get_request_actor(request),
            "branch_name": branch,
            "at": at,
        }
        if form == JSON:
            return Response(transfer.export_conversation(**where))
        text = transfer.export_markdown(**where)
        response = HttpResponse(text, content_type="text/markdown; charset=utf-8")
        response["Content-Disposition"] = f'attachment; filename="conversation-{uid}.md"'
        return response

    @action(detail=False, methods=["post"], url_path="import")
    def import_document(self, request: Request) -> Response:
        payload = Input(request)
        document, payload.body = payload.body, {}
        branch, actor = payload.take_branch(), payload.take_actor(get_request_actor(request))
        payload.refuse_unknown()
        row, created = transfer.import_conversation(document=document, actor=actor, branch_name=branch)
        shown = shapes.conversation(row, branch=branch)
        return build_row_response({**shown, "created": created}, 201 if created else 200)
