"""Tools that carry one operation out: schemas, arguments and answer follow from its declaration."""

from typing import Any

from day1site.mcp import schemas
from day1site.mcp.call_context import Call
from day1site.mcp.tools import base as b
from day1site.mcp.tools.declared_schemas import input_properties
from memory.operations.base import Operation
from memory.operations.parameters import take_parameters


def declare_tool(operation: Operation, name: str, *, about: str, key: str, after: str, **traits: Any) -> None:
    """Register the tool of an operation; ``key`` names what is answered, ``after`` the likely next call."""
    shape, is_list = operation.answer.shape, operation.answers_page
    row = schemas.schema(shape) if shape else {"type": "null"}

    def run(call: Call) -> b.Answer:
        arguments, branch = take_parameters(operation.parameters, call.inputs), call.branch
        call.end()
        arguments["actor"] = call.caller.actor
        result, render = operation.method(**arguments), operation.bind_render(arguments)
        shown = [render(row) for row in result.results] if is_list else render(result)
        return {key: shown, "branch": branch, "next": after}

    run.__name__ = name
    b.tool(
        title=operation.summary,
        about=about,
        takes=list_properties(operation),
        needs=tuple(one.name for one in operation.parameters if one.required),
        gives={key: b.many("", row) if is_list else row},
        **traits,
    )(run)


def take_offered(operation: Operation, call: Call, *names: str) -> dict[str, Any]:
    """Take those parameters of an operation that a tool offers, as arguments of its method."""
    return take_parameters([one for one in operation.parameters if one.name in names], call.inputs)


def list_properties(operation: Operation) -> b.Schema:
    """Return what a tool takes for an operation: its parameters, and the page of a list."""
    own = input_properties(one.field for one in operation.select_unpaged(operation.parameters))
    return {**own, "limit": b.LIMIT, "cursor": b.CURSOR} if operation.is_paged else own
