"""Deletion of conversations and of their messages."""

from collections.abc import Sequence
from typing import Annotated, Any
from uuid import UUID

from conversations.engines.conversations import ConversationFilter, attach_counts, get_visible
from conversations.engines.forks import find_shared_number
from conversations.engines.messages import MessageFilter
from conversations.models import Conversation, Message
from memory.actors import Actor
from memory.db.transactions import retry_methods
from memory.engines.deletion.memories import PLACE_TAKEN, Deletion, MemoryDeletion
from memory.engines.fields.deletion import DROP_COPIES, DRY_DELETION, ERASE, MANY, SESSION
from memory.engines.support.pagination import Page
from memory.engines.versions.commits import CommitWriter
from memory.engines.versions.lookup import MAIN, open_lineage
from memory.exceptions import Conflict
from memory.models import Erasure


class MessageRows(MemoryDeletion):
    """Messages, whose numbers others may have taken since."""

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


conversation_rows, message_rows = MemoryDeletion(Conversation), MessageRows(Message)


@retry_methods
class ConversationDeletion:
    def delete_conversation(
        self,
        *,
        conversation_id: UUID,
        actor: Actor,
        branch_name: str = MAIN,
        expected_version: int | None = None,
        erase: Annotated[bool, ERASE] = False,
        drop_copies: Annotated[bool, DROP_COPIES] = False,
    ) -> Deletion | Erasure:
        """Delete a conversation with its messages from this branch, or erase it. Forks lose what they share
        with it. Raises NotFound, StaleVersion.
        """
        if erase:
            return conversation_rows.erase(conversation_id, actor, branch_name, drop_copies)
        return conversation_rows.delete(conversation_id, actor, branch_name, expected_version)

    def delete_conversations(
        self,
        *,
        actor: Actor,
        branch_name: str = MAIN,
        ids: Annotated[Sequence[UUID], MANY] = (),
        filters: ConversationFilter | None = None,
        dry_run: Annotated[bool, DRY_DELETION] = False,
    ) -> Deletion:
        """Delete the conversations that fit all filters, with their messages, at most 5,000 rows in one
        commit. Raises Invalid, TooLarge.
        """
        return conversation_rows.delete_matching(filters, ids, actor, branch_name, dry_run)

    def restore_conversation(
        self, *, conversation_id: UUID, actor: Actor, branch_name: str = MAIN
    ) -> Conversation:
        """Restore a conversation with the messages that were deleted with it. Raises NotFound,
        IllegalTransition, Conflict.
        """
        conversation_rows.restore(conversation_id, actor, branch_name)
        lineage = open_lineage(actor, branch_name)
        return attach_counts([get_visible(lineage, conversation_id)], lineage)[0]

    def list_deleted(
        self,
        *,
        actor: Actor,
        branch_name: str = MAIN,
        session_id: Annotated[str, SESSION] = "",
        limit: int = 50,
        cursor: str = "",
    ) -> Page[Any]:
        """List the deleted conversations that a restore brings back, the newest first, with the counts of
        what is left of them.
        """
        page = conversation_rows.list_deleted(actor, branch_name, session_id, limit, cursor)
        attach_counts(page.results, open_lineage(actor, branch_name))
        return page


@retry_methods
class MessageDeletion:
    def delete_message(
        self,
        *,
        message_id: UUID,
        actor: Actor,
        branch_name: str = MAIN,
        expected_version: int | None = None,
        erase: Annotated[bool, ERASE] = False,
        drop_copies: Annotated[bool, DROP_COPIES] = False,
    ) -> Deletion | Erasure:
        """Delete a message from this branch, or erase it; the others keep their numbers. Raises NotFound,
        StaleVersion.
        """
        if erase:
            return message_rows.erase(message_id, actor, branch_name, drop_copies)
        return message_rows.delete(message_id, actor, branch_name, expected_version)

    def delete_messages(
        self,
        *,
        actor: Actor,
        branch_name: str = MAIN,
        ids: Annotated[Sequence[UUID], MANY] = (),
        filters: MessageFilter | None = None,
        dry_run: Annotated[bool, DRY_DELETION] = False,
    ) -> Deletion:
        """Delete the messages that fit all filters, at most 5,000 rows in one commit. Raises Invalid,
        TooLarge.
        """
        return message_rows.delete_matching(filters, ids, actor, branch_name, dry_run)

    def restore_message(self, *, message_id: UUID, actor: Actor, branch_name: str = MAIN) -> Any:
        """Restore a deleted message in its place. Raises NotFound, IllegalTransition, Conflict."""
        return message_rows.restore(message_id, actor, branch_name)

    def list_deleted(
        self,
        *,
        actor: Actor,
        branch_name: str = MAIN,
        session_id: Annotated[str, SESSION] = "",
        limit: int = 50,
        cursor: str = "",
    ) -> Page[Any]:
        """List the deleted messages that a restore brings back, the newest first."""
        return message_rows.list_deleted(actor, branch_name, session_id, limit, cursor)
