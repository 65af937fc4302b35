"""What requests about conversations and messages hold, for OpenAPI. The engines check it."""

from rest_framework import serializers as s

from conversations.engines.messages import BULK
from conversations.models import Message
from memory.api.requests import OnBranch, Stated, short


class ConversationInput(OnBranch, Stated):
    """A conversation to begin."""

    title = s.CharField(max_length=300, required=False, allow_blank=True)
    model = short()


class MessageItemInput(Stated):
    """One message of many."""

    role = s.ChoiceField(choices=Message.Role.choices)
    content = s.CharField(required=False, allow_blank=True, help_text="At most 1 MiB in UTF-8.")
    thinking = s.CharField(required=False, allow_blank=True, help_text="Shown to curators only.")
    tool_calls = s.ListField(child=s.DictField(), required=False)
    sequence_num = s.IntegerField(min_value=1, max_value=2**31 - 1, required=False, help_text="The next one.")
    token_count = s.IntegerField(min_value=0, max_value=2**31 - 1, required=False)
    model = short()
    said_at = s.DateTimeField(required=False, allow_null=True)
    metadata = s.DictField(required=False)
    embed = s.BooleanField(required=False, help_text="Users and assistants by default.")


class MessageInput(OnBranch, MessageItemInput):
    """A message to append; content or tool_calls is needed."""


class MessagesInput(OnBranch, Stated):
    """Up to 1,000 messages: one commit, all or none."""

    messages = s.ListField(child=MessageItemInput(), min_length=1, max_length=BULK)


class CompleteInput(OnBranch, Stated):
    """Which branch, and who asks."""
