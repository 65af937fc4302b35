"""Response serializers for comparisons of conversations."""

from typing import Any

from rest_framework import serializers as s

from conversations.answers.conversations import FoundMessageShape, found_message
from conversations.engines.semantic_diff.engine import SemanticDiff
from conversations.engines.semantic_diff.loading import Comparison
from conversations.engines.semantic_diff.row_diff import DiffRow, RowDiffPage
from memory.actors import Actor


class DivergenceShape(s.Serializer):
    """The first place at which role or content differ."""

    index = s.IntegerField(help_text="From 0, shared messages included.")
    first_message_id = s.UUIDField(allow_null=True)
    second_message_id = s.UUIDField(allow_null=True)


class SidesShape(s.Serializer):
    """What is compared."""

    first_id = s.UUIDField()
    second_id = s.UUIDField()
    shared = s.IntegerField(help_text="Messages at the begin that are the same rows in both.")
    divergence = DivergenceShape(allow_null=True)


class DiffRowShape(s.Serializer):
    change = s.ChoiceField(choices=("same", "changed", "removed", "added"))
    first = FoundMessageShape(allow_null=True)
    second = FoundMessageShape(allow_null=True)


class RowDiffShape(SidesShape):
    """The messages after what both share, aligned."""

    counts = s.DictField(child=s.IntegerField(), help_text="Rows by change, of all pages.")
    results = DiffRowShape(many=True)
    next = s.CharField(allow_null=True)


class PairShape(s.Serializer):
    """A value of the first and one of the second."""

    first = s.IntegerField()
    second = s.IntegerField()


class ArgumentChangeShape(s.Serializer):
    tool = s.CharField()
    arguments = s.ListField(child=s.CharField(), help_text="Names of arguments that differ.")
    first = s.UUIDField(help_text="The message that made the call.")
    second = s.UUIDField()


class ActionsShape(s.Serializer):
    """Calls of tools."""

    similarity = s.FloatField(help_text="0.5 sequence + 0.25 tools + 0.25 order.")
    sequence = s.FloatField(help_text="Calls in a longest common subsequence, of all.")
    tools = s.FloatField(help_text="Jaccard of the sets of tools.")
    order = s.FloatField(help_text="Jaccard of the pairs of neighbours.")
    aligned = s.IntegerField()
    only_first = s.DictField(child=s.IntegerField(), help_text="Calls without a partner, by tool.")
    only_second = s.DictField(child=s.IntegerField())
    argument_changes = ArgumentChangeShape(many=True)
    failures = PairShape()


class SegmentShape(s.Serializer):
    first = s.UUIDField()
    second = s.UUIDField()
    similarity = s.FloatField()
    diverged = s.BooleanField(help_text="Below 0.7.")


class ReasoningShape(s.Serializer):
    """What the assistant said."""

    similarity = s.FloatField()
    method = s.ChoiceField(choices=("vectors", "words"))
    aligned = s.IntegerField()
    diverged = s.IntegerField()
    segments = PairShape()
    pairs = SegmentShape(many=True, help_text="Aligned segments, the least alike first, at most 100.")


class DiffOutcomeShape(s.Serializer):
    messages = PairShape()
    tokens = PairShape()
    failures = PairShape()
    tool_calls = PairShape()
    result_similarity = s.FloatField()
    first_result = s.CharField(help_text="The assistant's last words, at most 500 characters.")
    second_result = s.CharField()


class SemanticDiffShape(SidesShape):
    """How two conversations differ in what they do not share. No model is asked."""

    verdict = s.ChoiceField(choices=("equivalent", "similar", "divergent", "mixed"))
    actions = ActionsShape()
    reasoning = ReasoningShape()
    outcome = DiffOutcomeShape()
    notes = s.ListField(child=s.CharField())


def sides(comparison: Comparison) -> dict[str, Any]:
    return {
        "first_id": str(comparison.first.conversation.uid),
        "second_id": str(comparison.second.conversation.uid),
        "shared": comparison.shared,
        "divergence": divergence(comparison),
    }


def divergence(comparison: Comparison) -> dict[str, Any] | None:
    index = comparison.divergence
    if index is None:
        return None
    place = index - comparison.shared
    found = [side.messages[place : place + 1] for side in (comparison.first, comparison.second)]
    ids = [str(rows[0].uid) if rows else None for rows in found]
    return {"index": index, "first_message_id": ids[0], "second_message_id": ids[1]}


def row_diff(page: RowDiffPage, actor: Actor) -> dict[str, Any]:
    comparison = page.diff.comparison
    branches = comparison.first.branch_name, comparison.second.branch_name

    def render(row: DiffRow) -> dict[str, Any]:
        pair = zip((row.first, row.second), branches, strict=True)
        first, second = (one and found_message(one, branch, actor) for one, branch in pair)
        return {"change": row.change, "first": first, "second": second}

    return {
        **sides(comparison),
        "counts": page.diff.counts,
        "results": [render(row) for row in page.rows],
        "next": page.next,
    }


def _pair(values: tuple[int, int]) -> dict[str, int]:
    return {"first": values[0], "second": values[1]}


def semantic_diff(found: SemanticDiff) -> dict[str, Any]:
    actions, reasoning, outcome = vars(found.actions), vars(found.reasoning), vars(found.outcome)
    first, second = found.outcome.results
    return {
        **sides(found.comparison),
        "verdict": found.verdict,
        "actions": {**actions, "failures": _pair(found.actions.failures)},
        "reasoning": {**reasoning, "segments": _pair(found.reasoning.segments)},
        "outcome": {
            **{name: _pair(outcome[name]) for name in ("messages", "tokens", "failures", "tool_calls")},
            "result_similarity": found.outcome.result_similarity,
            "first_result": first,
            "second_result": second,
        },
        "notes": found.notes,
    }
