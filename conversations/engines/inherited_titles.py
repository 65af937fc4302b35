"""Titles that conversations took over from others, when they were forked, replayed or picked without one."""

from collections.abc import Collection
from typing import Any
from uuid import UUID

from django.db.models import Q

from conversations.models import Conversation, Message
from memory.engines.erasure.traces import Traces
from memory.engines.support.batches import batched
from memory.models.base import ERASED_MARK

BATCH_SIZE = 500


def is_named_after(conversations: Any, messages: Any) -> Q:
    """Return a condition: conversations with the title of one of these, of which they were forked, or of
    whose messages they have copies.
    """
    named = Conversation._base_manager.filter(uid__in=conversations).exclude(title__in=("", ERASED_MARK))
    copies = Message._base_manager.filter(picked_from__in=messages)
    made = Q(parent_conversation_id__in=conversations) | Q(uid__in=copies.values("conversation_id"))
    return Q(made, title__in=named.values("title"))


class TitleTraces:
    """The conversations of a project that are called as one that is erased."""

    def erase_traces(self, traces: Traces) -> int:
        """Blank the titles that were taken over from erased conversations; return how many there were."""
        uids, count = sorted(traces.targets.get_uids("conversation")), 0
        for batch in batched(uids, BATCH_SIZE):
            rids = find_named_after(traces.project_id, batch)
            count += Conversation._base_manager.filter(rid__in=rids).update(title=ERASED_MARK)
        return count


def find_named_after(project_id: UUID, uids: Collection[UUID]) -> set[int]:
    """Return the rows of the conversations that have a title of these, and of those made of them in turn."""
    found, fresh = set[int](), set(uids)
    while fresh:
        messages = Message._base_manager.filter(conversation_id__in=fresh).values("uid")
        rows = Conversation._base_manager.filter(is_named_after(fresh, messages), branch__project=project_id)
        made = {rid: uid for rid, uid in rows.order_by().values_list("rid", "uid") if rid not in found}
        found, fresh = found | made.keys(), set(made.values())
    return found
