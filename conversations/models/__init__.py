"""Models of conversations and their messages."""

from conversations.models.conversations import Compaction, Conversation, Message
from conversations.models.instructions import Instructions
from conversations.models.replays import Replay, ReplayBatch, ReplayStep
from conversations.models.runs import ConsolidationRun
