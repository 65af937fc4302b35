"""What a tool takes of an operation: its parameters, in the words for models, all of them or some."""

from typing import Any

from day1site.mcp.call_context import Call
from day1site.mcp.tools import base as b
from day1site.mcp.tools.declared_schemas import input_properties
from memory.operations.base import Operation
from memory.operations.parameters import take_parameters


def offer_parameters(operation: Operation) -> b.Schema:
    """Return the schemas of what an operation takes, with the page of a list."""
    own = input_properties(one.field for one in operation.select_unpaged(operation.parameters))
    return {**own, "limit": b.LIMIT, "cursor": b.CURSOR} if operation.is_paged else own


def take_offered(operation: Operation, call: Call, *names: str) -> dict[str, Any]:
    """Take the parameters of an operation that a tool offers, as arguments of its method."""
    offered = [one for one in operation.parameters if not names or one.name in names]
    return take_parameters(offered, call.inputs)
