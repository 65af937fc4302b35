"""Response serializers for the tree of branches, and for those that are expired or merged."""

from typing import Any

from rest_framework import serializers as s

from memory.answers import branches as branch_shapes
from memory.answers.rendering import build_renderer, page_shape
from memory.engines.branches.branch_states import ENDED, ArchiveReport, BranchState, ExpiredBranch
from memory.engines.branches.topology import BranchNode, BranchTree


class TreeNodeShape(branch_shapes.BranchShape):
    """A branch in the tree: what it wrote or changed itself, and still has."""

    level = s.IntegerField(help_text="How far from main: 0 is main itself.")
    state = s.ChoiceField(choices=BranchState.choices)
    since = s.DateTimeField(allow_null=True, help_text="Since when it is expired, merged or archived.")
    children = s.IntegerField(help_text="Branches that were made from it, in any state.")
    facts = s.IntegerField(help_text="Of its own, as the next two.")
    conversations = s.IntegerField()
    observations = s.IntegerField()
    agents = s.IntegerField(help_text="Agents that committed on it.")
    last_activity = s.DateTimeField()
    matches = s.BooleanField(help_text="False for an ancestor of what was looked for.")


class TreeShape(s.Serializer):
    """The branches, each after its parent, siblings by name."""

    counts = s.DictField(
        child=s.IntegerField(),
        allow_null=True,
        help_text="Branches of each state, whatever is looked for; with the first page only.",
    )
    matching = s.IntegerField(help_text="How many match, on all pages.")
    results = TreeNodeShape(many=True)
    next = s.CharField(allow_null=True)
    previous = s.CharField(allow_null=True)


class ExpiredShape(branch_shapes.BranchShape):
    """A branch whose days are over, or that was merged whole."""

    state = s.ChoiceField(choices=[(one.value, one.value) for one in ENDED])
    since = s.DateTimeField()
    archived = s.BooleanField(help_text="Whether this call has archived it.")
    kept = s.CharField(help_text="Why it is left, as a code: children, merge_request, changed …; else empty.")
    reason = s.CharField(help_text="The same as a sentence.")


class ArchiveReportShape(s.Serializer):
    """What was archived, or would be, and what is left for which reason."""

    dry_run = s.BooleanField()
    count = s.IntegerField(help_text="How many were archived, or would be.")
    more = s.BooleanField(help_text="True when there were more than 1,000: call it again.")
    results = ExpiredShape(many=True)


_node = build_renderer(TreeNodeShape, *branch_shapes.BranchShape().get_fields())
_expired = build_renderer(ExpiredShape, *branch_shapes.BranchShape().get_fields())


def node_shape(node: BranchNode) -> dict[str, Any]:
    return _node(node, **branch_shapes.branch_shape(node.branch))


def tree_shape(tree: BranchTree) -> dict[str, Any]:
    return {"counts": tree.counts, "matching": tree.matching, **page_shape(tree, node_shape)}


def expired_shape(one: ExpiredBranch) -> dict[str, Any]:
    row = _expired(one, **branch_shapes.branch_shape(one.branch))
    return {**row, "state": one.state.value, "reason": str(one.reason)}


def report_shape(done: ArchiveReport) -> dict[str, Any]:
    plain = {"dry_run": done.dry_run, "count": done.count, "more": done.more}
    return {**plain, "results": [expired_shape(one) for one in done.results]}
