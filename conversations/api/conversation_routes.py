"""Routes of a conversation to what is made of it: comparisons, replays, documents, summaries."""

from typing import Any

from django.http import HttpResponse
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from conversations.answers import comparisons as comparison_shapes
from conversations.answers import conversations as shapes
from conversations.answers import replays as replay_shapes
from conversations.engines.compaction import KEEP, CompactionEngine
from conversations.engines.import_export.engine import ConversationTransfer
from conversations.engines.import_export.markdown import MARKDOWN
from conversations.engines.replays.engine import PARAMETERS, ReplayEngine
from conversations.engines.semantic_diff.engine import SemanticDiffEngine
from memory.api.base import ResourceViewSet, build_row_response, get_request_actor
from memory.engines.support import validation as c
from memory.operations.inputs import Input, parse_id, parse_integer, parse_object, parse_point

JSON = "json"
FORMATS = JSON, MARKDOWN
transfer, compaction_engine = ConversationTransfer(), CompactionEngine()
diff_engine, replay_engine = SemanticDiffEngine(), ReplayEngine()


class ConversationRoutes(ResourceViewSet):
    @action(detail=True, methods=["get"], url_path="diff/(?P<other>[^/]+)")
    def diff(self, request: Request, pk: str, other: str) -> Response:
        first, second, payload = parse_id(pk), parse_id(other), Input(request)
        branches, paging, actor = take_branches(payload), payload.take_paging(), get_request_actor(request)
        payload.refuse_unknown()
        page = diff_engine.diff_rows(first=first, second=second, actor=actor, **branches, **paging)
        return Response(comparison_shapes.row_diff(page, actor))

    @action(detail=True, methods=["get"], url_path="semantic-diff/(?P<other>[^/]+)")
    def semantic_diff(self, request: Request, pk: str, other: str) -> Response:
        first, second, payload = parse_id(pk), parse_id(other), Input(request)
        branches, actor = take_branches(payload), get_request_actor(request)
        payload.refuse_unknown()
        found = diff_engine.semantic_diff(first=first, second=second, actor=actor, **branches)
        return Response(comparison_shapes.semantic_diff(found))

    @action(detail=True, methods=["post"])
    def replay(self, request: Request, pk: str) -> Response:
        uid, payload = parse_id(pk), Input(request)
        branch, actor = payload.take_branch(), payload.take_actor(get_request_actor(request))
        memory_branch = payload.take_value("memory_branch", c.text_check(200), "")
        memory = payload.take_value("memory", parse_object)
        message_id = payload.take_needed("message_id", c.parse_uuid)
        row = replay_engine.create_replay(
            conversation_id=uid,
            message_id=message_id,
            actor=actor,
            branch_name=branch,
            memory_branch=memory_branch,
            memory=memory,
            **payload.take_fields(PARAMETERS),
        )
        return Response(replay_shapes.replay(row), status=201)

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


def take_branches(payload: Input) -> dict[str, Any]:
    """Take the branch of each side; the second's is the first's by default."""
    branch = payload.take_branch()
    return {
        "branch_name": branch,
        "other_branch": payload.take_value("other_branch", c.text_check(200), ""),
    }
