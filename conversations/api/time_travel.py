"""Conversations and messages as a branch held them at a point of its past."""

from conversations.operations.conversations import CONVERSATIONS
from memory.api.time_travel import READERS

READERS["conversation"] = CONVERSATIONS.operations["list"]
READERS["message"] = CONVERSATIONS.operations["messages"]
