"""Two conversations that are compared: what each has that the other does not share, message by message."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

import numpy as np
from rapidfuzz.distance import Indel

from conversations.engines.conversations import get_visible
from conversations.engines.semantic_diff.tool_steps import read_call
from conversations.engines.threads import Position, Thread, filter_segment, load_thread
from conversations.models import Conversation, Message
from memory.actors import Actor
from memory.db.budget import count_row_bytes, take_within
from memory.db.querysets import Lineage
from memory.engines.search.fact_rows import MAX_FOUND_CHARACTERS
from memory.engines.support import pagination
from memory.engines.versions.lookup import MAIN, find_branch, resolve_point
from memory.exceptions import Invalid, TooLarge

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


TEXTS = ("content", "thinking")
SAME, CHANGED, REMOVED, ADDED = CHANGES = "same", "changed", "removed", "added"
Pair = tuple[int | None, int | None]  # places on both sides; None where a side has nothing


@dataclass(frozen=True)
class DiffRow:
    """Messages that stand at the same place; one is None where only one side has something."""

    change: str
    first: Message | None
    second: Message | None


@dataclass(frozen=True)
class RowDiff:
    """The rows after what both share, in order."""

    comparison: Comparison
    rows: list[DiffRow]
    counts: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class RowDiffPage:
    """A page of rows; long texts are cut."""

    diff: RowDiff
    rows: Sequence[DiffRow]
    next: str | None


def list_diff_rows(
    *,
    first: UUID,
    second: UUID,
    actor: Actor,
    limit: int = 50,
    cursor: str = "",
    points: Points = NOW,
    **branches: Any,
) -> RowDiffPage:
    """Return a page of the differences of two conversations, as both were for the first page."""
    pagination.check_limit(limit)
    mark = pagination.mark_from(repr((first, second, sorted(branches.items()))))
    position = pagination.read_cursor(cursor, mark)
    start = pagination.parse_count(position.get("key", "0"))
    points = parse_points(position["seqs"]) if "seqs" in position else points
    diff = diff_rows(load_comparison(first=first, second=second, actor=actor, points=points, **branches))
    rows = diff.rows[start : start + limit]
    for row in (row for one in rows for row in (one.first, one.second) if row):
        _cut_texts(row)
    seqs = [str(side.seq) for side in (diff.comparison.first, diff.comparison.second)]
    following = {"key": str(start + limit), "list": mark, "seqs": seqs}
    return RowDiffPage(
        diff, rows, pagination.write_cursor(following) if len(diff.rows) > start + limit else None
    )


def parse_points(seqs: Any) -> Points:
    """Return the seqs of both sides that a cursor has. Raises Invalid."""
    if not isinstance(seqs, list) or len(seqs) != 2:
        raise Invalid(pagination.NOT_OURS, field="cursor")
    return pagination.parse_count(str(seqs[0])), pagination.parse_count(str(seqs[1]))


def _cut_texts(row: Any) -> None:
    """Shorten long texts, as among the results of a search."""
    row.truncated = [name for name in TEXTS if len(getattr(row, name)) > MAX_FOUND_CHARACTERS]
    for name in row.truncated:
        setattr(row, name, getattr(row, name)[:MAX_FOUND_CHARACTERS])


def diff_rows(comparison: Comparison) -> RowDiff:
    """Align messages by a longest common subsequence; in its gaps those of one role are changes."""
    first, second = comparison.first.messages, comparison.second.messages
    pairs = align_equal([row_key(row) for row in first], [row_key(row) for row in second])
    rows = list(_build_rows(pairs, first, second))
    counts = {name: sum(row.change == name for row in rows) for name in CHANGES}
    return RowDiff(comparison, rows, counts)


def _build_rows(
    pairs: Sequence[Pair], first: Sequence[Message], second: Sequence[Message]
) -> Iterator[DiffRow]:
    removed: list[Message] = []
    added: list[Message] = []
    for place, other in pairs:
        if place is not None and other is not None:
            yield from _build_gap(removed, added)
            removed, added = [], []
            yield DiffRow(SAME, first[place], second[other])
        elif place is not None:
            removed.append(first[place])
        elif other is not None:
            added.append(second[other])
    yield from _build_gap(removed, added)


def _build_gap(removed: Sequence[Message], added: Sequence[Message]) -> Iterator[DiffRow]:
    for place, other in align_equal([row.role for row in removed], [row.role for row in added]):
        one = None if place is None else removed[place]
        two = None if other is None else added[other]
        yield DiffRow(CHANGED if one and two else REMOVED if one else ADDED, one, two)


# ---- alignment ---------------------------------------------------------------------------------------


def align_equal(first: Sequence[Hashable], second: Sequence[Hashable]) -> list[Pair]:
    """Pair equal items by a longest common subsequence; the rest stands alone, in order."""
    numbers: dict[Hashable, int] = {}
    left, right = ([numbers.setdefault(item, len(numbers)) for item in side] for side in (first, second))
    pairs: list[Pair] = []
    for step in Indel.opcodes(left, right):
        places, others = range(step.src_start, step.src_end), range(step.dest_start, step.dest_end)
        if step.tag == "equal":
            pairs += zip(places, others, strict=True)
        else:
            pairs += [(place, None) for place in places]
            pairs += [(None, other) for other in others]
    return pairs


def align_similar(similarity: np.ndarray) -> list[tuple[int, int]]:
    """Return the pairs with the highest sum of similarities, none of which cross, in order.

    ``similarity`` has a row for each item of one side and a column for each of the other, 0 to 1.
    """
    rows, columns = similarity.shape
    best = np.zeros((rows + 1, columns + 1))
    for i in range(rows):
        paired = best[i, :-1] + similarity[i]
        best[i + 1, 1:] = np.maximum.accumulate(np.maximum(best[i, 1:], paired))
    return list(_walk_back(best, similarity))[::-1]


def _walk_back(best: np.ndarray, similarity: np.ndarray) -> Iterator[tuple[int, int]]:
    i, j = similarity.shape
    while i and j:
        if best[i, j] == best[i - 1, j]:
            i -= 1
        elif best[i, j] == best[i, j - 1]:
            j -= 1
        else:
            i, j = i - 1, j - 1
            yield i, j


def measure_overlap(first: frozenset, second: frozenset) -> float:
    """Return the share of items that both sets have (Jaccard); 1 for two empty ones."""
    return len(first & second) / len(first | second) if first or second else 1.0


def count_bigrams(names: Sequence[str]) -> frozenset[tuple[str, str]]:
    """Return the pairs of neighbours in a sequence, with its begin and end; none for an empty one."""
    return frozenset(zip(["", *names], [*names, ""], strict=True)) if names else frozenset()
