"""The conversations of a session, as a SessionPart."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Max, Min
from django.db.models.functions import Coalesce, Left

from conversations.engines.conversations import ConversationEngine, ConversationFilter
from conversations.engines.threads import Thread, load_threads
from conversations.models import Conversation, Message
from memory.actors import Actor
from memory.db.querysets import Lineage
from memory.db.raw_select import read_cut
from memory.engines.access.makers import find_holder
from memory.engines.search.fact_rows import MAX_FOUND_CHARACTERS
from memory.engines.sessions.manager import MAX_TITLE, Utterance
from memory.models import Branch, BranchedModel, Commit, Session
from memory.texts import summarise_session

SPEAKERS = {Message.Role.USER.value: Utterance.PERSON, Message.Role.ASSISTANT.value: Utterance.AGENT}


class SessionConversations:
    """The part of a session that closes its conversations and adds them to its context."""

    def close(self, session: Session, actor: Actor) -> None:
        """Close every active conversation of the session on its branch."""
        rows = Conversation.objects.on(session.branch).filter(session_id=session.key)
        for row in rows.filter(status=Conversation.Status.ACTIVE).fetch_all():
            ConversationEngine().close_conversation(
                conversation_id=row.uid, actor=actor, branch_name=session.branch.name
            )

    def context(self, session: Session, actor: Actor, limits: Mapping[str, int]) -> dict[str, Any]:
        """Return ``conversations``: the newest, with their last ``limits["messages"]`` messages in all."""
        page = ConversationEngine().list_conversations(
            actor=actor,
            branch_name=session.branch.name,
            filters=ConversationFilter.from_values({"session_id": session.key}),
        )
        left, found, seen = limits["messages"], [], set[int]()
        threads = load_threads(session.branch.lineage(), page.results)
        for conversation in page.results:
            messages = _last_messages(session, threads[conversation.uid], left, seen) if left else []
            left -= len(messages)
            seen |= {row.rid for row in messages}
            shown = [_brief(row) for row in messages]
            found.append({"id": str(conversation.uid), "title": conversation.title, "messages": shown})
        return {"conversations": found}

    def find_last_events(self, branch: Branch, sessions: Sequence[Session]) -> dict[str, datetime]:
        """Return when the last message of each session was said, all in one query."""
        rows = Message.objects.on(branch).filter(session_id__in=[one.key for one in sessions]).rows()
        by_session = rows.order_by().values_list("session_id")
        return dict(by_session.annotate(last=Max(Coalesce("said_at", "created_at"))))

    def find_titles(self, branch: Branch, sessions: Sequence[Session]) -> dict[str, str]:
        """Return the beginning of the first prompt of each session, in two queries."""
        prompts = Message.objects.on(branch).filter(session_id__in=[one.key for one in sessions], role="user")
        by_session = prompts.rows().order_by().values_list("session_id")
        first = [uid for _, uid in by_session.annotate(first=Min("uid"))]
        rows = Message.objects.on(branch).filter(uid__in=first).rows()
        return dict(rows.annotate(begun=Left("content", 2 * MAX_TITLE)).values_list("session_id", "begun"))

    def find_utterances(self, lineage: Lineage, message_ids: Sequence[UUID]) -> dict[UUID, Utterance]:
        """Return when messages were said and by whom, in two queries for each branch of the lineage."""
        columns = ("uid", "role", "said_at", "created_at", "branch_id", "seq_from")
        rows = list(Message.objects.in_lineage(lineage).select_by_key(columns, "uid", message_ids))
        authors = _find_authors({row[4:] for row in rows})
        return {
            uid: Utterance(said_at or created_at, SPEAKERS.get(role, ""), *authors.get((branch, seq), ()))
            for uid, role, said_at, created_at, branch, seq in rows
        }

    def summarise(self, session: Session, lineage: Lineage, rows: Sequence[BranchedModel]) -> str | None:
        """Return the summary of the program's own messages; None where none of them is among the rows."""
        spoken = [row for row in rows if isinstance(row, Message) and row.session_id == session.key]
        agents = {row.agent_id for row in spoken if row.role in SPEAKERS and "/" not in row.agent_id}
        return summarise_messages(lineage, session.key, *agents) if len(agents) == 1 else None


def summarise_messages(lineage: Lineage, session: str, agent: str) -> str:
    """Return the first prompt and the last answer of an agent in a session as its summary."""
    messages = Message.objects.in_lineage(lineage).filter(session_id=session, agent_id=agent)
    first = messages.filter(role=Message.Role.USER).lowest(1, "uid")
    last = messages.filter(role=Message.Role.ASSISTANT).newest(1)
    return summarise_session(*("".join(row.content for row in rows) for rows in (first, last)))


def _find_authors(points: Collection[tuple[int, int]]) -> dict[tuple[int, int], tuple[str, str]]:
    """Return whose words each commit brought, as kind and id, and the name; none who may bring others'."""
    rows = Commit.objects.filter_points(points).filter(actor_kind__in=("key", "user"))
    found: dict[tuple[int, int], tuple[str, str]] = {}
    for branch, seq, *who in rows.values_list("branch", "seq", "actor_kind", "actor_id", "actor_label"):
        identity, name = find_holder(*who)
        found[branch, seq] = (":".join(identity), name)
    return found


def _last_messages(session: Session, thread: Thread, limit: int, seen: set[int]) -> list[Message]:
    """Return the last messages of a thread in their order, long texts cut, without those seen before."""
    keys = thread.last_keys(Message.objects.on(session.branch), limit)
    last = [key for key in keys if key not in seen]
    found = {row.rid: row for row in read_cut(Message, "rid", last, MAX_FOUND_CHARACTERS)}
    return [found[rid] for rid in last if rid in found]


def _brief(row: Message) -> dict[str, Any]:
    names = ("role", "sequence_num", "content", "truncated")
    return {"id": str(row.uid), **{name: getattr(row, name) for name in names}}
