"""Forks of conversations: their points, their numbers, and the memory at a point's moment."""

from collections.abc import Iterable, Sequence
from uuid import UUID

from conversations.engines.threads import load_thread
from conversations.models import Conversation, Message
from memory.actors import Actor
from memory.db.querysets import Lineage
from memory.engines.branches.manager import BranchManager
from memory.engines.support.batches import gather_in
from memory.engines.versions.commits import CommitWriter
from memory.engines.versions.lookup import find_branch
from memory.exceptions import Invalid, NotFound
from memory.models import Branch

MAX_FORK_DEPTH = 32


def find_point(lineage: Lineage, source: Conversation, message_id: UUID) -> Message:
    """Return the message at which a conversation is forked. Raises Invalid, NotFound."""
    found = Message.objects.in_lineage(lineage).fetch_by_key("uid", [message_id])
    if not found:
        raise NotFound("No message with this id is visible here.")
    thread = load_thread(lineage, source)
    if not thread.has_message(found[0]):
        raise Invalid("This message is of another conversation.", field="message_id")
    if thread.position(found[0])[0] >= MAX_FORK_DEPTH:
        raise Invalid(
            "Forks of forks go at most {limit} deep. Fork at an earlier message, or pick the messages.",
            limit=MAX_FORK_DEPTH,
            field="message_id",
        )
    return found[0]


def branch_at_point(actor: Actor, branch_name: str, point: Message, name: str) -> Branch:
    """Create a memory branch from the commit that brought a message, on the branch where it was written.

    Raises as ``BranchManager.create_branch``.
    """
    lineage = find_branch(actor, branch_name).lineage()
    versions = Message._base_manager.filter(uid=point.uid)
    for branch_id, limit in lineage:
        seqs = versions.filter(branch=branch_id, seq_from__lte=limit).order_by("seq_from")
        if (seq := seqs.values_list("seq_from", flat=True).first()) is not None:
            origin = Branch.objects.get(pk=branch_id)
            purpose = f"The memory at message {point.sequence_num} of a conversation"
            return BranchManager().create_branch(
                name=name, actor=actor, parent=origin.name, at=seq, purpose=purpose
            )
    raise NotFound("No message with this id is visible here.")


def find_descendants(project_id: UUID, uids: Iterable[UUID]) -> set[UUID]:
    """Return conversations with all forks of them, forks of forks included, on every branch."""
    found = fresh = set(uids)
    rows = Conversation._base_manager.filter(branch__project=project_id)
    while fresh:
        fresh = gather_in(rows, "parent_conversation_id", fresh, "uid") - found
        found = found | fresh
    return found


def find_conversations(project_id: UUID, message_ids: Iterable[UUID]) -> set[UUID]:
    """Return the conversations of messages with all their forks, which may share them."""
    rows = Message._base_manager.filter(branch__project=project_id)
    return find_descendants(project_id, gather_in(rows, "uid", message_ids, "conversation_id"))


def find_shared_number(commit: CommitWriter, conversation: Conversation) -> int:
    """Return the highest number of a conversation that a fork shares, 0 without a fork."""
    forks = commit.visible_rows(Conversation).filter(parent_conversation_id=conversation.uid)
    points = [uid for (uid,) in forks.gather_values("fork_point_message_id") if uid]
    messages = commit.visible_rows(Message).filter(conversation_id=conversation.uid)
    numbers: Sequence[tuple] = messages.select_by_key(("sequence_num",), "uid", set(points))
    return max((number for (number,) in numbers), default=0)
