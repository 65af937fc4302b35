"""The commands on branch policies."""

from typing import Any

from day1site.cli.declared_fields import field_options
from day1site.cli.errors import UsageError
from day1site.cli.invocation import Invocation
from day1site.cli.operation_commands import Noun
from day1site.cli.output import print_pairs
from day1site.cli.parameters import OneOf, argument, drop_empty, option, switch
from day1site.cli.transport.rest import Answer

GROUP = Noun("policy", "day1 policy show main")


def check_pattern(_ctx: Any, _param: Any, pattern: str) -> str:
    """Return a pattern that is not empty. Raises UsageError."""
    if not pattern.strip("/"):
        raise UsageError("PATTERN is a branch, or a pattern such as 'task/*'.")
    return pattern


pattern_argument = argument(
    "pattern", "PATTERN", callback=check_pattern, help="a branch, or a pattern such as 'task/*'"
)


GROUP.add_list(
    "policies.list",
    "List the policies by pattern.",
    "day1 policy list",
    columns=[
        *("branches=pattern", "direct writes=direct_writes", "approvals"),
        *("author approves=author_may_approve", "checks", "verdicts of=accept_methods"),
    ],
    cells={"checks": lambda row: row["gates"] or "none"},
    empty="No policy is set: main wants verified facts in a merge, and every branch takes direct writes.",
)


@GROUP.action(
    "show", "Show the policy in force on a branch, and which entry gave it.", "day1 policy show main"
)
@argument("name", "NAME", required=False, default="main", help="default main")
def show(run: Invocation, name: str) -> None:
    row = run.open_client().call("branches.policy", name=name)
    run.show(row, lambda _: print_pairs(describe_policy(name, row)))


def describe_policy(name: str, row: Answer) -> Answer:
    rules = {rule: value for rule, value in row.items() if rule != "pattern"}
    return {"branch": name, "set for": row["pattern"] or "no pattern: these are the defaults", **rules}


@GROUP.action(
    "set",
    "Set rules of a branch or of a pattern of names: what is not given stays as it is.",
    "day1 policy set main --direct-writes propose --approvals 1",
    "day1 policy set 'task/*' --no-gates",
)
@pattern_argument
@field_options("policy")
@switch("--no-gates", help="a merge request passes without checks")
@option(
    "--author-may-approve", type=OneOf(("true", "false")), help="whether the author's own approval counts"
)
def set_policy(run: Invocation, pattern: str, no_gates: bool, **options: Any) -> None:
    rules = drop_empty(options)
    if "author_may_approve" in rules:
        rules["author_may_approve"] = rules["author_may_approve"] == "true"
    if no_gates and "gates" in rules:
        raise UsageError("--no-gates and --gate exclude each other.")
    rules |= {"gates": []} if no_gates else {}
    row = run.open_client(makes_store=True).call("policies.partial_update", pattern=pattern, **rules)
    run.show_line(
        row, f"{row['pattern']}\tdirect writes: {row['direct_writes']}, approvals: {row['approvals']}"
    )


@GROUP.action(
    "delete", "Delete a policy: the next wider one or the defaults apply.", "day1 policy delete 'task/*'"
)
@pattern_argument
def delete(run: Invocation, pattern: str) -> None:
    run.open_client().call("policies.destroy", pattern=pattern)
    run.show_line({"pattern": pattern, "deleted": True}, f"{pattern}\tpolicy deleted")
