"""Engine of conversations: create, fork, list, close. MessageEngine handles their messages."""

from collections.abc import Sequence
from typing import Annotated, Any
from uuid import UUID

from django.db.models import Count, Sum

from conversations.engines.fields.conversations import (
    CONVERSATION,
    CONVERSATION_FILTERS,
    FORK_POINT,
    MEMORY_BRANCH,
)
from conversations.engines.forks import branch_at_point, find_point
from conversations.engines.threads import count_segments, load_threads
from conversations.models import Conversation, Message
from memory.actors import Actor
from memory.db.querysets import Lineage, VersionedQuerySet
from memory.db.transactions import retry_methods, write_transaction
from memory.engines.facts.filters import Filter, filters_by, list_values
from memory.engines.fields.base import Use
from memory.engines.fields.common import STATED_CHECKS
from memory.engines.support import validation as c
from memory.engines.support.pagination import Page, paginate_versions, point_in_list
from memory.engines.versions.commits import CommitWriter, open_commit
from memory.engines.versions.copies import add_copies
from memory.engines.versions.lookup import MAIN, find_branch, open_lineage, resolve_point
from memory.engines.versions.policies import Write
from memory.engines.versions.repositories import filter_sessions
from memory.exceptions import Conflict, NotFound

Status = Conversation.Status
CHECKS = CONVERSATION.field_checks(Use.CREATE)


@filters_by(CONVERSATION_FILTERS)
class ConversationFilter(Filter):
    """A filter of conversations by all of these; a tuple means any of its values."""

    def apply(self, rows: VersionedQuerySet) -> VersionedQuerySet:
        values = list_values(self, rows)
        if repository := values.pop("repository", ""):
            rows = filter_sessions(rows, repository)
        if (fork := values.pop("fork", None)) is not None:
            rows = rows.filter(parent_conversation_id__isnull=not fork)
        return rows.filter(**{f"{name}__in": value for name, value in values.items()})


@retry_methods
class ConversationEngine:
    # ---- writing -------------------------------------------------------------------------------

    def create_conversation(
        self,
        *,
        actor: Actor,
        branch_name: str = MAIN,
        title: str = "",
        model: str = "",
        session_id: str = "",
        task_id: str = "",
        agent_id: str = "",
    ) -> Conversation:
        """Create a conversation; an unknown session begins with it.

        Raises Invalid, BranchNotFound, BranchArchived.
        """
        actor.require_scope("write", branch_name)
        actor = state_origin(actor, session_id=session_id, task_id=task_id, agent_id=agent_id)
        fields = c.validate({"title": title, "model": model}, CHECKS)
        with open_commit(actor, branch_name, "conversation.create", write=Write.ADD) as commit:
            return self.begin(commit, actor, **fields)

    def fork_conversation(
        self,
        *,
        conversation_id: UUID,
        message_id: Annotated[UUID, FORK_POINT],
        actor: Actor,
        branch_name: str = MAIN,
        memory_branch: Annotated[str, MEMORY_BRANCH] = "",
        title: str = "",
        model: str = "",
        session_id: str = "",
        task_id: str = "",
        agent_id: str = "",
    ) -> Conversation:
        """Fork a conversation at a message of it: both share what was said until then, and no row is copied.

        With ``memory_branch`` a branch of this name begins at that moment, and the fork on it. Title, model
        and task are the source's by default. Raises NotFound, Invalid for a message of another conversation
        and for a depth over 32, branch errors.
        """
        actor.require_scope("read", branch_name)
        actor.require_scope("write", memory_branch or branch_name)
        actor = state_origin(actor, session_id=session_id, task_id=task_id, agent_id=agent_id)
        fields = c.validate({"title": title, "model": model}, CHECKS)
        with write_transaction():  # no branch without its fork
            if memory_branch:
                lineage = find_branch(actor, branch_name).lineage()
                point = find_point(lineage, get_visible(lineage, conversation_id), message_id)
                branch_name = branch_at_point(actor, branch_name, point, memory_branch).name
            with open_commit(actor, branch_name, "conversation.fork", write=Write.ADD) as commit:
                return self._begin_fork(commit, actor, conversation_id, message_id, fields)

    def _begin_fork(
        self,
        commit: CommitWriter,
        actor: Actor,
        conversation_id: UUID,
        message_id: UUID,
        fields: dict[str, Any],
    ) -> Conversation:
        source = get_visible(commit.branch.lineage(), conversation_id)
        point = find_point(commit.branch.lineage(), source, message_id)
        made = self.begin(
            commit,
            actor.for_owner(source).with_origin(task_id=actor.task_id or source.task_id),
            title=fields["title"] or source.title,
            model=fields["model"] or source.model,
            parent_conversation_id=point.conversation_id,
            fork_point_message_id=point.uid,
        )
        return attach_counts([made], commit.lineage)[0]

    def begin(self, commit: CommitWriter, actor: Actor, **fields: Any) -> Conversation:
        """Create a conversation in the caller's commit."""
        (conversation,) = commit.add_rows([Conversation(**actor.owner_fields(), **fields)])
        commit.begin_sessions([conversation])
        commit.targets.append(str(conversation.uid))
        conversation.message_count = conversation.total_tokens = conversation.shared_messages = 0
        return conversation

    def close_conversation(
        self, *, conversation_id: UUID, actor: Actor, branch_name: str = MAIN
    ) -> Conversation:
        """Close a conversation to new messages; again, it changes nothing. Raises NotFound."""
        actor.require_scope("write", branch_name, grows=False)
        # The end of a session closes its conversations, and a session ends on any branch.
        with open_commit(actor, branch_name, "conversation.close", write=Write.EXEMPT) as commit:
            conversation = commit.get_version(Conversation, conversation_id)
            if conversation.status == Status.ACTIVE:
                commit.targets.append(str(conversation.uid))
                conversation = commit.change_row(conversation, status=Status.COMPLETED)
        return attach_counts([conversation], commit.lineage)[0]

    # ---- reading -------------------------------------------------------------------------------

    def get_conversation(
        self, *, conversation_id: UUID, actor: Actor, branch_name: str = MAIN, at: Any = None
    ) -> Conversation:
        """Return a conversation with its counts. Raises NotFound."""
        lineage = open_lineage(actor, branch_name, at)
        return attach_counts([get_visible(lineage, conversation_id)], lineage)[0]

    def get_conversation_by_session(
        self, *, session_id: str, actor: Actor, branch_name: str = MAIN
    ) -> Conversation:
        """Return the newest conversation of a session that is no fork. Raises NotFound."""
        lineage = open_lineage(actor, branch_name)
        filters = ConversationFilter.from_values({"session_id": session_id})
        rows = filters.apply(Conversation.objects.in_lineage(lineage).filter(parent_conversation_id=None))
        found = list(rows.newest(1)) if session_id else []
        if not found:
            raise NotFound("This session has no conversation here.")
        return attach_counts(found, lineage)[0]

    def list_conversations(
        self,
        *,
        actor: Actor,
        branch_name: str = MAIN,
        filters: ConversationFilter | None = None,
        at: Any = None,
        limit: int = 50,
        cursor: str = "",
        ordering: str = "",
    ) -> Page[Conversation]:
        """Return a page of conversations, newest first."""
        actor.require_scope("read", branch_name)
        branch = find_branch(actor, branch_name)
        seq = resolve_point(branch, point_in_list(branch, cursor, at))
        rows = (filters or ConversationFilter()).apply(Conversation.objects.on(branch, seq))
        page = paginate_versions(rows, seq=seq, limit=limit, cursor=cursor, at=at, ordering=ordering)
        attach_counts(page.results, branch.lineage(seq))
        return page


def state_origin(actor: Actor, **stated: Any) -> Actor:
    """Return an actor with what a request states of session, task and agent. Raises Invalid."""
    return actor.with_origin(**c.validate(stated, STATED_CHECKS))


def begin_copy(commit: CommitWriter, row: Conversation) -> Conversation:
    """Begin a conversation that brings its id in the caller's commit."""
    add_copies(commit, [row])
    commit.begin_sessions([row])
    commit.targets.append(str(row.uid))
    return row


def get_visible(lineage: Lineage, conversation_id: UUID) -> Conversation:
    """Return a conversation that a lineage shows. Raises NotFound."""
    for conversation in Conversation.objects.in_lineage(lineage).fetch_by_key("uid", [conversation_id]):
        return conversation
    raise NotFound("No conversation with this id is visible here.")


def open_conversation(commit: CommitWriter, conversation_id: UUID) -> Conversation:
    """Return an active conversation. Raises NotFound, Conflict when it is closed."""
    for conversation in commit.visible_rows(Conversation).filter(uid=conversation_id).fetch_all():
        require_open(conversation)
        return conversation
    raise NotFound("No conversation with this id is visible here.")


def require_open(conversation: Conversation) -> None:
    """Raise Conflict for a conversation that is closed."""
    if conversation.status != Status.ACTIVE:
        raise Conflict(
            "This conversation is {status} and takes no more messages.", status=conversation.status
        )


def attach_counts(conversations: Sequence[Conversation], lineage: Lineage) -> Sequence[Conversation]:
    """Set the number of messages and tokens of each conversation, and how many of the messages it shares.

    It takes one query, for forks one more and two for each generation.
    """
    every = Message.objects.in_lineage(lineage)
    own = every.filter(conversation_id__in=[row.uid for row in conversations]).order_by()
    counted = own.values("conversation_id").annotate(n=Count("rid"), tokens=Sum("token_count"))
    known = {row["conversation_id"]: (row["n"], row["tokens"]) for row in counted}
    threads = load_threads(lineage, [row for row in conversations if row.parent_conversation_id])
    shared = {uid: thread.segments[:-1] for uid, thread in threads.items()}
    parts = count_segments(every, (segment for segments in shared.values() for segment in segments))
    for row in conversations:
        counts = [parts[segment] for segment in shared.get(row.uid, ())]
        row.shared_messages = sum(count for count, _ in counts)
        messages, tokens = known.get(row.uid, (0, 0))
        row.message_count = row.shared_messages + messages
        row.total_tokens = sum(tokens for _, tokens in counts) + tokens
    return conversations
