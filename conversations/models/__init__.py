"""Models of conversations and their messages."""

from conversations.models.conversations import Conversation
from conversations.models.messages import Message

__all__ = ["Conversation", "Message"]
