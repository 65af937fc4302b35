"""Comparison of two conversations by what they did, thought and reached. No model is called."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import islice
from typing import Annotated, Any, Literal, NamedTuple, cast
from uuid import UUID

import numpy as np

from conversations.engines.fields.conversations import OTHER_BRANCH
from conversations.engines.semantic_diff.comparison import (
    NOW,
    Comparison,
    Points,
    RowDiffPage,
    Side,
    align_equal,
    align_similar,
    count_bigrams,
    list_diff_rows,
    load_comparison,
    measure_overlap,
)
from conversations.engines.semantic_diff.tool_steps import ToolStep, encode_arguments, list_tool_steps
from conversations.models import Message
from memory.actors import Actor
from memory.engines.embedding.engine import load_vectors
from memory.engines.embedding.models import usable_provider
from memory.engines.versions.lookup import MAIN
from memory.exceptions import TooLarge
from memory.providers.embedding import get_floor
from memory.words import list_phrases

EQUIVALENT, SIMILAR, DIVERGENT, MIXED = "equivalent", "similar", "divergent", "mixed"
DIVERGED_BELOW = 0.7  # of two aligned segments of reasoning
MAX_DETAILS = 100  # differences that are listed
MAX_SEGMENTS = 2_000  # of reasoning, of one side: each is compared with each
EXCERPT_LENGTH = 500
SEQUENCE_WEIGHT, SET_WEIGHT, ORDER_WEIGHT = 0.5, 0.25, 0.25
Method = Literal["vectors", "words"]
VECTORS: Method = "vectors"
WORDS: Method = "words"
MAX_WORDS = 2_000  # of one text that are compared
MAX_WIDTH = 4_096  # columns of the table of word counts


class Pair(NamedTuple):
    """A value of the first and one of the second."""

    first: int
    second: int


class ArgumentChange(NamedTuple):
    tool: str
    arguments: Annotated[Sequence[str], "Names of arguments that differ."]
    first: Annotated[UUID, "The message that made the call."]
    second: UUID


@dataclass(frozen=True)
class Actions:
    """Calls of tools."""

    similarity: Annotated[float, "0.5 sequence + 0.25 tools + 0.25 order."]
    sequence: Annotated[float, "Calls in a longest common subsequence, of all."]
    tools: Annotated[float, "Jaccard of the sets of tools."]
    order: Annotated[float, "Jaccard of the pairs of neighbours."]
    aligned: int
    only_first: Annotated[Mapping[str, int], "Calls without a partner, by tool."]
    only_second: Mapping[str, int]
    argument_changes: Sequence[ArgumentChange]
    failures: Pair


class Segment(NamedTuple):
    first: UUID
    second: UUID
    similarity: float
    diverged: Annotated[bool, "Below 0.7."]


@dataclass(frozen=True)
class Reasoning:
    """What the assistant said."""

    similarity: float
    method: Method
    aligned: int
    diverged: int
    segments: Pair
    pairs: Annotated[Sequence[Segment], "Aligned segments, the least alike first, at most 100."]


@dataclass(frozen=True)
class DiffOutcome:
    messages: Pair
    tokens: Pair
    failures: Pair
    tool_calls: Pair
    result_similarity: float
    first_result: Annotated[str, "The assistant's last words, at most 500 characters."]
    second_result: str


@dataclass(frozen=True)
class SemanticDiff:
    comparison: Comparison
    verdict: str
    actions: Actions
    reasoning: Reasoning
    outcome: DiffOutcome
    notes: list[str] = field(default_factory=list)


class SemanticDiffEngine:
    def diff_rows(
        self,
        *,
        conversation_id: UUID,
        other: UUID,
        actor: Actor,
        branch_name: str = MAIN,
        other_branch: Annotated[str, OTHER_BRANCH] = "",
        points: Points = NOW,
        limit: int = 50,
        cursor: str = "",
    ) -> RowDiffPage:
        """Return a page of the differences of two conversations message by message.

        ``branch_name`` is of the first, ``other_branch`` of the other. Raises NotFound, TooLarge.
        """
        branches = {"branch_name": branch_name, "other_branch": other_branch}
        sides: dict[str, Any] = {"first": conversation_id, "second": other, "points": points, **branches}
        return list_diff_rows(**sides, actor=actor, limit=limit, cursor=cursor)

    def semantic_diff(
        self,
        *,
        conversation_id: UUID,
        other: UUID,
        actor: Actor,
        branch_name: str = MAIN,
        other_branch: Annotated[str, OTHER_BRANCH] = "",
        points: Points = NOW,
    ) -> SemanticDiff:
        """Compare actions, reasoning and outcome of what two conversations do not share.

        ``points`` are the seqs at which both are read. Raises as ``diff_rows``; TooLarge also for more than
        2,000 answers a side.
        """
        comparison = load_comparison(
            first=conversation_id,
            second=other,
            actor=actor,
            branch_name=branch_name,
            other_branch=other_branch,
            points=points,
        )
        return compare_layers(comparison)


def compare_layers(comparison: Comparison) -> SemanticDiff:
    first, second = comparison.first, comparison.second
    steps = list_tool_steps(first.messages), list_tool_steps(second.messages)
    actions = compare_actions(*steps)
    reasoning = compare_reasoning(comparison)
    outcome = compare_outcome(comparison, *steps)
    notes = []
    if actions.argument_changes:
        changed = len(actions.argument_changes)
        notes.append(f"The arguments of {changed} of {actions.aligned} calls of the same tool differ.")
    if not any(reasoning.segments):
        notes.append("Neither side says anything: only what they did was compared.")
    if reasoning.method == WORDS:
        notes.append("Texts were compared by their words: not all of them have a vector.")
    verdict = choose_verdict(actions.similarity, reasoning.similarity)
    return SemanticDiff(comparison, verdict, actions, reasoning, outcome, notes)


def choose_verdict(actions: float, reasoning: float) -> str:
    """Return the verdict of two similarities, by fixed thresholds."""
    if min(actions, reasoning) > 0.8:
        return EQUIVALENT
    if min(actions, reasoning) > 0.5:
        return SIMILAR
    return DIVERGENT if actions < 0.3 else MIXED


# ---- actions ---------------------------------------------------------------------------------------


def compare_actions(first: Sequence[ToolStep], second: Sequence[ToolStep]) -> Actions:
    names, others = [step.name for step in first], [step.name for step in second]
    pairs = align_equal(names, others)
    aligned = [(first[i], second[j]) for i, j in pairs if i is not None and j is not None]
    total = len(first) + len(second)
    sequence = 2 * len(aligned) / total if total else 1.0
    tools = measure_overlap(frozenset(names), frozenset(others))
    order = measure_overlap(count_bigrams(names), count_bigrams(others))
    similarity = SEQUENCE_WEIGHT * sequence + SET_WEIGHT * tools + ORDER_WEIGHT * order
    return Actions(
        round(similarity, 4),
        round(sequence, 4),
        round(tools, 4),
        round(order, 4),
        len(aligned),
        Counter(names[i] for i, j in pairs if j is None and i is not None),
        Counter(others[j] for i, j in pairs if i is None and j is not None),
        list_argument_changes(aligned),
        Pair(_count_failed(first), _count_failed(second)),
    )


def _count_failed(steps: Sequence[ToolStep]) -> int:
    return sum(step.failed for step in steps)


def list_argument_changes(aligned: Sequence[tuple[ToolStep, ToolStep]]) -> list[ArgumentChange]:
    """Return for aligned calls which arguments differ, at most 100."""
    changes = []
    for one, other in aligned:
        if names := name_changes(one.arguments, other.arguments):
            changes.append(
                ArgumentChange(one.name, names, cast(UUID, one.message_id), cast(UUID, other.message_id))
            )
    return changes[:MAX_DETAILS]


def name_changes(first: Any, second: Any) -> list[str]:
    """Return the names of the arguments that differ; an empty name where they are no objects."""
    if isinstance(first, Mapping) and isinstance(second, Mapping):
        names = sorted({*map(str, first), *map(str, second)})
        sides = [[encode_arguments(side.get(name)) for name in names] for side in (first, second)]
        return [name for name, one, other in zip(names, *sides, strict=True) if one != other]
    return [] if encode_arguments(first) == encode_arguments(second) else [""]


# ---- reasoning -------------------------------------------------------------------------------------


def list_segments(side: Side) -> list[Message]:
    spoken = [row for row in side.messages if row.role == Message.Role.ASSISTANT]
    return [row for row in spoken if row.content.strip()]


def compare_reasoning(comparison: Comparison) -> Reasoning:
    first, second = list_segments(comparison.first), list_segments(comparison.second)
    if max(len(first), len(second)) > MAX_SEGMENTS:
        raise TooLarge(what="What is compared", limit=f"{MAX_SEGMENTS} answers a side")
    found = compare_texts(comparison.project_id, first, second)
    pairs = align_similar(found.matrix) if first and second else []
    scores = [float(found.matrix[i, j]) for i, j in pairs]
    total = len(first) + len(second)
    details = [
        Segment(first[i].uid, second[j].uid, round(score, 4), score < DIVERGED_BELOW)
        for score, (i, j) in sorted(zip(scores, pairs, strict=True))
    ]
    return Reasoning(
        round(2 * sum(scores) / total, 4) if total else 1.0,
        found.method,
        len(pairs),
        sum(score < DIVERGED_BELOW for score in scores),
        Pair(len(first), len(second)),
        details[:MAX_DETAILS],
    )


# ---- outcome ---------------------------------------------------------------------------------------


def compare_outcome(
    comparison: Comparison, first: Sequence[ToolStep], second: Sequence[ToolStep]
) -> DiffOutcome:
    sides = comparison.first, comparison.second
    last = [list_segments(side)[-1:] for side in sides]
    if not last[0] or not last[1]:
        similarity = 1.0 if last[0] == last[1] else 0.0
    else:
        similarity = round(float(compare_texts(comparison.project_id, *last).matrix[0, 0]), 4)
    tokens = [sum(row.token_count for row in side.messages) for side in sides]
    results = [rows[0].content[:EXCERPT_LENGTH] if rows else "" for rows in last]
    return DiffOutcome(
        Pair(len(sides[0].messages), len(sides[1].messages)),
        Pair(*tokens),
        Pair(_count_failed(first), _count_failed(second)),
        Pair(len(first), len(second)),
        similarity,
        *results,
    )


# ---- similarity --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Similarity:
    """A similarity of each text of one side with each of the other, 0 to 1, and what it was taken from."""

    matrix: np.ndarray
    method: Method


def compare_texts(project_id: UUID, first: Sequence[Message], second: Sequence[Message]) -> Similarity:
    """Compare messages by the vectors that searches use; by words unless all have one."""
    provider = usable_provider(project_id) if first and second else None
    vectors = _load_vectors(project_id, provider.model, [*first, *second]) if provider else None
    if vectors is None or provider is None:
        return Similarity(_compare_words(first, second), WORDS)
    left = np.array([vectors[row.content_hash] for row in first])
    right = np.array([vectors[row.content_hash] for row in second])
    floor = get_floor(provider)  # of unrelated texts, which is 0 here
    cosines = np.clip((left @ right.T - floor) / (1 - floor), 0, 1)
    return Similarity(_set_equal(cosines, first, second), VECTORS)


def _load_vectors(project_id: UUID, model: str, rows: Sequence[Message]) -> dict[str, np.ndarray] | None:
    hashes = sorted({row.content_hash for row in rows})
    found, _missing = load_vectors(project_id, model, hashes)
    if len(found) < len(hashes):
        return None
    return found


def _compare_words(first: Sequence[Message], second: Sequence[Message]) -> np.ndarray:
    """Return the cosine of the word counts of each pair of texts.

    The words have a column each, as long as they fit; else they share columns by a signed hash, which keeps
    cosines within about .02. So the table does not grow with the number of different words.
    """
    rows = [*first, *second]
    numbers = number_words(rows)
    table = np.zeros((len(rows), MAX_WIDTH if numbers is None else max(len(numbers), 1)), np.float32)
    for counts, row in zip(table, rows, strict=True):
        for word in list_words(row):
            column, sign = (numbers[word], 1) if numbers is not None else hash_word(word)
            counts[column] += sign
    table /= np.maximum(np.linalg.norm(table, axis=1, keepdims=True), 1e-9)
    similarity = np.clip(table[: len(first)] @ table[len(first) :].T, 0, 1)
    return _set_equal(similarity, first, second)


def list_words(row: Message) -> Iterator[str]:
    return islice(list_phrases(row.content), MAX_WORDS)


def number_words(rows: Sequence[Message]) -> dict[str, int] | None:
    """Return a column for each word of texts; None where there are too many."""
    numbers: dict[str, int] = {}
    for row in rows:
        for word in list_words(row):
            numbers.setdefault(word, len(numbers))
            if len(numbers) > MAX_WIDTH:
                return None
    return numbers


def hash_word(word: str) -> tuple[int, int]:
    """Return a column and a sign for a word, the same in each process."""
    digest = blake2b(word.encode("utf-8", "replace"), digest_size=4).digest()
    number = int.from_bytes(digest)
    return number % MAX_WIDTH, 1 if number >> 31 else -1


def _set_equal(similarity: np.ndarray, first: Sequence[Message], second: Sequence[Message]) -> np.ndarray:
    """Return the similarities with exactly 1 for equal texts."""
    left = np.array([row.content_hash for row in first])
    right = np.array([row.content_hash for row in second])
    return np.where(left[:, None] == right[None, :], 1.0, similarity.astype(np.float64))
