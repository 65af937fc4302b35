"""What may be done with branches. A name keeps its slashes, encoded or plain."""

from typing import Any

from django.utils.translation import gettext_lazy as _

from memory.answers import branches as shapes
from memory.answers import commits as commit_shapes
from memory.answers import policies as policy_shapes
from memory.answers import topology as topology_shapes
from memory.engines.access.policies import PolicyEngine
from memory.engines.branches.manager import RESERVED, BranchManager
from memory.engines.branches.topology import BranchTopologyEngine
from memory.engines.fields.base import Use
from memory.engines.fields.branches import BRANCH, BRANCH_FILTERS
from memory.engines.fields.common import STATED
from memory.engines.fields.orders import BRANCHES as ORDER
from memory.models import Branch
from memory.operations.base import Answer, Resource, Row
from memory.operations.columns import Column

manager, topology = BranchManager(), BranchTopologyEngine()
ROW = Answer(shapes.BranchShape, shapes.branch_shape)
# A reserved last segment is not part of the name: it is a route of the branch.
PATTERN = rf"(?:[^/]+/)*(?!(?:{'|'.join(sorted(RESERVED))})/?$)[^/]+"

BRANCHES = Resource("branches", "branch", row=Row("name", "name", pattern=PATTERN), model=Branch)
BRANCHES.add(
    "create",
    manager.create_branch,
    "Make a branch",
    ROW,
    body="BranchInput",
    about="A branch to create.",
    example={"name": "task/fix-auth", "purpose": "Try longer tokens."},
    fields=BRANCH.select_fields(Use.CREATE),
    origin=STATED,
    without=("read_only",),
)
BRANCHES.add("list", manager.list_branches, "List branches by name", ROW, filters=BRANCH_FILTERS, order=ORDER)
BRANCHES.show(
    "list",
    Column("name", _("Branch"), "name"),
    Column("parent", _("Forked from"), "parent"),
    Column("head", _("Commits"), "head", "number"),
    Column("ahead", _("Ahead / behind"), "ahead", "number"),
    Column("behind", head="behind"),
    Column("head_at", _("Last change"), "last change", "time", tone="bare"),
    Column("owner", _("Owner"), "owner", tone="bare"),
    Column("purpose", head="purpose"),
    Column("archived_at", head="archived", kind="time"),
)
BRANCHES.add("retrieve", manager.get_branch, "Read a branch", ROW)
BRANCHES.add("destroy", manager.archive_branch, "Archive a branch; nothing is deleted", ROW, origin=STATED)
BRANCHES.add(
    "restore",
    manager.restore_branch,
    "Take an archived branch back into use",
    ROW,
    body="StatedInput",
    about="The caller.",
    origin=STATED,
)
DETAILS: dict[str, Any] = {
    "body": "BranchDetailsInput",
    "about": "What people keep about a branch; what is not given stays.",
    "example": {"owner": "Ada", "ttl_days": 14, "tags": ["auth"]},
    "fields": BRANCH.select_fields(Use.UPDATE),
    "origin": STATED,
}
BRANCHES.add("enrich", topology.enrich_branch, "Change what is kept about a branch", ROW, **DETAILS)
BRANCHES.add(
    "enrich_in_place",
    topology.enrich_branch,
    "Change what is kept about a branch, as POST does",
    ROW,
    verb="patch",
    path="enrich",
    **DETAILS,
)
BRANCHES.add_read(
    "topology",
    topology.get_topology,
    "The tree of branches",
    Answer(topology_shapes.TreeShape, topology_shapes.tree_shape, is_whole=True),
    of_row=False,
)
BRANCHES.add_read(
    "expired",
    topology.list_expired,
    "Branches whose days are over, or that were merged whole",
    Answer(topology_shapes.ExpiredShape, topology_shapes.expired_shape),
    of_row=False,
)
BRANCHES.add(
    "auto_archive",
    topology.auto_archive,
    "Archive such branches, or tell which",
    Answer(topology_shapes.ArchiveReportShape, topology_shapes.report_shape),
    path="auto-archive",
    of_row=False,
    body="ArchiveInput",
    about="Whether to archive, or only to tell.",
)
BRANCHES.add_read(
    "log",
    manager.list_commits,
    "The branch's own commits, newest first",
    Answer(commit_shapes.TitledCommitShape, commit_shapes.titled_commit),
)
BRANCHES.add_read(
    "diff",
    manager.compare_branch,
    "Compare a branch with another point",
    Answer(shapes.DiffShape, shapes.diff_shape, takes=("kind",), is_whole=True),
)
BRANCHES.add_read(
    "policy",
    PolicyEngine().get_policy,
    "The policy in force on a branch",
    Answer(policy_shapes.PolicyInForceShape, policy_shapes.render_in_force),
)
BRANCHES.add_read(
    "stats",
    manager.load_stats,
    "What a branch holds and who works on it",
    Answer(shapes.BranchStatsShape, shapes.stats),
)
