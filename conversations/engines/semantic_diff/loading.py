"""What is compared: two threads, and what each has after the messages that they share."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from conversations.engines.conversations import get_visible
from conversations.engines.semantic_diff.tool_steps import read_call
from conversations.engines.threads import Position, Thread, filter_segment, load_thread
from conversations.models import Conversation, Message
from memory.actors import Actor
from memory.db.budget import count_row_bytes, take_within
from memory.db.querysets import Lineage
from memory.engines.versions.lookup import MAIN, find_branch, resolve_point
from memory.exceptions import TooLarge

MAX_COMPARED = 5_000  # messages of one side that the other does not share
MAX_COMPARED_BYTES = 16 * 2**20  # of their texts

Points = tuple[int | None, int | None]  # seqs at which both sides are read; None is the head
NOW: Points = (None, None)


@dataclass(frozen=True)
class Side:
    """One of two conversations, with its messages that the other does not share."""

    conversation: Conversation
    branch_name: str
    seq: int
    lineage: Lineage
    thread: Thread
    messages: Sequence[Message] = ()


@dataclass(frozen=True)
class Comparison:
    """Two conversations; the first ``shared`` messages are the same rows in both, as forks have them."""

    project_id: UUID
    first: Side
    second: Side
    shared: int

    @property
    def divergence(self) -> int | None:
        """Return the first place at which role or content differ, None where nothing does."""
        left, right = self.first.messages, self.second.messages
        for place, (one, other) in enumerate(zip(left, right, strict=False)):
            if row_key(one) != row_key(other):
                return self.shared + place
        return None if len(left) == len(right) else self.shared + min(len(left), len(right))


def row_key(message: Message) -> tuple[str, str, str]:
    """Return what makes two messages equal: role, content and calls, but for their ids."""
    calls = [call for call in message.tool_calls if isinstance(call, Mapping)]
    keys = [read_call(call, message).key for call in calls]
    return message.role, message.content_hash, " ".join(keys)


def load_comparison(
    *,
    first: UUID,
    second: UUID,
    actor: Actor,
    branch_name: str = MAIN,
    other_branch: str = "",
    points: Points = NOW,
) -> Comparison:
    """Read two conversations, each on its branch and at its point.

    Raises NotFound, TooLarge, scope and branch errors.
    """
    sides: list[Side] = []
    names = (branch_name, other_branch or branch_name)
    for uid, name, point in zip((first, second), names, points, strict=True):
        actor.require_scope("read", name)
        branch = find_branch(actor, name)
        seq = resolve_point(branch, point)
        lineage = branch.lineage(seq)
        conversation = get_visible(lineage, uid)
        sides.append(Side(conversation, name, seq, lineage, load_thread(lineage, conversation)))
    shared = find_shared(sides[0], sides[1])
    side = sides[0]
    count = side.thread.count_until(Message.objects.in_lineage(side.lineage), shared) if shared else 0
    loaded = [_load_messages(side, shared) for side in sides]
    return Comparison(actor.project_id, loaded[0], loaded[1], count)


def find_shared(first: Side, second: Side) -> Position | None:
    """Return the last place that both threads have by the same messages, None without one."""
    shared: Position | None = None
    for index, (one, other) in enumerate(zip(first.thread.segments, second.thread.segments, strict=False)):
        if one.conversation_id != other.conversation_id:
            break
        ends = [end for end in (one.last, other.last) if end is not None]
        if ends and first.branch_name == second.branch_name:
            number = min(ends)
        elif list(first.lineage) == list(second.lineage):
            number = _find_last_number(first, index)
        else:  # two branches may have different messages in one conversation
            number = _find_common_number(first, second, index)
        shared = (index, number)
        if one.last != other.last or number < (one.last or 0):
            break
    return shared


def _find_last_number(side: Side, index: int) -> int:
    """Return the number of a segment's last message, 0 without one."""
    part = filter_segment(Message.objects.in_lineage(side.lineage), side.thread.segments[index])
    return max((row.sequence_num for row in part.highest(1, "sequence_num")), default=0)


def _find_common_number(first: Side, second: Side, index: int) -> int:
    """Return up to which number a segment has the same messages on both sides."""
    rows = []
    for side in (first, second):
        part = filter_segment(Message.objects.in_lineage(side.lineage), side.thread.segments[index])
        rows.append(sorted(part.gather_values("sequence_num", "uid")))
    last = 0
    for one, other in zip(*rows, strict=False):
        if one != other:
            break
        last = one[0]
    return last


def _load_messages(side: Side, shared: Position | None) -> Side:
    rows = Message.objects.in_lineage(side.lineage)
    found = side.thread.stream(rows, MAX_COMPARED + 1, beyond=shared)
    messages = take_within(found, MAX_COMPARED + 1, MAX_COMPARED_BYTES)
    if len(messages) > MAX_COMPARED:
        raise TooLarge(what="What is compared", limit=f"{MAX_COMPARED} messages a side")
    if sum(map(count_row_bytes, messages)) > MAX_COMPARED_BYTES:
        raise TooLarge(what="What is compared", limit=f"{MAX_COMPARED_BYTES // 2**20} MiB a side")
    return replace(side, messages=messages)
