"""The list of tools that a client is sent: what its key may use, by its profile, in few words."""

from typing import Any

import mcp_types as m

from day1site.mcp.call_context import Caller
from day1site.mcp.tools import ALL, Tool
from day1site.mcp.tools.base import Schema
from day1site.mcp.tools.more import RUN, list_more, may_call
from day1site.mcp_profiles import ALL as ALL_PROFILE
from day1site.mcp_profiles import MORE_TOOL, list_arguments, lists_tool

LIMITS = frozenset(("minLength", "maxLength", "minimum", "maximum", "minItems", "maxItems", "format"))


def describe_tools(caller: Caller) -> list[m.Tool]:
    """Describe the tools that a connection lists. Where few are listed, a text that says what an argument is
    stands once.
    """
    listed = [tool for name, tool in ALL.items() if lists_tool(caller.profile, name)]
    seen: set[tuple[str, str]] = set()
    found = []
    for tool in listed:
        if not may_call(caller, tool):
            continue
        schema = tool.input if caller.profile == ALL_PROFILE else shorten_input(tool, caller, seen)
        found.append(describe_tool(tool, schema))
    return found


def shorten_input(tool: Tool, caller: Caller, seen: set[tuple[str, str]]) -> Schema:
    """Return a tool's schema with the arguments of the profile, without limits, which refusals name."""
    names = list_arguments(caller.profile, tool.name) or tool.input["properties"]
    fields = {name: drop_limits(tool.input["properties"][name]) for name in names}
    if tool.name == MORE_TOOL:
        fields[RUN]["enum"] = list_more(caller)
    for name, field in fields.items():
        about = (name, field.get("description", ""))
        if about in seen:
            del field["description"]
        seen.add(about)
    needed = {"required": tool.input["required"]} if "required" in tool.input else {}
    return {"type": "object", "properties": fields, **needed}


def drop_limits(schema: Schema) -> dict[str, Any]:
    kept = {name: value for name, value in schema.items() if name not in LIMITS}
    if "items" in kept:
        kept["items"] = {name: value for name, value in kept["items"].items() if name in ("type", "enum")}
    return kept


def describe_tool(tool: Tool, schema: Schema) -> m.Tool:
    """Describe a tool for clients. Memory is a closed world: no tool reaches beyond it."""
    traits = m.ToolAnnotations(
        title=tool.title,
        read_only_hint=not tool.writes,
        destructive_hint=tool.destructive,
        idempotent_hint=tool.repeatable,
        open_world_hint=False,
    )
    return m.Tool(
        name=tool.name, title=tool.title, description=tool.about, input_schema=schema, annotations=traits
    )
