"""Models of conversations and their messages."""

from conversations.models.conversations import Conversation
from conversations.models.messages import Message
from conversations.models.replays import Replay, ReplayStep
from conversations.models.runs import ConsolidationRun

__all__ = ["ConsolidationRun", "Conversation", "Message", "Replay", "ReplayStep"]
