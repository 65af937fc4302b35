"""What conversations keep of a session (a SessionPart)."""

from collections.abc import Mapping
from typing import Any

from conversations.engines.conversations import ConversationEngine, ConversationFilter
from conversations.models import Conversation, Message
from memory.actors import Actor
from memory.models import Session


class SessionConversations:
    """Closes a session's conversations with it; shows what was said in it."""

    def close(self, session: Session, actor: Actor) -> None:
        """Every open conversation of the session, on its branch, takes no more messages."""
        rows = Conversation.objects.on(session.branch).filter(session_id=session.key)
        for row in rows.filter(status=Conversation.Status.ACTIVE).gather():
            ConversationEngine().close_conversation(
                conversation_id=row.uid, actor=actor, branch_name=session.branch.name
            )

    def context(self, session: Session, actor: Actor, limits: Mapping[str, int]) -> dict[str, Any]:
        """``conversations``: the newest, each with its last messages, ``limits["messages"]`` in all."""
        page = ConversationEngine().list_conversations(
            actor=actor, branch_name=session.branch.name,
            filters=ConversationFilter.of({"session_id": session.key}),
        )  # fmt: skip
        left, found = limits["messages"], []
        for conversation in page.results:
            rows = Message.objects.on(session.branch).filter(conversation_id=conversation.uid)
            messages = rows.highest(left, "sequence_num")[::-1] if left else []
            left -= len(messages)
            shown = [_brief(row) for row in messages]
            found.append({"id": str(conversation.uid), "title": conversation.title, "messages": shown})
        return {"conversations": found}


def _brief(row: Message) -> dict[str, Any]:
    names = ("role", "sequence_num", "content")
    return {"id": str(row.uid), **{name: getattr(row, name) for name in names}}
