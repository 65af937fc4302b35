"""Tools for terms: write, list."""

from day1site.mcp import schemas
from day1site.mcp.call_context import Call
from day1site.mcp.tools import base as b
from day1site.mcp.tools.operation_parameters import offer_parameters, take_offered
from memory.operations.terms import ROW, TERMS, engine, shape

CREATE, LIST = TERMS.operations["create"], TERMS.operations["list"]
SHAPE = schemas.schema(shape)


@b.tool(
    title=CREATE.summary,
    about="Keep what a word means in this project, so that nobody has to ask again.",
    takes=offer_parameters(CREATE),
    needs=("name", "meaning"),
    gives={"term": SHAPE},
    scope="write",
    writes=True,
)
def term_write(call: Call) -> b.Answer:
    fields, branch = take_offered(CREATE, call), call.branch
    call.end()
    term = engine.write_term(actor=call.actor, **fields)
    return {"term": ROW.render(term), "branch": branch, "next": "term_list"}


@b.tool(
    title=LIST.summary,
    about="List the words of this project and what they mean, the newest first.",
    takes=offer_parameters(LIST),
    gives={"terms": b.many("Newest first.", SHAPE)},
)
def term_list(call: Call) -> b.Answer:
    options, branch = take_offered(LIST, call), call.branch
    call.end()
    page = engine.list_terms(actor=call.actor, **options)
    return {"terms": [ROW.render(row) for row in page.results], "branch": branch, "next": "term_write"}
