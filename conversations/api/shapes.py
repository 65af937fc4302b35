"""What answers about conversations and messages look like."""

from collections.abc import Callable
from typing import Any

from rest_framework import serializers as s

from conversations.engines.messages import may_read_thinking
from conversations.models import Conversation, Message
from memory.actors import Actor
from memory.api import shapes
from memory.api.capture_shapes import LookShape, looked
from memory.engines.text_search import TextFound


class ConversationShape(s.Serializer):
    id = s.UUIDField(source="uid")
    branch = s.CharField(help_text="The branch that it was read through.")
    version = s.IntegerField()
    title = s.CharField()
    status = s.ChoiceField(choices=Conversation.Status.choices)
    model = s.CharField()
    message_count = s.IntegerField()
    total_tokens = s.IntegerField()
    session_id = s.CharField()
    task_id = s.CharField()
    agent_id = s.CharField()
    created_at = s.DateTimeField()
    updated_at = s.DateTimeField()


class MessageShape(s.Serializer):
    id = s.UUIDField(source="uid")
    branch = s.CharField(help_text="The branch that it was read through.")
    conversation_id = s.UUIDField()
    sequence_num = s.IntegerField()
    role = s.ChoiceField(choices=Message.Role.choices)
    content = s.CharField()
    thinking = s.CharField(allow_null=True, help_text="null without the scope curate.")
    has_thinking = s.BooleanField()
    tool_calls = s.ListField(child=s.DictField())
    token_count = s.IntegerField()
    model = s.CharField()
    metadata = s.DictField()
    session_id = s.CharField()
    task_id = s.CharField()
    agent_id = s.CharField()
    said_at = s.DateTimeField(allow_null=True, help_text="When it was said, if that was earlier.")
    created_at = s.DateTimeField()


class MessagesShape(s.Serializer):
    """The messages that were written, in the order given."""

    results = MessageShape(many=True)


class MessageHitShape(s.Serializer):
    """A message, with what was said just before and after it in ``context``."""

    message = MessageShape()
    score = s.FloatField()
    signals = s.DictField(child=s.FloatField(), help_text="The parts of the score, by name.")
    context = MessageShape(many=True)  # type: ignore[assignment]


class MessagesFoundShape(LookShape):
    results = MessageHitShape(many=True)


conversation = shapes.renderer(ConversationShape, "branch")
_message = shapes.renderer(MessageShape, "branch", "thinking", "has_thinking")


def message(row: Message, branch: str, actor: Actor) -> dict[str, Any]:
    thinking = row.thinking if may_read_thinking(actor) else None
    return _message(row, branch=branch, thinking=thinking, has_thinking=bool(row.thinking))


def messages_found(found: TextFound, branch: str, actor: Actor) -> dict[str, Any]:
    render = messages(branch, actor)
    hits = [
        {
            "message": render(hit.row), "score": hit.score, "signals": hit.signals,
            "context": [render(row) for row in hit.around],
        }
        for hit in found.hits
    ]  # fmt: skip
    return looked(found, hits)


def messages(branch: str, actor: Actor) -> Callable[[Message], dict[str, Any]]:
    return lambda row: message(row, branch, actor)
