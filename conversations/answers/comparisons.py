"""Response serializers for comparisons of conversations."""

from typing import Any

from rest_framework import serializers as s

from conversations.answers.conversations import FoundMessageShape, found_message
from conversations.engines.semantic_diff.comparison import Comparison, DiffRow, RowDiffPage
from conversations.engines.semantic_diff.engine import Actions, DiffOutcome, Reasoning, SemanticDiff
from memory.actors import Actor
from memory.answers.derived import derive_shape, render_derived


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


class SemanticDiffShape(SidesShape):
    """How two conversations differ in what they do not share. No model is asked."""

    verdict = s.ChoiceField(choices=("equivalent", "similar", "divergent", "mixed"))
    actions = derive_shape(Actions)()
    reasoning = derive_shape(Reasoning)()
    outcome = derive_shape(DiffOutcome)()
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


def semantic_diff(found: SemanticDiff) -> dict[str, Any]:
    layers = {name: getattr(found, name) for name in ("verdict", "actions", "reasoning", "outcome", "notes")}
    return {**sides(found.comparison), **render_derived(layers)}
