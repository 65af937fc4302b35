"""Filters of conversations and messages; the engines define their meaning."""

import django_filters as df

from conversations.engines.fields import (
    CONSOLIDATION_FILTERS,
    CONVERSATION_FILTERS,
    MESSAGE_FILTERS,
    ROLE_FILTER,
)
from conversations.models import ConsolidationRun, Conversation, Message
from memory.filters import declare_filters


@declare_filters(CONVERSATION_FILTERS)
class ConversationFilterSet(df.FilterSet):
    class Meta:
        model = Conversation
        fields: list[str] = []


@declare_filters([one for one in CONVERSATION_FILTERS if one.name != "fork"])
class ForkFilterSet(df.FilterSet):
    """The filters of a list that has forks alone."""

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


@declare_filters(CONSOLIDATION_FILTERS)
class ConsolidationFilterSet(df.FilterSet):
    branch = df.CharFilter(help_text="Runs on this branch; on every branch when it is not given.")

    class Meta:
        model = ConsolidationRun
        fields: list[str] = []
