"""Export, import and compaction of a conversation, routes of it."""

from typing import Any

from django.http import HttpResponse
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from conversations.answers import conversations as shapes
from conversations.api.replay_route import ReplayRoute
from conversations.engines.compaction import KEEP, CompactionEngine
from conversations.engines.import_export.engine import ConversationTransfer
from conversations.engines.import_export.markdown import MARKDOWN
from memory.api.base import build_row_response, get_request_actor
from memory.engines.support import validation as c
from memory.operations.inputs import Input, parse_id, parse_integer, parse_point

JSON = "json"
FORMATS = JSON, MARKDOWN
transfer, compaction_engine = ConversationTransfer(), CompactionEngine()


class TransferRoutes(ReplayRoute):
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

    @action(detail=True, methods=["get"])
    def compact(self, request: Request, pk: str) -> Response:
        uid, payload, actor = parse_id(pk), Input(request), get_request_actor(request)
        branch, limit = payload.take_branch(), payload.take_value("limit", parse_integer, KEEP)
        payload.refuse_unknown()
        found = compaction_engine.get_compact(
            conversation_id=uid, actor=actor, branch_name=branch, limit=limit
        )
        return Response(shapes.compact(found, branch, actor))

    @compact.mapping.post
    def make_compact(self, request: Request, pk: str) -> Response:
        uid, payload = parse_id(pk), Input(request)
        branch, actor = payload.take_branch(), payload.take_actor(get_request_actor(request))
        options = {
            "keep": payload.take_value("keep", parse_integer, KEEP),
            "summary": payload.take_value("summary", c.plain_text, ""),
        }
        payload.refuse_unknown()
        row = compaction_engine.compact_conversation(
            conversation_id=uid, actor=actor, branch_name=branch, **options
        )
        return Response(shapes.compaction(row), status=201)
