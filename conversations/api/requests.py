"""Request serializers for conversations and messages, for OpenAPI. The engines validate."""

from rest_framework import serializers as s

from conversations.engines.compaction import KEEP, MAX_KEEP, MAX_SUMMARY
from conversations.engines.fields import CONVERSATION, MESSAGE, REPLAY
from conversations.engines.import_export.document import FORMAT, MESSAGE_FIELDS, SCHEMA_VERSION, STATES
from conversations.engines.import_export.document import MAX_MESSAGES as MAX_DOCUMENT_MESSAGES
from conversations.engines.import_export.markdown import MARKDOWN
from conversations.engines.messages import MAX_MESSAGES
from conversations.engines.replays.batches import MAX_CONVERSATIONS, STARTS
from conversations.engines.replays.engine import LIMITS
from memory.answers.declared_serializers import RequestShape, declare_fields, request_field
from memory.answers.requests import OnBranch, Stated
from memory.engines.fields.base import Use


@declare_fields(CONVERSATION.select_fields(Use.CREATE))
class ConversationInput(OnBranch, Stated):
    """A conversation to create."""


@declare_fields(CONVERSATION.select_fields(Use.CREATE))
class ForkInput(OnBranch, Stated):
    """Where a conversation is forked; title and model are the source's by default."""

    message_id = s.UUIDField(help_text="The last message that both share.")
    memory_branch = s.CharField(
        required=False, max_length=200, help_text="A branch to create as of that message, for the fork."
    )


class MemoryStateInput(s.Serializer):
    """A branch, at a point of it, or a merge request as if it were merged."""

    branch = s.CharField(required=False, max_length=200)
    at = s.CharField(required=False, help_text="A seq, the id of a commit or snapshot, or a time.")
    merge_request = s.CharField(required=False, help_text="Its id or number.")


@declare_fields(REPLAY.select_fields(Use.CREATE))
class ReplayInput(OnBranch, Stated):
    """Where a conversation is forked, and what is changed; limits of steps, tokens and money."""

    message_id = s.UUIDField(help_text="The last message that both share.")
    memory_branch = s.CharField(
        required=False, max_length=200, help_text="A branch to create as of that message, for the fork."
    )
    memory = MemoryStateInput(required=False)


@declare_fields([REPLAY[name].with_traits(null=False) for name in LIMITS])
class ReplayLimitsInput(RequestShape):
    """Limits that take the place of those that the replay had."""


def describe_money() -> s.FloatField:
    return s.FloatField(
        required=False, min_value=0, help_text="Money that all replays may cost together, by the prices."
    )


class BatchLimitsInput(ReplayLimitsInput):
    """Limits that take the place of those that the batch and its replays had."""

    max_total_cost = describe_money()


@declare_fields(REPLAY.select_fields(Use.CREATE))
class ReplayBatchInput(OnBranch, Stated):
    """Which conversations are replayed, by id or by filters, and with what; the newest by default."""

    conversation_ids = s.ListField(
        child=s.UUIDField(), min_length=1, max_length=MAX_CONVERSATIONS, required=False
    )
    filters = s.DictField(required=False, help_text="Those of the list of conversations.")
    start = s.ChoiceField(
        choices=STARTS, required=False, help_text="The prompt at which each is forked; the first by default."
    )
    name = s.CharField(required=False, allow_blank=True, max_length=200)
    memory = MemoryStateInput(required=False)
    max_total_cost = describe_money()


class CherryPickInput(OnBranch, Stated):
    """Messages to copy, in this order, to the end of another conversation or of a new one."""

    message_ids = s.ListField(child=s.UUIDField(), min_length=1, max_length=MAX_MESSAGES)
    target_branch = s.CharField(required=False, max_length=200, help_text="The same branch by default.")
    target_conversation_id = s.UUIDField(required=False, help_text="A new one by default.")
    title = s.CharField(required=False, max_length=300, help_text="Of a new one; else the source's.")
    with_facts = s.BooleanField(
        default=False, help_text="Take the facts that came of them along; needs the scope merge."
    )


@declare_fields(MESSAGE.select_fields(Use.CREATE))
class MessageItemInput(Stated):
    """One message of many."""


class DocumentMessageInput(s.Serializer):
    """A message of a document."""

    def get_fields(self) -> dict[str, s.Field]:
        return {name: request_field(MESSAGE[name]) for name in MESSAGE_FIELDS}


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
        child=DocumentMessageInput(), min_length=1, max_length=MAX_DOCUMENT_MESSAGES, required=False
    )
    redacted = s.IntegerField(required=False)


class CompactInput(OnBranch, Stated):
    """How a conversation is compacted."""

    keep = s.IntegerField(min_value=0, max_value=MAX_KEEP, default=KEEP, help_text="Last messages left out.")
    summary = s.CharField(
        required=False,
        allow_blank=True,
        max_length=MAX_SUMMARY,
        help_text="Yours; rules write one by default.",
    )


class MessageInput(OnBranch, MessageItemInput):
    """A message to append; content or tool_calls is needed."""


class MessagesInput(OnBranch, Stated):
    """Up to 1,000 messages: one commit, all or none."""

    messages = s.ListField(child=MessageItemInput(), min_length=1, max_length=MAX_MESSAGES)


class CompleteInput(OnBranch, Stated):
    """The branch and the caller."""
