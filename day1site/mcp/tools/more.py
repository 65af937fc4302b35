"""The tool that names, describes and runs the tools that a connection does not list."""

from collections.abc import Mapping
from typing import Any

from day1site.mcp.arguments import read_arguments
from day1site.mcp.call_context import Call, Caller
from day1site.mcp.tools import base as b
from day1site.mcp_profiles import CONNECTOR_TOOLS, MORE_TOOL, lists_tool
from memory.db.lineage import EVERYBODY
from memory.exceptions import Invalid

RUN, PAYLOAD = "tool", "arguments"


@b.tool(
    title="More tools",
    about=(
        "Run a tool that is not listed: give its `arguments`, {} for none. Without `arguments` it says what "
        "the tool takes; without `tool` it lists all of them."
    ),
    takes={RUN: b.text("Its name."), PAYLOAD: b.plain("What it takes.")},
    gives={
        "tools": b.many("The tools that may be run, or the one that was named.", b.plain("A tool.")),
    },
    writes=True,
    destructive=True,
    serves_end_users=True,
    repeatable=False,
)
def memory_more(call: Call) -> b.Answer:
    name, branch = call.take(RUN, lambda _, value: value), call.branch
    call.end()
    if name is not None:
        tool = find_tool(name)
        shown: list[b.Answer] = [
            {"tool": tool.name, "does": tool.about, "takes": tool.input, "gives": tool.output}
        ]
        after = f'memory_more {{"tool": "{tool.name}", "arguments": {{…}}}}'
    else:
        shown = [summarise_tool(b.TOOLS[name]) for name in list_more(call.caller)]
        after = 'memory_more {"tool": "…"} for all that one takes, with "arguments" to run it'
    return {"tools": shown, "branch": branch, "next": after}


def summarise_tool(tool: b.Tool) -> b.Answer:
    """Return what a tool does in a sentence, and its arguments; those that it needs come first."""
    fields, needed = tool.input["properties"], tool.input.get("required", ())
    hidden = {*needed, *b.WHERE, *b.REPOSITORY, *b.REPEATING}
    optional = [f"{name}?" for name in fields if name not in hidden]
    return {"tool": tool.name, "does": tool.about.partition(". ")[0], "takes": [*needed, *optional]}


def list_more(caller: Caller) -> list[str]:
    """Return the names of the tools that a caller may use and its connection does not list."""
    return [
        name
        for name, tool in b.TOOLS.items()
        if not lists_tool(caller.profile, name)
        and name != MORE_TOOL
        and name not in CONNECTOR_TOOLS
        and may_call(caller, tool)
    ]


def may_call(caller: Caller, tool: b.Tool) -> bool:
    """Return whether a tool answers this caller at all."""
    actor = caller.actor
    return actor.has_scope(tool.scope) and (tool.serves_end_users or actor.end_user == EVERYBODY)


def find_tool(name: Any) -> b.Tool:
    """Return a tool by its name, as programs prefix it. Raises Invalid."""
    found = b.TOOLS.get(name.rpartition("__")[2]) if isinstance(name, str) else None
    if found is None:
        raise Invalid("There is no tool named {name}.", name=str(name)[:100], field=RUN)
    return found


def find_called(tool: b.Tool, values: Mapping[str, Any]) -> tuple[b.Tool, dict[str, Any]]:
    """Return the tool that a call runs, and its arguments: ``memory_more`` stands for the one that it names.

    Raises Invalid, TooLarge.
    """
    read = read_arguments(tool.input, values)
    if tool.name != MORE_TOOL or RUN not in read or read.keys() == {RUN}:
        return tool, read
    arguments, named = read.pop(PAYLOAD, {}), find_tool(read.pop(RUN))
    if not isinstance(arguments, dict):
        raise Invalid("{field} must be an object.", field=PAYLOAD)
    return named, read_arguments(named.input, {**read, **arguments})
