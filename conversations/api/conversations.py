"""/conversations: create, fork, append, read, complete."""

from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from conversations.answers import conversations as shapes
from conversations.api.conversation_routes import ConversationRoutes
from conversations.api.schema import documented
from conversations.engines.cherry_pick import ConversationCherryPick
from conversations.engines.conversations import ConversationEngine, ConversationFilter
from conversations.engines.messages import MessageEngine
from conversations.engines.statistics import count_thread
from conversations.filters import ConversationFilterSet
from memory.answers.rendering import page_shape
from memory.api.base import build_cached_response, build_row_response, get_request_actor
from memory.api.routes import serve_at
from memory.engines.support import validation as c
from memory.engines.support.ordering import BY_AGE
from memory.operations.inputs import Input, parse_id, parse_ids, parse_names, parse_point

conversation_engine, message_engine = ConversationEngine(), MessageEngine()
picker = ConversationCherryPick()
FIELDS = ("title", "model", "session_id", "task_id", "agent_id")


@serve_at("conversations", "conversation")
@documented
class ConversationViewSet(ConversationRoutes):
    lookup_value_regex = "[^/]+"
    filterset_class = ConversationFilterSet

    def create(self, request: Request) -> Response:
        payload = Input(request)
        branch, actor = payload.take_branch(), get_request_actor(request)
        row = conversation_engine.create_conversation(
            actor=actor, branch_name=branch, **payload.take_fields(FIELDS)
        )
        return build_row_response(shapes.conversation(row, branch=branch), 201)

    def list(self, request: Request) -> Response:
        payload = Input(request)
        branch, at, paging = (
            payload.take_branch(),
            payload.take_value("at", parse_point),
            payload.take_paging(order=BY_AGE),
        )
        filters = ConversationFilter.from_values(payload.take_unchecked(ConversationFilterSet.base_filters))
        payload.refuse_unknown()
        found = conversation_engine.list_conversations(
            actor=get_request_actor(request), branch_name=branch, filters=filters, at=at, **paging
        )
        return Response(page_shape(found, lambda row: shapes.conversation(row, branch=branch)))

    def retrieve(self, request: Request, pk: str) -> Response:
        uid, payload = parse_id(pk), Input(request)
        branch, at = payload.take_branch(), payload.take_value("at", parse_point)
        payload.refuse_unknown()
        row = conversation_engine.get_conversation(
            conversation_id=uid, actor=get_request_actor(request), branch_name=branch, at=at
        )
        return build_cached_response(request, shapes.conversation(row, branch=branch))

    @action(detail=True, methods=["post"])
    def complete(self, request: Request, pk: str) -> Response:
        uid, payload = parse_id(pk), Input(request)
        branch, actor = payload.take_branch(), payload.take_actor(get_request_actor(request))
        payload.refuse_unknown()
        row = conversation_engine.close_conversation(conversation_id=uid, actor=actor, branch_name=branch)
        return build_row_response(shapes.conversation(row, branch=branch))

    @action(detail=True, methods=["post"])
    def fork(self, request: Request, pk: str) -> Response:
        uid, payload = parse_id(pk), Input(request)
        branch, actor = payload.take_branch(), get_request_actor(request)
        memory_branch = payload.take_value("memory_branch", c.text_check(200), "")
        message_id = payload.take_needed("message_id", c.parse_uuid)
        row = conversation_engine.fork_conversation(
            conversation_id=uid,
            message_id=message_id,
            actor=actor,
            branch_name=branch,
            memory_branch=memory_branch,
            **payload.take_fields(FIELDS),
        )
        return build_row_response(shapes.conversation(row, branch=memory_branch or branch), 201)

    @action(detail=True, methods=["post"], url_path="cherry-pick")
    def cherry_pick(self, request: Request, pk: str) -> Response:
        uid, payload = parse_id(pk), Input(request)
        branch, actor = payload.take_branch(), payload.take_actor(get_request_actor(request))
        pick = picker.pick(
            conversation_id=uid,
            message_ids=payload.take_value("message_ids", parse_ids, ()),
            actor=actor,
            branch_name=branch,
            target_branch=payload.take_value("target_branch", c.text_check(200), ""),
            target_conversation_id=payload.take_value("target_conversation_id", c.parse_uuid),
            title=payload.take_value("title", c.text_check(300), ""),
            with_facts=payload.take_value("with_facts", c.check_boolean, False),
            **payload.take_fields(("",)),
        )
        return Response(shapes.pick(pick, actor), status=201 if pick.added else 200)

    @action(detail=True, methods=["get"])
    def stats(self, request: Request, pk: str) -> Response:
        uid, payload = parse_id(pk), Input(request)
        branch, at = payload.take_branch(), payload.take_value("at", parse_point)
        payload.refuse_unknown()
        found = count_thread(conversation_id=uid, actor=get_request_actor(request), branch_name=branch, at=at)
        return Response(shapes.ThreadStatsShape(found).data)

    # ---- messages ------------------------------------------------------------------------------

    @action(detail=True, methods=["get"])
    def messages(self, request: Request, pk: str) -> Response:
        uid, payload = parse_id(pk), Input(request)
        branch, at, paging = (
            payload.take_branch(),
            payload.take_value("at", parse_point),
            payload.take_paging(),
        )
        roles, actor = payload.take_value("role", parse_names, ()), get_request_actor(request)
        payload.refuse_unknown()
        found = message_engine.list_messages(
            conversation_id=uid, actor=actor, branch_name=branch, roles=roles, at=at, **paging
        )
        return Response(page_shape(found, shapes.messages(branch, actor)))

    @messages.mapping.post
    def add_message(self, request: Request, pk: str) -> Response:
        uid, payload = parse_id(pk), Input(request)
        branch, actor = payload.take_branch(), payload.take_actor(get_request_actor(request))
        fields = payload.take_fields()
        row = message_engine.write_message(conversation_id=uid, actor=actor, branch_name=branch, **fields)
        return build_row_response(shapes.message(row, branch, actor), 201)

    @action(detail=True, methods=["post"], url_path="messages/batch")
    def batch(self, request: Request, pk: str) -> Response:
        uid, payload = parse_id(pk), Input(request)
        branch, actor = payload.take_branch(), payload.take_actor(get_request_actor(request))
        messages = payload.body.pop("messages", None)
        payload.refuse_unknown()
        rows = message_engine.write_messages(
            conversation_id=uid, messages=messages, actor=actor, branch_name=branch
        )
        return Response({"results": [shapes.message(row, branch, actor) for row in rows]}, status=201)
