"""Filters of conversations and messages; the engines define their meaning."""

import django_filters as df

from conversations.models import Conversation, Message
from memory.api.filters import AnyOf, choice_filter


class ConversationFilterSet(df.FilterSet):
    session_id = AnyOf(help_text="Conversations of one of these sessions.")
    agent_id = AnyOf(help_text="Conversations of one of these agents.")
    task_id = AnyOf(help_text="Conversations held for one of these tasks.")
    status = choice_filter(Conversation.Status, "Conversations in one of these states.")

    class Meta:
        model = Conversation
        fields: list[str] = []


class RoleFilterSet(df.FilterSet):
    role = choice_filter(Message.Role, "Messages of one of these roles.")

    class Meta:
        model = Message
        fields: list[str] = []


class MessageFilterSet(RoleFilterSet):
    session_id = AnyOf(help_text="Messages of one of these sessions.")
    agent_id = AnyOf(help_text="Messages of one of these agents.")
    conversation_id = df.UUIDFilter(help_text="Messages of this conversation.")
    after = df.IsoDateTimeFilter(help_text="Messages recorded at this time or later.")
    before = df.IsoDateTimeFilter(help_text="Messages recorded before this time.")

    class Meta:
        model = Message
        fields: list[str] = []
