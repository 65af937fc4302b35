"""Cherry-picks: copies of chosen messages, in a conversation on any branch, each with a reference back."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any
from uuid import UUID, uuid5

from conversations.engines.conversations import (
    attach_counts,
    begin_copy,
    get_visible,
    open_conversation,
)
from conversations.engines.fields.conversations import (
    MAX_MESSAGES,
    PICK_TITLE,
    PICKED,
    TARGET,
    TARGET_BRANCH,
    WITH_FACTS,
)
from conversations.engines.messages import MessageEngine
from conversations.engines.threads import load_thread
from conversations.models import Conversation, Message
from memory.actors import Actor
from memory.db.querysets import Lineage
from memory.db.transactions import retry_methods, write_transaction
from memory.engines.merging.engine import MergeEngine
from memory.engines.merging.strategies import CHERRY_PICK
from memory.engines.versions.commits import CommitWriter, open_commit
from memory.engines.versions.lookup import MAIN, find_branch
from memory.engines.versions.policies import Write
from memory.exceptions import Invalid, NotFound, TooLarge
from memory.models import Fact, FactLink
from memory.models.base import ERASED_MARK
from memory.models.links import DERIVING


@dataclass
class Pick:
    """What a cherry-pick has made: the messages in the order of the request, and how many are new."""

    conversation: Conversation
    branch: str
    messages: list[Message] = field(default_factory=list)
    added: int = 0
    fact_ids: list[UUID] = field(default_factory=list)


@retry_methods
class ConversationCherryPick:
    def pick(
        self,
        *,
        conversation_id: UUID,
        message_ids: Annotated[Sequence[UUID], PICKED],
        actor: Actor,
        branch_name: str = MAIN,
        target_branch: Annotated[str, TARGET_BRANCH] = "",
        target_conversation_id: Annotated[UUID | None, TARGET] = None,
        title: Annotated[str, PICK_TITLE] = "",
        with_facts: Annotated[bool, WITH_FACTS] = False,
    ) -> Pick:
        """Copy messages of a conversation, in the order given, to the end of another or of a new one.

        A copy names its original in ``picked_from``; what was picked before, or is in the target anyway, is
        not added again. ``with_facts`` takes the facts that came of the messages to the target's branch, as a
        merge does, and links them to the copies; this needs the scope merge. Raises Invalid, TooLarge,
        NotFound, Conflict for a target that has ended, scope and branch errors, and those of a merge.
        """
        target_branch = target_branch or branch_name
        actor.require_scope("read", branch_name)
        actor.require_scope("write", target_branch)
        lineage = find_branch(actor, branch_name).lineage()
        source = get_visible(lineage, conversation_id)
        originals = find_messages(lineage, source, check_ids(message_ids))
        links = find_links(lineage, originals) if with_facts else []
        new_title = PICK_TITLE.check("title", title) or source.title
        with write_transaction():  # the facts come with their messages, or not at all
            if links and target_branch != branch_name:
                self._take_facts(actor, branch_name, target_branch, links)
            with open_commit(actor, target_branch, "conversation.cherry-pick", write=Write.ADD) as commit:
                target = _open_target(commit, actor, source, originals, target_conversation_id, new_title)
                pick = Pick(target, target_branch)
                copies = _copy_messages(commit, pick, originals)
                _link_facts(commit, actor, pick, links, copies)
        attach_counts([pick.conversation], commit.lineage)
        return pick

    def _take_facts(self, actor: Actor, source: str, target: str, links: Sequence[FactLink]) -> None:
        ids = sorted({link.from_id for link in links})
        MergeEngine().merge_branch(source=source, target=target, actor=actor, strategy=CHERRY_PICK, ids=ids)


# ---- what is picked --------------------------------------------------------------------------------


def check_ids(message_ids: Sequence[UUID]) -> list[UUID]:
    """Return the ids in their order, each once. Raises Invalid, TooLarge."""
    ids = list(dict.fromkeys(message_ids))
    if not ids:
        raise Invalid("{field} must be a list with at least one message.", field="message_ids")
    if len(ids) > MAX_MESSAGES:
        raise TooLarge(what="The list", limit=f"{MAX_MESSAGES} messages", field="message_ids")
    return ids


def find_messages(lineage: Lineage, source: Conversation, ids: Sequence[UUID]) -> list[Message]:
    """Return messages of a conversation, shared ones too, in the order of their ids.

    Raises NotFound, Invalid for one of another conversation or one that was erased.
    """
    rows = Message.objects.in_lineage(lineage).fetch_by_key("uid", ids)
    found = {row.uid: row for row in rows}
    thread = load_thread(lineage, source)
    for uid in ids:
        if uid not in found:
            raise NotFound("No message with this id is visible here.")
        if not thread.has_message(found[uid]):
            raise Invalid("{id} is of another conversation.", id=uid, field="message_ids")
        if found[uid].content == ERASED_MARK:
            raise Invalid("{id} was erased.", id=uid, field="message_ids")
    return [found[uid] for uid in ids]


def find_links(lineage: Lineage, originals: Sequence[Message]) -> list[FactLink]:
    """Return the links of the facts that came of messages."""
    rows = FactLink.objects.in_lineage(lineage).filter(link_type__in=DERIVING)
    return rows.fetch_by_key("to_id", [row.uid for row in originals])


# ---- what is written -------------------------------------------------------------------------------


def _open_target(
    commit: CommitWriter,
    actor: Actor,
    source: Conversation,
    originals: Sequence[Message],
    target_id: UUID | None,
    title: str,
) -> Conversation:
    """Return the conversation that takes the copies; the same pick finds the one that it began before."""
    if target_id is not None:
        return get_visible(commit.branch.lineage(), target_id)
    uid = uuid5(source.uid, "pick:" + ",".join([title, *(row.uid.hex for row in originals)]))
    for known in commit.visible_rows(Conversation).filter(uid=uid).fetch_all():
        return known
    own = actor.for_owner(source).owner_fields()
    row = Conversation(uid=uid, title=title, model=source.model, created_at=commit.at, **own)
    return begin_copy(commit, row)


def _copy_messages(commit: CommitWriter, pick: Pick, originals: Sequence[Message]) -> dict[UUID, Message]:
    """Add the copies that are missing; return the message of the target for each original."""
    copies = {row.uid: build_copy(row, pick.conversation) for row in originals}
    rows = commit.visible_rows(Message)
    uids = {uid for row in originals for uid in (row.uid, copies[row.uid].uid)}
    shown = {row.uid: row for row in rows.fetch_by_key("uid", uids)}
    thread = load_thread(commit.lineage, pick.conversation)
    found: dict[UUID, Message] = {}
    for row in originals:
        original = shown.get(row.uid)
        if original is not None and thread.has_message(original):
            found[row.uid] = original
        elif known := shown.get(copies[row.uid].uid):
            found[row.uid] = known
    added = [copies[row.uid] for row in originals if row.uid not in found]
    if added:
        open_conversation(commit, pick.conversation.uid)
        MessageEngine().add_copies(commit, pick.conversation, added)
    pick.added = len(added)
    pick.messages = [found.get(row.uid) or copies[row.uid] for row in originals]
    return {row.uid: message for row, message in zip(originals, pick.messages, strict=True)}


def build_copy(original: Message, target: Conversation) -> Message:
    """Return the copy of a message for a conversation, with an id that is the same each time."""
    fields: dict[str, Any] = original.content_values()
    fields |= {"conversation_id": target.uid, "sequence_num": None, "picked_from": original.uid}
    return Message(uid=uuid5(target.uid, f"pick:{original.uid.hex}"), **fields)


def _link_facts(
    commit: CommitWriter,
    actor: Actor,
    pick: Pick,
    links: Sequence[FactLink],
    copies: dict[UUID, Message],
) -> None:
    """Link the facts that the target's branch shows to the copies they came with."""
    if not links:
        return
    ids = {link.from_id for link in links}
    shown = {
        uid for (uid,) in Fact.objects.in_lineage(commit.branch.lineage()).select_by_key(("uid",), "uid", ids)
    }
    edges = commit.visible_rows(FactLink).fetch_by_key("from_id", shown)
    known = {(edge.from_id, edge.to_id, edge.link_type) for edge in edges}
    fresh = {}
    for link in links:
        edge = (link.from_id, copies[link.to_id].uid, link.link_type)
        if link.from_id in shown and edge not in known:
            fresh[edge] = FactLink(
                from_id=edge[0],
                to_id=edge[1],
                to_type=FactLink.Target.MESSAGE,
                link_type=edge[2],
                weight=link.weight,
                **actor.origin_fields(),
            )
    commit.add_rows(list(fresh.values()))
    pick.fact_ids = sorted(shown)
