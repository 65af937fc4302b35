"""Trees of forks: a conversation with all that was forked from it, and the forks that begin at messages."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from django.db.models import Count

from conversations.engines.conversations import (
    ConversationEngine,
    ConversationFilter,
    attach_counts,
    get_visible,
)
from conversations.engines.threads import load_thread
from conversations.models import Conversation, Message
from memory.actors import Actor
from memory.db.querysets import Lineage
from memory.engines.support.pagination import Page
from memory.engines.versions.lookup import MAIN, open_lineage

MAX_NODES = 200


@dataclass(frozen=True)
class ForkNode:
    """A conversation in its tree; ``point`` is the number of the last message that it shares."""

    conversation: Conversation
    level: int
    children: int
    point: int | None


@dataclass(frozen=True)
class ForkTree:
    """A conversation that is no fork, with its forks, parents before children, siblings by their points."""

    nodes: Sequence[ForkNode]
    is_cut: bool

    @property
    def results(self) -> Sequence[ForkNode]:
        return self.nodes


def load_fork_tree(
    *, conversation_id: UUID, actor: Actor, branch_name: str = MAIN, at: Any = None
) -> ForkTree:
    """Return the tree that a conversation belongs to, of at most 200 conversations. Raises NotFound.

    It takes one query for each generation of forks, whatever their number.
    """
    lineage = open_lineage(actor, branch_name, at)
    root = find_root(lineage, get_visible(lineage, conversation_id))
    forks, is_cut = gather_forks(lineage, root)
    rows = [root, *(row for group in forks.values() for row in group)]
    attach_counts(rows, lineage)
    points = number_points(lineage, rows)
    return ForkTree(list(_walk(root, forks, points)), is_cut)


def list_forks(
    *,
    actor: Actor,
    branch_name: str = MAIN,
    filters: ConversationFilter | None = None,
    at: Any = None,
    **paging: Any,
) -> Page[Conversation]:
    """Return a page of the forks on a branch, newest first, each with its source and its point."""
    forks = replace(filters or ConversationFilter(), fork=True)
    where: dict[str, Any] = {"actor": actor, "branch_name": branch_name, "at": at}
    page = ConversationEngine().list_conversations(**where, filters=forks, **paging)
    lineage = open_lineage(actor, branch_name, at)
    parents = {fork.parent_conversation_id for fork in page}
    shown = Conversation.objects.in_lineage(lineage).fetch_by_key("uid", parents)
    sources: dict[Any, Conversation] = {row.uid: row for row in shown}
    points = number_points(lineage, page)
    for fork in page:
        fork.source = sources.get(fork.parent_conversation_id)
        fork.point = points.get(fork.fork_point_message_id)
    return page


def find_source(
    fork: Conversation, *, actor: Actor, branch_name: str = MAIN, at: Any = None
) -> Conversation | None:
    """Return the conversation that a fork goes on from, if it can be seen, without its counts."""
    if fork.parent_conversation_id is None:
        return None
    rows = Conversation.objects.in_lineage(open_lineage(actor, branch_name, at))
    return next(iter(rows.fetch_by_key("uid", [fork.parent_conversation_id])), None)


def find_root(lineage: Lineage, conversation: Conversation) -> Conversation:
    """Return the first conversation of a thread, or the oldest that is visible."""
    segments = load_thread(lineage, conversation).segments
    ids = [segment.conversation_id for segment in segments]
    shown = Conversation.objects.in_lineage(lineage).filter(uid__in=ids)
    by_id = {row.uid: row for row in shown.fetch_all()}
    return next(by_id[uid] for uid in ids if uid in by_id)


def gather_forks(lineage: Lineage, root: Conversation) -> tuple[dict[Any, list[Conversation]], bool]:
    """Return the forks below a conversation by their parent, and whether there are more than is read."""
    found: dict[Any, list[Conversation]] = defaultdict(list)
    level, known = [root.uid], {root.uid}
    while level:
        rows = Conversation.objects.in_lineage(lineage).filter(parent_conversation_id__in=level)
        new = [row for row in rows.lowest(MAX_NODES + 1, "uid") if row.uid not in known]
        free_places = MAX_NODES - len(known)
        for row in new[:free_places]:
            found[row.parent_conversation_id].append(row)
        if len(new) > free_places:
            return found, True
        level = [row.uid for row in new]
        known.update(level)
    return found, False


def number_points(lineage: Lineage, rows: Sequence[Conversation]) -> dict[Any, int]:
    """Return the numbers of the messages at which conversations were forked, by the messages."""
    points = [row.fork_point_message_id for row in rows if row.fork_point_message_id]
    messages = Message.objects.in_lineage(lineage)
    return dict(messages.select_by_key(("uid", "sequence_num"), "uid", points))


def _walk(
    root: Conversation, forks: dict[Any, list[Conversation]], points: dict[Any, int]
) -> Iterator[ForkNode]:
    waiting = [(root, 0)]
    while waiting:
        row, level = waiting.pop()
        children = sorted(forks.get(row.uid, ()), key=lambda one: (_number(one, points), one.uid))
        yield ForkNode(row, level, len(children), points.get(row.fork_point_message_id))
        waiting += [(child, level + 1) for child in reversed(children)]


def _number(row: Conversation, points: dict[Any, int]) -> int:
    return points.get(row.fork_point_message_id, 0)


def count_forks(
    *, messages: Sequence[Message], actor: Actor, branch_name: str = MAIN, at: Any = None
) -> Counter[Any]:
    """Return how many conversations were forked at each of these messages."""
    forks = Conversation.objects.in_lineage(open_lineage(actor, branch_name, at)).order_by()
    forks = forks.filter(
        parent_conversation_id__in={row.conversation_id for row in messages},
        fork_point_message_id__in=[row.uid for row in messages],
    )
    counted = forks.values("fork_point_message_id").annotate(n=Count("rid"))
    return Counter({row["fork_point_message_id"]: row["n"] for row in counted})
