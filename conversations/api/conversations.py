"""/conversations and /messages: begun, appended to, read, ended."""

from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from conversations.api import shapes
from conversations.api.filters import ConversationFilterSet, MessageFilterSet
from conversations.api.schema import documented
from conversations.engines.conversations import ConversationEngine, ConversationFilter
from conversations.engines.messages import MessageEngine, MessageFilter
from memory.api.base import Resource, actor_of, one, shown
from memory.api.reading import Input, identity, names, point
from memory.api.searches import looking
from memory.api.shapes import page

ENGINE, MESSAGES = ConversationEngine(), MessageEngine()
FIELDS = ("title", "model", "session_id", "task_id", "agent_id")


@documented
class ConversationViewSet(Resource):
    lookup_value_regex = "[^/]+"
    filterset_class = ConversationFilterSet

    def create(self, request: Request) -> Response:
        given = Input(request)
        branch, actor = given.branch(), actor_of(request)
        row = ENGINE.create_conversation(actor=actor, branch_name=branch, **given.fields(FIELDS))
        return one(shapes.conversation(row, branch=branch), 201)

    def list(self, request: Request) -> Response:
        given = Input(request)
        branch, at, paging = given.branch(), given.take("at", point), given.paging()
        filters = ConversationFilter.of(given.some(ConversationFilterSet.base_filters))
        given.end()
        found = ENGINE.list_conversations(
            actor=actor_of(request), branch_name=branch, filters=filters, at=at, **paging
        )
        return Response(page(found, lambda row: shapes.conversation(row, branch=branch)))

    def retrieve(self, request: Request, pk: str) -> Response:
        uid, given = identity(pk), Input(request)
        branch, at = given.branch(), given.take("at", point)
        given.end()
        row = ENGINE.get_conversation(conversation_id=uid, actor=actor_of(request), branch_name=branch, at=at)
        return shown(request, shapes.conversation(row, branch=branch))

    @action(detail=True, methods=["post"])
    def complete(self, request: Request, pk: str) -> Response:
        uid, given = identity(pk), Input(request)
        branch, actor = given.branch(), given.actor(actor_of(request))
        given.end()
        row = ENGINE.close_conversation(conversation_id=uid, actor=actor, branch_name=branch)
        return one(shapes.conversation(row, branch=branch))

    # ---- messages ------------------------------------------------------------------------------

    @action(detail=True, methods=["get"])
    def messages(self, request: Request, pk: str) -> Response:
        uid, given = identity(pk), Input(request)
        branch, at, paging = given.branch(), given.take("at", point), given.paging()
        roles, actor = given.take("role", names, ()), actor_of(request)
        given.end()
        found = MESSAGES.list_messages(
            conversation_id=uid, actor=actor, branch_name=branch, roles=roles, at=at, **paging
        )
        return Response(page(found, shapes.messages(branch, actor)))

    @messages.mapping.post
    def add_message(self, request: Request, pk: str) -> Response:
        uid, given = identity(pk), Input(request)
        branch, actor = given.branch(), given.actor(actor_of(request))
        fields = given.fields()
        row = MESSAGES.write_message(conversation_id=uid, actor=actor, branch_name=branch, **fields)
        return one(shapes.message(row, branch, actor), 201)

    @action(detail=True, methods=["post"], url_path="messages/batch")
    def batch(self, request: Request, pk: str) -> Response:
        uid, given = identity(pk), Input(request)
        branch, actor = given.branch(), given.actor(actor_of(request))
        messages = given.body.pop("messages", None)
        given.end()
        rows = MESSAGES.write_messages(
            conversation_id=uid, messages=messages, actor=actor, branch_name=branch
        )  # fmt: skip
        return Response({"results": [shapes.message(row, branch, actor) for row in rows]}, status=201)


@documented
class MessageViewSet(Resource):
    lookup_value_regex = "[^/]+"
    filterset_class = MessageFilterSet

    @action(detail=False, methods=["get"])
    def search(self, request: Request) -> Response:
        given, actor = Input(request), actor_of(request)
        branch, query, how = looking(given)
        filters = MessageFilter.of(given.some(MessageFilterSet.base_filters))
        given.end()
        found = MESSAGES.search_messages(query=query, actor=actor, branch_name=branch, filters=filters, **how)
        return Response(shapes.messages_found(found, branch, actor))

    def retrieve(self, request: Request, pk: str) -> Response:
        uid, given = identity(pk), Input(request)
        branch, at, actor = given.branch(), given.take("at", point), actor_of(request)
        given.end()
        row = MESSAGES.get_message(message_id=uid, actor=actor, branch_name=branch, at=at)
        return one(shapes.message(row, branch, actor))
