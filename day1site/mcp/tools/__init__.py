"""The tools, in the order in which connections list them; others follow by name."""

from day1site.mcp.tools.base import TOOLS, Tool
from memory.discovery import import_modules

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
    "branch_merge",
    "task_create",
    "task_join",
    "task_update",
    "handoff_create",
    "handoff_get",
    "verify_fact",
    "log_message",
    "memory_remember",
    "item_put",
    "item_get",
    "item_list",
    "item_delete",
    "conversation_get",
    "conversation_fork",
    "conversation_compare",
    "conversation_score",
    "record_delete",
    "replay_create",
    "replay_get",
    "replay_update",
    "snapshot_create",
    "snapshot_restore",
    "search",
    "fetch",
    "memory_more",
)

import_modules(__name__)
ALL: dict[str, Tool] = {name: TOOLS[name] for name in (*ORDER, *sorted(TOOLS.keys() - set(ORDER)))}
