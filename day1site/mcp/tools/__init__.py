"""The tools, in the order in which connections list them."""

from day1site.mcp.tools import branches, facts, search, sessions, snapshots  # noqa: F401  they declare tools
from day1site.mcp.tools.base import TOOLS, Tool

ORDER = (
    "memory_search",
    "memory_get",
    "memory_write",
    "memory_update",
    "memory_supersede",
    "memory_context",
    "memory_timeline",
    "memory_graph_query",
    "memory_explain",
    "branch_list",
    "branch_create",
    "branch_switch",
    "branch_diff",
    "verify_fact",
    "log_message",
    "snapshot_create",
    "snapshot_restore",
)

ALL: dict[str, Tool] = {name: TOOLS[name] for name in ORDER}
