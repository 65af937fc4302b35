"""Deletion of conversations and of their messages."""

from typing import Any

from conversations.engines.conversations import attach_counts
from conversations.engines.forks import find_shared_number
from conversations.models import Conversation, Message
from memory.actors import Actor
from memory.engines.deletion.memories import PLACE_TAKEN, MemoryDeletion
from memory.engines.versions.commits import CommitWriter
from memory.engines.versions.lookup import open_lineage
from memory.exceptions import Conflict


class ConversationDeletion(MemoryDeletion):
    """Conversations with their messages. Forks lose what they share with one that is deleted."""

    def complete_rows(self, rows: list[Any], actor: Actor, branch_name: str) -> list[Any]:
        attach_counts(rows, open_lineage(actor, branch_name))
        return rows


class MessageDeletion(MemoryDeletion):
    """Messages: the others keep their numbers, which may be taken when one comes back."""

    def make_room(self, commit: CommitWriter, gone: Message) -> None:
        """Move the messages on that stand where the deleted one stood, and behind it."""
        behind = commit.visible_rows(Message).filter(conversation_id=gone.conversation_id)
        behind = behind.filter(sequence_num__gte=gone.sequence_num).fetch_all()
        if gone.sequence_num not in {row.sequence_num for row in behind}:
            return
        owner = commit.get_version(Conversation, gone.conversation_id)
        if find_shared_number(commit, owner) >= gone.sequence_num:
            raise Conflict(PLACE_TAKEN)
        commit.add_versions([(row, {"sequence_num": row.sequence_num + 1}, False) for row in behind])


conversation_deletion, message_deletion = ConversationDeletion(Conversation), MessageDeletion(Message)
