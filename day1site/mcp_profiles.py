"""Profiles: which tools a connection lists, and with which arguments.

A profile only shortens the list: every tool takes all of its arguments, and is called by name. The command
line reads this too, without the SDK.
"""

from collections.abc import Sequence

CORE, MEMORY, ALL, CHATGPT = "core", "memory", "all", "chatgpt"
PROFILES = (CORE, MEMORY, ALL, CHATGPT)
DEFAULT = CORE
PREFIX = "memory_"
MORE_TOOL = "memory_more"
EVERYWHERE = ("branch", "work")
CORE_TOOLS: dict[str, Sequence[str]] = {
    "memory_search": ("query", "limit", "category", "tags", "created_after", "include", "at", *EVERYWHERE),
    "memory_get": ("fact_ids", "offset", "history", "at", *EVERYWHERE),
    "memory_write": ("fact_text", "category", "tags", "confidence", "source", *EVERYWHERE),
    "memory_update": ("fact_id", "fact_text", "category", "tags", "confidence", "status", *EVERYWHERE),
    "memory_supersede": ("fact_id", "new_fact_text", "category", "tags", *EVERYWHERE),
    "memory_context": ("session_id", "message_limit", "fact_limit", *EVERYWHERE),
    "task_join": ("task", "agent_id"),
    "task_update": ("task", "objective", "state", "note", "complete", "result", "agent_id"),
    "handoff_create": (
        *("handoff_type", "context_summary", "instructions", "blockers", "fact_ids", "to_agent"),
        *("target_branch", *EVERYWHERE),
    ),
    MORE_TOOL: ("tool", "arguments"),
}


# By these two names, and no others, ChatGPT's deep research reads: other programs have better ones.
CONNECTOR_TOOLS: dict[str, Sequence[str]] = {"search": ("query",), "fetch": ("id",)}


def lists_tool(profile: str, name: str) -> bool:
    """Return whether a profile lists a tool: ``all`` has each, so that there is nothing more, but for the two
    of connectors.
    """
    if name in CONNECTOR_TOOLS:
        return profile == CHATGPT
    if profile == ALL:
        return name != MORE_TOOL
    return name.startswith(PREFIX) if profile == MEMORY else name in CORE_TOOLS


def list_arguments(profile: str, name: str) -> Sequence[str]:
    """Return the arguments of a tool that a profile lists; none means all."""
    return {**CORE_TOOLS, **CONNECTOR_TOOLS}[name] if profile in (CORE, CHATGPT) else ()
