"""Conversations and messages as a branch held them at a point of its past."""

from functools import partial
from typing import Any

from conversations.answers import conversations as shapes
from conversations.engines.conversations import ConversationEngine, ConversationFilter
from conversations.engines.fields.conversations import CONVERSATION_FILTERS, MESSAGE_FILTERS
from conversations.engines.messages import MessageEngine
from memory.actors import Actor
from memory.api.time_travel import READERS, Reader, Render, render_with_branch
from memory.engines.support import validation as c
from memory.engines.support.pagination import Page
from memory.exceptions import Invalid
from memory.operations.inputs import parse_names


def list_conversations(filters: dict[str, Any], **options: Any) -> Page:
    return ConversationEngine().list_conversations(filters=ConversationFilter.from_values(filters), **options)


def list_messages(filters: dict[str, Any], **options: Any) -> Page:
    """List the messages of the conversation that the filters name. Raises Invalid without one."""
    if not filters.get("conversation_id"):
        raise Invalid("{field} is needed.", field="conversation_id")
    uid = c.parse_uuid("conversation_id", filters["conversation_id"])
    role = filters.get("role")
    roles = parse_names("role", role.split(",") if isinstance(role, str) else role) if role else ()
    return MessageEngine().list_messages(conversation_id=uid, roles=roles, **options)


def render_messages(branch: str, actor: Actor) -> Render:
    return partial(shapes.message, branch=branch, actor=actor)


THREAD_FILTERS = [one for one in MESSAGE_FILTERS if one.name in ("conversation_id", "role")]
READERS["conversation"] = Reader(
    CONVERSATION_FILTERS, list_conversations, render_with_branch(shapes.conversation)
)
READERS["message"] = Reader(THREAD_FILTERS, list_messages, render_messages)
