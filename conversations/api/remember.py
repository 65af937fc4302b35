"""POST /remember: messages that are learned from at once."""

import sys

from rest_framework import serializers as s
from rest_framework.request import Request
from rest_framework.response import Response

from conversations.answers import remember as shapes
from conversations.answers.remember import RememberShape, render_remembered
from conversations.engines.remembering import MAX_MESSAGES, RememberEngine
from conversations.models import Message
from memory.api.base import ResourceViewSet, get_request_actor
from memory.api.routes import serve_at
from memory.api.schema import BRANCH, document_routes, query, route
from memory.engines.embedding.awaited import awaited_texts
from memory.engines.fields.common import INDEXED, WAIT
from memory.operations.inputs import Input

remember_engine = RememberEngine()


class RememberedMessageInput(s.Serializer):
    """A message to learn from."""

    role = s.ChoiceField(Message.Role.choices, required=False, help_text="user by default.")
    content = s.RegexField(
        r"\S", help_text="A text, or a list of parts of which those of type text are read."
    )
    name = s.CharField(required=False, help_text="Of the speaker.")
    said_at = s.DateTimeField(required=False, help_text="When it was said, if that was earlier.")
    metadata = s.DictField(required=False, help_text="Kept with the message, as it is.")


class RememberInput(s.Serializer):
    """Messages to learn from."""

    messages = s.ListField(
        child=RememberedMessageInput(),
        min_length=1,
        max_length=MAX_MESSAGES,
        help_text="Or texts of a person, or one text.",
    )
    session_id = s.CharField(
        required=False, help_text="They end its conversation; without it a session of their own begins."
    )
    agent_id = s.CharField(required=False)
    task_id = s.CharField(required=False)
    user_id = s.CharField(required=False, help_text="The end user whose memory they are.")
    app_id = s.CharField(required=False, help_text="The app whose memory they are.")


ROUTES = {
    "RememberViewSet": {
        "create": route(
            "Store messages and learn from them at once",
            {201: RememberShape},
            RememberInput,
            [BRANCH, query(WAIT.name, {"type": "string", "enum": [INDEXED]}, WAIT.help)],
        )
    }
}


@serve_at("remember", "remember")
@document_routes(ROUTES, sys.modules[__name__], shapes)
class RememberViewSet(ResourceViewSet):
    end_user_actions = frozenset({"create"})

    def create(self, request: Request) -> Response:
        payload = Input(request)
        branch, actor = payload.take_branch(), payload.take_end_user(get_request_actor(request))
        actor = payload.take_actor(actor)
        messages = payload.body.pop("messages", None)
        if payload.take_value(WAIT.name, WAIT.check):
            awaited_texts.start()
        payload.refuse_unknown()
        found = remember_engine.remember(messages=messages, actor=actor, branch_name=branch)
        return Response(render_remembered(found), status=201)
