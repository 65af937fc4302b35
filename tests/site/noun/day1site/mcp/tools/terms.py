"""Tools for terms: write, list."""

from day1site.mcp import schemas
from day1site.mcp.call_context import Call
from day1site.mcp.tools import base as b
from day1site.mcp.tools.declared_schemas import input_properties
from memory.answers.terms import TermShape, render
from memory.engines.fields.base import Use
from memory.engines.fields.terms import TERM
from memory.engines.graph.terms import TermEngine
from memory.engines.support import validation as c
from memory.operations.inputs import parse_integer


@b.tool(
    title="Write a term",
    about="Keep what a word means in this project, so that nobody has to ask again.",
    takes=input_properties(TERM.select_fields(Use.TOOL_CREATE)),
    needs=TERM.field_names(Use.TOOL_CREATE),
    gives={"term": schemas.schema(TermShape)},
    scope="write",
    writes=True,
)
def term_write(call: Call) -> b.Answer:
    fields = {name: call.need(name, c.plain_text) for name in TERM.field_names(Use.TOOL_CREATE)}
    branch, actor = call.branch, call.caller.actor
    call.end()
    term = TermEngine().write_term(actor=actor, **fields)
    return {"term": render(term), "branch": branch, "next": "term_list"}


@b.tool(
    title="List terms",
    about="List the words of this project and what they mean, the newest first.",
    takes={"limit": b.LIMIT, "cursor": b.CURSOR},
    gives={"terms": b.many("Newest first.", schemas.schema(TermShape))},
)
def term_list(call: Call) -> b.Answer:
    paging = {
        "limit": call.take("limit", parse_integer, 50),
        "cursor": call.take("cursor", c.text_check(500), ""),
    }
    branch = call.branch
    call.end()
    page = TermEngine().list_terms(actor=call.caller.actor, **paging)
    return {"terms": [render(term) for term in page.results], "branch": branch, "next": "term_write"}
