"""Statistics of a thread: messages by role, tokens, times, forks."""

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from django.db.models import Count, Max, Min, Sum
from django.db.models.functions import Coalesce

from conversations.engines.conversations import get_visible
from conversations.engines.threads import load_thread
from conversations.models import Conversation, Message
from memory.actors import Actor
from memory.engines.versions.lookup import MAIN, open_lineage


@dataclass
class ThreadStats:
    """What a conversation has, with what it shares as a fork."""

    messages: int = 0
    tokens: int = 0
    shared_messages: Annotated[int, "Of these, how many it shares with its sources."] = 0
    shared_tokens: int = 0
    roles: Annotated[Counter[str], "Messages by role."] = field(default_factory=Counter)
    began_at: datetime | None = None
    ended_at: datetime | None = None
    depth: Annotated[int, "How many forks lie between it and the first conversation."] = 0
    forks: Annotated[int, "Forks at its own messages."] = 0

    def add(self, counted: dict[str, Any], *, is_shared: bool) -> None:
        count, tokens = counted["count"], counted["tokens"] or 0
        self.roles[counted["role"]] += count
        self.messages += count
        self.tokens += tokens
        if is_shared:
            self.shared_messages += count
            self.shared_tokens += tokens
        self.began_at = min(filter(None, (self.began_at, counted["began"])))
        self.ended_at = max(filter(None, (self.ended_at, counted["ended"])))


def count_thread(
    *, conversation_id: UUID, actor: Actor, branch_name: str = MAIN, at: Any = None
) -> ThreadStats:
    """Return the statistics of a conversation with what it shares. Raises NotFound."""
    lineage = open_lineage(actor, branch_name, at)
    thread = load_thread(lineage, get_visible(lineage, conversation_id))
    when = Coalesce("said_at", "created_at")
    forks = Conversation.objects.in_lineage(lineage).filter(parent_conversation_id=conversation_id)
    stats = ThreadStats(depth=thread.depth, forks=forks.count())
    for index, rows in thread.split(Message.objects.in_lineage(lineage)):
        by_role = rows.order_by().values("role")
        for counted in by_role.annotate(
            count=Count("rid"), tokens=Sum("token_count"), began=Min(when), ended=Max(when)
        ):
            stats.add(counted, is_shared=index < thread.depth)
    return stats
