"""The tool that merges branches."""

from typing import Any

from day1site.mcp import schemas
from day1site.mcp.call_context import Call
from day1site.mcp.tools import base as b
from day1site.mcp.tools.declared_schemas import WHO
from memory.answers import merges as merge_shapes
from memory.engines.fields.merges import MESSAGE
from memory.engines.merging.checked_merge import MergeResult
from memory.engines.merging.engine import MergeEngine
from memory.engines.merging.plan import CLASSES
from memory.engines.support import validation as c
from memory.models import MergeDecision, MergeRequest
from memory.operations.merge_inputs import take_merge, take_page

merges = MergeEngine()
DECISION = b.shape(
    {
        "id": b.uid("The memory in conflict."),
        "choice": b.choice(
            "source or target: that side stays. both: both stay, as two. edited: your `text` instead. skip: "
            "left out of this merge.",
            MergeDecision.Choice.values,
        ),
        "token": b.text(
            "The token of the conflict, from the plan: the merge is refused when it changed since."
        ),
        "type": b.text("The type of the memory, from the plan; default fact."),
        "text": b.text("With edited: what the fact says then."),
    },
    ("id", "choice", "token"),
)
ITEM = b.row(
    {
        "id": {"type": "string"},
        "type": {"type": "string"},
        "class": {"type": "string"},
        "reason": {"type": "string"},
        "token": {"type": "string"},
        "conflicting": b.many("The fields that a decision settles; others are merged.", b.text("A field.")),
        "source": {"type": "string", "description": "As the branch has it."},
        "target": {"type": "string", "description": "As the other branch has it, or its near duplicate."},
        "left_half": {
            "type": ["string", "null"],
            "description": "What it replaces, or what replaces it, where `ids` leave that out: name both.",
        },
    }
)


@b.tool(
    title="Merge a branch",
    about=(
        "Bring what a branch learned into another branch, main by default. Call it without dry_run first: "
        "it shows the plan and changes nothing. Each memory that the branch changed is applied, identical, "
        "a conflict (both sides changed it, or it nearly equals or contradicts a fact there), or rejected "
        "with a reason; `checks` are what the other branch's policy wants, such as verified facts. Then "
        "call it with dry_run false and a decision for each conflict, with its token. Where a check fails "
        "or approvals are needed, nothing is merged: tell the person what is missing. A merge can be taken "
        "back as a whole."
    ),
    takes={
        "name": b.text("The branch to merge; default: the one in use.", maxLength=200),
        "into": b.text("The branch that takes it in; default main.", maxLength=200),
        "strategy": b.choice(
            "auto (default): conflicts need decisions. ours, theirs: conflicts go to `into`, or to the "
            "branch. cherry_pick: only `ids`. squash: one fact of all new ones. fast_forward: only while "
            "`into` has no changes of its own.",
            MergeRequest.Strategy.values,
        ),
        "ids": b.many("With cherry_pick: the memories to take.", b.uid("A memory.")),
        "decisions": b.many("Decisions on conflicts of the plan.", DECISION),
        "message": b.text("Why, for the log.", maxLength=500),
        "dry_run": b.flag("true (default) shows the plan; false merges."),
        "class": b.many("Of the plan: only these.", b.choice("A class.", CLASSES), minItems=1),
        "limit": b.whole("Of the plan: how many at most; default 20.", 1, 100),
        "cursor": b.CURSOR,
        **WHO,
    },
    gives={
        "dry_run": {"type": "boolean"},
        "into": b.text("The branch that takes it in."),
        "counts": b.plain("How many of each type and class."),
        "checks": b.many("What the policy says; after a merge, what it said.", b.plain("A check.")),
        "mergeable": {"type": "boolean", "description": "Whether the checks pass."},
        "commit": {"type": ["string", "null"], "description": "The commit of the merge; null for a plan."},
        "open_conflicts": {"type": "integer", "description": "Conflicts that no decision settles."},
        "results": b.many("Of the plan.", ITEM),
        "next_cursor": {"type": ["string", "null"], "description": "For the page after this one."},
    },
    scope="merge",
    writes=True,
    long=True,
    repeatable=True,
)
def branch_merge(call: Call) -> b.Answer:
    name, actor = call.take("name", c.text_check(200)) or call.branch, call.actor
    options, message = take_merge(call.inputs), call.take("message", MESSAGE.type.build_check(), "")
    page, dry_run = take_page(call.inputs, 20), call.take("dry_run", c.check_boolean, True)
    _ = call.branch
    call.end()
    if dry_run:

        def read_page(**page: Any) -> b.Answer:
            found = merges.preview_merge(source=name, actor=actor, **options, **page)
            return describe_merge(merge_shapes.preview_shape(found))

        return schemas.fit_page(page, read_page, "results")

    def describe(result: MergeResult) -> b.Answer:
        shape = merge_shapes.result_shape(result, name, options["target"], options["strategy"])
        return describe_merge(shape)

    keep = call.keep_answer(describe)
    return describe(merges.merge_branch(source=name, actor=actor, message=message, keep=keep, **options))


def describe_merge(answer: dict[str, Any]) -> b.Answer:
    names = ("dry_run", "counts", "checks", "mergeable", "open_conflicts")
    commit = answer["commit"] and answer["commit"]["id"]
    return {
        **{name: answer[name] for name in names},
        "into": answer["target"],
        "commit": commit,
        "results": [describe_item(row) for row in answer["results"]],
        "next_cursor": answer["next"],
        "branch": answer["source"],
        "next": find_next(answer, commit),
    }


def describe_item(row: dict[str, Any]) -> dict[str, Any]:
    names = ("id", "type", "class", "reason", "token", "conflicting", "left_half")
    sides = {"source": row["theirs"], "target": row["other"] or row["ours"]}
    return {**{name: row[name] for name in names}, **{side: line(version) for side, version in sides.items()}}


def line(version: dict[str, Any] | None) -> str:
    """Return a memory as one line; "" where a side has none."""
    if version is None or version["deleted"]:
        return "" if version is None else "(removed)"
    texts = ("fact_text", "summary", "content", "title", "relation_type", "link_type", "status")
    return next((schemas.short(str(version[name])) for name in texts if version.get(name)), "")


def find_next(answer: dict[str, Any], commit: str | None) -> str:
    """Return the call that is likely to help next."""
    source, target = answer["source"], answer["target"]
    if not answer["dry_run"]:
        return f'memory_search {{"query": "…", "branch": "{target}"}}' if commit else "branch_list"
    if not answer["mergeable"]:
        return "tell the person which check fails, or decide the conflicts"
    return f'branch_merge {{"name": "{source}", "into": "{target}", "dry_run": false}}'
