"""Filters of conversations and messages; the engines define their meaning."""

import django_filters as df

from conversations.engines.fields import CONVERSATION_FILTERS, MESSAGE_FILTERS, ROLE_FILTER
from conversations.models import Conversation, Message
from memory.api.filters import declare_filters


@declare_filters(CONVERSATION_FILTERS)
class ConversationFilterSet(df.FilterSet):
    class Meta:
        model = Conversation
        fields: list[str] = []


@declare_filters([ROLE_FILTER])
class RoleFilterSet(df.FilterSet):
    class Meta:
        model = Message
        fields: list[str] = []


@declare_filters(MESSAGE_FILTERS)
class MessageFilterSet(df.FilterSet):
    class Meta:
        model = Message
        fields: list[str] = []
