"""OpenAPI descriptions of the routes of branches and commits."""

from memory.answers import branches as branch_shapes
from memory.answers import commits as commit_shapes
from memory.answers import policies as policy_shapes
from memory.answers import requests as r
from memory.answers import topology as topology_shapes
from memory.answers.declared_serializers import POINT
from memory.api.schema import (
    AT,
    IF_NONE_MATCH,
    PAGING,
    SAME,
    STATED,
    TEXT,
    document_routes,
    list_filter_parameters,
    page,
    paging_by,
    query,
    route,
)
from memory.engines.branches.branch_states import BranchState
from memory.engines.branches.diff import BASES, CHANGES, KINDS
from memory.engines.branches.topology import MAX_NODES
from memory.engines.fields.orders import BRANCHES
from memory.filters import BranchFilterSet

DIFFERING = [
    AT,
    query("against", TEXT, "The branch to compare with; the parent when not given."),
    query(
        "against_at", {"anyOf": POINT["anyOf"]}, "A point of that branch, of the parent when none is named."
    ),
    query(
        "base",
        {"type": "string", "enum": list(BASES)},
        "ancestor: what the branch changed since the two had the same history last. point: all that it shows "
        "otherwise than the other, what came later there included; the default with against_at.",
    ),
    query("type", {"type": "string", "enum": list(KINDS), "default": "fact"}, "What to list."),
    query("change", {"type": "array", "items": {"type": "string", "enum": list(CHANGES)}}, "Only these."),
]
TREE = [
    query("name", {"type": "string", "maxLength": 200}, "A part of the name."),
    query(
        "state",
        {"type": "array", "items": {"type": "string", "enum": BranchState.values}},
        "Only branches in these states; all but archived ones when not given.",
    ),
    query("owner", {"type": "string", "maxLength": 200}, "Only those of this owner."),
    query("tag", {"type": "string", "maxLength": 200}, "Only those with this tag."),
    query(
        "limit", {"type": "integer", "minimum": 1, "maximum": MAX_NODES, "default": MAX_NODES}, "Branches."
    ),
    PAGING[1],
]
documented = document_routes(
    {
        "BranchViewSet": {
            "create": route("Make a branch", {201: branch_shapes.BranchShape}, r.BranchInput),
            "list": route(
                "List branches by name",
                {200: page(branch_shapes.BranchShape)},
                None,
                [*list_filter_parameters(BranchFilterSet), *paging_by(BRANCHES)],
            ),
            "retrieve": route(
                "Read a branch", {200: branch_shapes.BranchShape, 304: SAME}, None, [IF_NONE_MATCH]
            ),
            "destroy": route(
                "Archive a branch; nothing is deleted", {200: branch_shapes.BranchShape}, None, STATED
            ),
            "restore": route(
                "Take an archived branch back into use", {200: branch_shapes.BranchShape}, r.StatedInput
            ),
            "enrich": route(
                "Change what is kept about a branch", {200: branch_shapes.BranchShape}, r.BranchDetailsInput
            ),
            "enrich_in_place": route(
                "Change what is kept about a branch, as POST does",
                {200: branch_shapes.BranchShape},
                r.BranchDetailsInput,
            ),
            "topology": route("The tree of branches", {200: topology_shapes.TreeShape}, None, TREE),
            "expired": route(
                "Branches whose days are over, or that were merged whole",
                {200: page(topology_shapes.ExpiredShape)},
                None,
                PAGING,
            ),
            "auto_archive": route(
                "Archive such branches, or tell which",
                {200: topology_shapes.ArchiveReportShape},
                topology_shapes.ArchiveInput,
            ),
            "log": route(
                "The branch's own commits, newest first",
                {200: page(commit_shapes.TitledCommitShape)},
                None,
                PAGING,
            ),
            "diff": route(
                "Compare a branch with another point",
                {200: branch_shapes.DiffShape},
                None,
                [*DIFFERING, *PAGING],
            ),
            "policy": route("The policy in force on a branch", {200: policy_shapes.PolicyInForceShape}),
            "stats": route("What a branch holds and who works on it", {200: branch_shapes.BranchStatsShape}),
        },
        "CommitViewSet": {
            "retrieve": route("Read a commit", {200: commit_shapes.CommitDetailShape}),
            "revert": route("Undo a commit", {201: commit_shapes.CommitShape}, r.StatedInput),
        },
    },
    commit_shapes,
    topology_shapes,
)
