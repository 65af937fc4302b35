"""What is answered of branches, their differences and statistics."""

from datetime import datetime
from typing import Any
from uuid import UUID

from rest_framework import serializers as s

from memory.answers import commits as commit_shapes
from memory.answers import facts as shapes
from memory.answers.declared_serializers import AnswerShape, declare_fields
from memory.answers.rendering import build_renderer, format_time, page_shape
from memory.engines.branches.diff import BASES, CHANGES, KINDS, BranchDiff, Difference
from memory.engines.fields.base import Use
from memory.engines.fields.branches import BRANCH

LINE_LENGTH = 200


@declare_fields(BRANCH.select_fields(Use.ANSWER))
class BranchShape(AnswerShape):
    """A branch."""


class TallyShape(s.Serializer):
    added = s.IntegerField()
    changed = s.IntegerField()
    removed = s.IntegerField()


class CountsShape(s.Serializer):
    def get_fields(self) -> dict[str, s.Field]:
        return {name: TallyShape() for name in KINDS}


class DifferenceShape(s.Serializer):
    """A memory that differs between the two points."""

    id = s.UUIDField()
    type = s.ChoiceField(choices=[(name, name) for name in KINDS])
    change = s.ChoiceField(choices=[(name, name) for name in CHANGES])
    # The answer's ``fields`` hides the serializer's own, which the REST framework allows.
    fields = s.DictField(child=s.ListField(), help_text="Of what changed: [before, after].")  # type: ignore[assignment]
    fact = shapes.FactShape(allow_null=True, help_text="As it is after; as it was when it was removed.")
    link = shapes.LinkShape(allow_null=True)
    line = s.CharField(help_text="The line that names it.")
    memory = s.DictField(allow_null=True, help_text="Of other kinds: its fields, as those of a fact.")
    commit = commit_shapes.CommitShape(allow_null=True, help_text="The newest commit that touched it.")


class DiffShape(s.Serializer):
    branch = s.CharField(source="branch.name")
    seq = s.IntegerField()
    against = s.CharField(source="against.name", help_text="The branch that it is compared with.")
    against_seq = s.IntegerField()
    base = s.ChoiceField(
        choices=[(name, name) for name in BASES],
        help_text="ancestor: since the two had the same history last; point: all that they show differently.",
    )
    ahead = s.IntegerField(help_text="Commits of the branch since the two had the same history last.")
    behind = s.IntegerField(help_text="Commits of the other since then: they are no differences.")
    counts = CountsShape(allow_null=True, help_text="Of all pages; with the first page only.")
    results = DifferenceShape(many=True)
    next = s.CharField(allow_null=True)
    previous = s.CharField(allow_null=True)


class BranchStatsShape(s.Serializer):
    """Counts of a branch's contents and contributors."""

    name = s.CharField(source="branch.name")
    facts = s.DictField(child=s.IntegerField(), help_text="By status.")
    verification = s.DictField(child=s.IntegerField(), help_text="By verdict on what they say now.")
    links = s.IntegerField()
    ahead = s.IntegerField(help_text="Its own commits that the parent has not; of main, all.")
    behind = s.IntegerField(help_text="Commits of the parent since the fork that it has not.")
    children = s.IntegerField(help_text="Branches that were made from it and are not archived.")
    sessions = s.IntegerField()
    agents = s.IntegerField()
    last_activity = s.DateTimeField()


stats = build_renderer(BranchStatsShape)
_diff = build_renderer(DiffShape, "results", "next", "previous")


def side_value(value: Any) -> Any:
    """Render one side of a changed field."""
    return (
        format_time(value)
        if isinstance(value, datetime)
        else str(value)
        if isinstance(value, UUID)
        else value
    )


def memory_fields(row: Any, kind: str) -> dict[str, Any]:
    """Render the compared fields of a memory."""
    return {name: side_value(getattr(row, name)) for name in KINDS[kind].fields}


def difference_shape(one: Difference, kind: str, branch: str) -> dict[str, Any]:
    row = one.after or one.before
    return {
        "id": str(one.uid),
        "type": kind,
        "change": one.change,
        "fields": {name: [side_value(value) for value in pair] for name, pair in one.fields.items()},
        "fact": shapes.fact(row, branch=branch) if kind == "fact" else None,
        "link": shapes.link(row, branch=branch) if kind == "link" else None,
        "line": str(getattr(row, KINDS[kind].model.KIND.title))[:LINE_LENGTH],
        "memory": None if kind in ("fact", "link") else memory_fields(row, kind),
        "commit": commit_shapes.commit(one.commit) if one.commit else None,
    }


def diff_shape(found: BranchDiff, kind: str) -> dict[str, Any]:
    page = page_shape(found.page, lambda one: difference_shape(one, kind, found.branch.name))
    return _diff(found, **page)


_branch = build_renderer(BranchShape, "parent")


def branch_shape(row: Any) -> dict[str, Any]:
    return _branch(row, parent=row.parent.name if row.parent else None)
