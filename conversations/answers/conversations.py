"""Response serializers for conversations and messages."""

from collections.abc import Sequence
from functools import partial
from typing import Any

from rest_framework import serializers as s

from conversations.engines.cherry_pick import Pick
from conversations.engines.compaction import CompactConversation
from conversations.engines.fields.conversations import CONVERSATION, MESSAGE
from conversations.engines.messages import may_read_thinking
from conversations.engines.statistics import ThreadStats
from conversations.models import Compaction, Conversation, Message
from memory.actors import Actor
from memory.answers import facts as shapes
from memory.answers.capture import LookShape, text_results
from memory.answers.declared_serializers import AnswerShape, declare_fields
from memory.answers.derived import derive_shape
from memory.answers.rendering import Render, build_renderer
from memory.engines.fields.base import Use
from memory.engines.search.text_search import TextSearchResult


@declare_fields(CONVERSATION.select_fields(Use.ANSWER))
class ConversationShape(AnswerShape):
    """A conversation, as it is read."""


@declare_fields(MESSAGE.select_fields(Use.ANSWER))
class MessageShape(AnswerShape):
    """A message, as it is read."""


class ImportedConversationShape(ConversationShape):
    """The conversation of a document."""

    created = s.BooleanField(help_text="False: the same document was imported before.")


class DocumentMessageShape(s.Serializer):
    """A message of a document."""

    sequence_num = s.IntegerField()
    role = s.CharField()
    content = s.CharField()
    thinking = s.CharField(help_text="Empty without the scope curate.")
    tool_calls = s.ListField(child=s.DictField())
    token_count = s.IntegerField()
    model = s.CharField()
    metadata = s.DictField()
    said_at = s.DateTimeField()


class ConversationDocumentShape(s.Serializer):
    """A conversation as a document, to be read or imported elsewhere."""

    format = s.CharField(help_text="day1-conversation")
    schema_version = s.IntegerField()
    id = s.UUIDField()
    branch = s.CharField()
    title = s.CharField()
    model = s.CharField()
    status = s.CharField()
    origin = s.DictField(child=s.CharField(), help_text="Session, task and agent; an import has its own.")
    messages = DocumentMessageShape(many=True)
    redacted = s.IntegerField(help_text="Secrets that were taken out.")


class CompactionShape(s.Serializer):
    """A summary of the earlier messages of a conversation, which stay as they are."""

    id = s.UUIDField()
    branch = s.CharField(source="branch.name")
    conversation_id = s.UUIDField()
    last_message_id = s.UUIDField(help_text="The last message that it stands for.")
    messages = s.IntegerField(help_text="How many it stands for.")
    tokens = s.IntegerField(help_text="Of these messages.")
    summary = s.CharField()
    summary_tokens = s.IntegerField()
    method = s.ChoiceField(choices=Compaction.Method.choices)
    tools = s.DictField(child=s.IntegerField(), help_text="Calls by tool.")
    created_at = s.DateTimeField()
    created_by = s.CharField()


class CompactShape(s.Serializer):
    """A conversation as its summary and what was said since."""

    compaction = CompactionShape(allow_null=True)
    messages = MessageShape(many=True)


class MessagesShape(s.Serializer):
    """The messages that were written, in the order of the request."""

    results = MessageShape(many=True)


class PickShape(s.Serializer):
    """What a cherry-pick has made, or had made before."""

    conversation = ConversationShape()
    messages = MessageShape(many=True)
    added = s.IntegerField(help_text="How many messages are new.")
    fact_ids = s.ListField(child=s.UUIDField(), help_text="Facts that are linked to the copies.")


class FoundMessageShape(MessageShape):
    """A message among the results of a search: no field has more than 8,000 characters."""

    truncated = shapes.FoundFactShape().get_fields()["truncated"]


class MessageHitShape(s.Serializer):
    """A message, with its neighbours in ``context``."""

    message = FoundMessageShape()
    score = s.FloatField()
    signals = s.DictField(child=s.FloatField(), help_text="The parts of the score, by name.")
    evidence = s.FloatField(help_text="How likely it answers the query, between 0 and 1, for any query.")
    # The answer's ``context`` hides the serializer's own, which the REST framework allows.
    context = FoundMessageShape(many=True)  # type: ignore[assignment]


class MessagesFoundShape(LookShape):
    results = MessageHitShape(many=True)


conversation = build_renderer(ConversationShape, "branch")
compaction = build_renderer(CompactionShape)
_hit = build_renderer(MessageHitShape, "message", "context")
_message = build_renderer(MessageShape, "branch", "thinking", "has_thinking")


_found_message = build_renderer(FoundMessageShape, "branch", "thinking", "has_thinking")


def message(row: Message, branch: str, actor: Actor, render: Render = _message) -> dict[str, Any]:
    thinking = row.thinking if may_read_thinking(actor) else None
    return render(row, branch=branch, thinking=thinking, has_thinking=bool(row.thinking))


def fork(row: Conversation, branch: str, memory_branch: str) -> dict[str, Any]:
    return conversation(row, branch=memory_branch or branch)


ThreadStatsShape = derive_shape(ThreadStats)
thread_stats = build_renderer(ThreadStatsShape)


def messages_written(rows: Sequence[Message], branch: str, actor: Actor) -> dict[str, Any]:
    return {"results": [message(row, branch, actor) for row in rows]}


def pick(picked: Pick, actor: Actor) -> dict[str, Any]:
    return {
        "conversation": conversation(picked.conversation, branch=picked.branch),
        "messages": [message(row, picked.branch, actor) for row in picked.messages],
        "added": picked.added,
        "fact_ids": [str(uid) for uid in picked.fact_ids],
    }


def found_message(row: Message, branch: str, actor: Actor) -> dict[str, Any]:
    return message(row, branch, actor, _found_message)


def messages_found(found: TextSearchResult, branch: str, actor: Actor) -> dict[str, Any]:
    render = partial(message, branch=branch, actor=actor, render=_found_message)
    hits = [
        _hit(hit, message=render(hit.row), context=[render(row) for row in hit.around]) for hit in found.hits
    ]
    return text_results(found, hits)


def compact(found: CompactConversation, branch: str, actor: Actor) -> dict[str, Any]:
    return {
        "compaction": found.compaction and compaction(found.compaction),
        "messages": [message(row, branch, actor) for row in found.messages],
    }
