"""Tools for branches: list, create, switch, compare."""

from typing import Any

from day1site.mcp import schemas
from day1site.mcp.call_context import Call
from day1site.mcp.tools import base as b
from day1site.mcp.tools.declared_schemas import WHO, input_properties
from day1site.mcp.tools.operation_parameters import take_offered
from memory.engines.access.work_handles import WorkEngine
from memory.engines.branches.diff import AGAINST, BASE, CHANGES, KIND
from memory.engines.branches.manager import BranchManager
from memory.engines.fields.base import Use
from memory.engines.fields.branches import BRANCH
from memory.engines.support import validation as c
from memory.engines.versions.lookup import MAIN
from memory.operations.branches import BRANCHES

branch_manager = BranchManager()
DIFF = BRANCHES.operations["diff"]
ROW = {
    "name": {"type": "string"},
    "parent": {"type": ["string", "null"]},
    "head": {"type": "integer", "description": "How many commits it has."},
    "head_at": {"type": "string", "format": "date-time"},
    "purpose": {"type": "string"},
    "ahead": {"type": "integer", "description": "Its commits that the parent has not."},
    "behind": {"type": "integer", "description": "Commits of the parent that it has not."},
}


@b.tool(
    title="List branches",
    about=(
        "List the branches of memory that you may use: lines of work that begin with all that their parent "
        "holds and keep their changes to themselves."
    ),
    takes={
        "archived": b.flag("true lists archived ones too."),
        "limit": b.whole("How many at most; default 50.", 1, 100),
        "cursor": b.CURSOR,
    },
    gives={
        "branches": b.many("By name.", b.row(ROW)),
        "next_cursor": {"type": ["string", "null"], "description": "For the page after this one."},
    },
)
def branch_list(call: Call) -> b.Answer:
    options = take_offered(BRANCHES.operations["list"], call, "archived", "limit", "cursor")
    branch = call.branch
    call.end()

    def read_page(**options: Any) -> b.Answer:
        page = branch_manager.list_branches(actor=call.caller.actor, **options)
        rows = [schemas.branch(row) for row in page.results]
        after = f'branch_switch {{"name": "{rows[-1]["name"] if rows else MAIN}"}} to work on one'
        return {"branches": rows, "next_cursor": page.next, "branch": branch, "next": after}

    return schemas.fit_page(options, read_page, "branches")


@b.tool(
    title="Make a branch",
    about=(
        "Make a branch, to try something or to keep a task's notes apart: it begins with all that its "
        "parent holds now, or held `at` a point, and what is written on it is seen nowhere else. It costs "
        "nothing, whatever the size. branch_switch then gives a handle to work on it."
    ),
    takes={
        **input_properties(BRANCH.select_fields(Use.TOOL_CREATE)),
        "at": b.AT,
        **WHO,
    },
    needs=("name",),
    gives={"created": b.row(ROW)},
    scope="write",
    writes=True,
    repeatable=False,
)
def branch_create(call: Call) -> b.Answer:
    actor, branch = call.actor, call.branch
    offered = take_offered(BRANCHES.operations["create"], call, "name", "parent", "at", "purpose")
    call.end()
    made = branch_manager.create_branch(actor=actor, **{"parent": branch, **offered})
    after = f'branch_switch {{"name": "{made.name}"}} to work on it'
    return {"created": schemas.branch(made), "branch": made.name, "next": after}


@b.tool(
    title="Work on a branch",
    about=(
        "Get a handle for a branch: pass it as `work` to the other tools, and they read and write there. "
        "Nothing else changes, for you or for others: a call without `work` goes on where it did. The "
        "handle is yours alone and ends when it was not used for 24 hours; then call this again. It stands "
        "for your repository too, where that is known."
    ),
    takes={"name": b.text("The branch, such as main or task/fix-login.", maxLength=200), **b.REPOSITORY},
    needs=("name",),
    gives={
        "switched_to": b.row(ROW),
        "handle": b.text("Pass it as `work`."),
        "idle_hours": {"type": "integer", "description": "It ends after so many hours of rest."},
    },
    repeatable=False,
)
def branch_switch(call: Call) -> b.Answer:
    name, _ = call.need("name", c.plain_text), call.branch
    call.take_repository()
    call.end()
    branch, handle = WorkEngine().open_work(branch_name=name, actor=call.caller.actor)
    after = f'memory_search {{"query": "…", "work": "{handle}"}}'
    result: dict[str, Any] = {"switched_to": schemas.branch(branch), "handle": handle, "idle_hours": 24}
    return {**result, "branch": branch.name, "next": after}


@b.tool(
    title="Compare branches",
    about=(
        "Show what a branch changed since it left its parent (or since it and another branch had the same "
        "history last): facts added, changed field by field, or removed, with counts. Use it before you "
        "hand work over or decide what to keep."
    ),
    takes={
        "name": b.text("The branch; default: the one in use.", maxLength=200),
        "at": b.AT,
        "against_at": b.AT,
        **input_properties((AGAINST, BASE, KIND)),
        "change": b.many("Only these changes.", b.choice("A change.", CHANGES), minItems=1),
        "limit": b.whole("How many at most; default 20.", 1, 100),
        "cursor": b.CURSOR,
    },
    gives={
        "against": b.text("What it is compared with."),
        "ahead": {"type": "integer", "description": "Commits since the two had the same history last."},
        "behind": {"type": "integer", "description": "Commits of the other since then."},
        "counts": {"type": ["object", "null"], "description": "Of all pages; with the first page only."},
        "results": b.many(
            "The newest first.",
            b.row(
                {
                    "id": {"type": "string"},
                    "change": {"type": "string"},
                    "line": {"type": "string"},
                    "fields": {"type": "object", "description": "Of what changed: [before, after]."},
                }
            ),
        ),
        "next_cursor": {"type": ["string", "null"], "description": "For the page after this one."},
    },
    scope="curate",
)
def branch_diff(call: Call) -> b.Answer:
    name = call.take("name", c.text_check(200)) or call.branch
    options = {"limit": 20, **take_offered(DIFF, call)}
    _ = call.branch
    call.end()

    def read_page(**options: Any) -> b.Answer:
        found = branch_manager.compare_branch(name=name, actor=call.caller.actor, **options)
        rows = [_difference(one) for one in DIFF.bind_render(options)(found)["results"]]
        result = {"against": found.against.name, "ahead": found.ahead, "behind": found.behind}
        result |= {"counts": found.counts, "results": rows}
        ids = f'"fact_ids": {schemas.names(rows)}, "branch": "{name}"'
        after = f"memory_get {{{ids}}}" if rows else "branch_list"
        return {**result, "next_cursor": found.page.next, "branch": name, "next": after}

    return schemas.fit_page(options, read_page, "results")


def _difference(row: dict[str, Any]) -> dict[str, Any]:
    link = row["link"]
    line = f"{link['link_type']} {link['from_id']} → {link['to_id']}" if link else row["line"]
    fields = {name: [_cut(value) for value in pair] for name, pair in row["fields"].items()}
    return {"id": row["id"], "change": row["change"], "line": schemas.one_line(line), "fields": fields}


def _cut(value: Any) -> Any:
    return schemas.short(value) if isinstance(value, str) else value
