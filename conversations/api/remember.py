"""POST /remember: messages that are learned from at once."""

import sys
from collections import Counter
from typing import Any

from rest_framework import serializers as s
from rest_framework.request import Request
from rest_framework.response import Response

from conversations.engines.remembering import ACTIONS, MAX_MESSAGES, Outcome, Remembered, RememberEngine
from conversations.models import ConsolidationRun, Message
from memory.api.base import Resource, get_request_actor
from memory.api.routes import serve_at
from memory.api.schema import BRANCH, document_routes, route
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


class RememberedShape(s.Serializer):
    """What became of a statement, or of a message of which nothing was learned."""

    action = s.ChoiceField(ACTIONS)
    text = s.CharField(help_text="Of the fact; of an ignored message, its beginning.")
    reason = s.CharField()
    fact_id = s.UUIDField(allow_null=True, help_text="What was added, updated or superseded.")
    category = s.CharField(help_text="Empty for an ignored message.")
    person = s.CharField(
        help_text="Whom a plain fact of a life is about: a name, a relation, or user for who speaks."
    )
    message_id = s.UUIDField(allow_null=True, help_text="The message that says it.")
    newer_id = s.UUIDField(allow_null=True, help_text="Of a superseded fact: the one in its place.")


class RememberShape(s.Serializer):
    """What became of messages."""

    session_id = s.CharField()
    conversation_id = s.UUIDField()
    results = RememberedShape(many=True)
    counts = s.DictField(child=s.IntegerField(), help_text="How many of each action.")
    mode = s.ChoiceField(ConsolidationRun.Mode.values, help_text="Who read them: rules, or a language model.")
    note = s.CharField(help_text="Why a model did not read all of them.")


ROUTES = {
    "RememberViewSet": {
        "create": route(
            "Store messages and learn from them at once", {201: RememberShape}, RememberInput, [BRANCH]
        )
    }
}


@serve_at("remember", "remember")
@document_routes(ROUTES, sys.modules[__name__])
class RememberViewSet(Resource):
    def create(self, request: Request) -> Response:
        payload = Input(request)
        branch, actor = payload.take_branch(), payload.take_actor(get_request_actor(request))
        messages = payload.body.pop("messages", None)
        payload.refuse_unknown()
        found = remember_engine.remember(messages=messages, actor=actor, branch_name=branch)
        return Response(render_remembered(found), status=201)


def render_remembered(found: Remembered) -> dict[str, Any]:
    counts = Counter(one.action for one in found.outcomes)
    return {
        "session_id": found.conversation.session_id,
        "conversation_id": str(found.conversation.uid),
        "results": [render_outcome(one) for one in found.outcomes],
        "counts": {action: counts[action] for action in ACTIONS},
        "mode": found.run.mode if found.run else ConsolidationRun.Mode.RULES.value,
        "note": found.note,
    }


def render_outcome(one: Outcome) -> dict[str, Any]:
    return {
        "action": one.action,
        "text": one.text,
        "reason": one.reason,
        "fact_id": str(one.fact.uid) if one.fact else None,
        "category": one.fact.category if one.fact else "",
        "person": one.person,
        "message_id": str(one.message_id) if one.message_id else None,
        "newer_id": str(one.newer_id) if one.newer_id else None,
    }
