"""The commands on branch policies."""

from typing import Any

from day1site.cli.commands import build_group, lazy_command
from day1site.cli.declared_fields import field_options
from day1site.cli.errors import UsageError
from day1site.cli.invocation import Invocation, command
from day1site.cli.operations import list_operation
from day1site.cli.parameters import OneOf, argument, drop_empty, option, switch
from day1site.cli.rest import Answer


def check_pattern(_ctx: Any, _param: Any, pattern: str) -> str:
    """Return a pattern that is not empty. Raises UsageError."""
    if not pattern.strip("/"):
        raise UsageError("PATTERN is a branch, or a pattern such as 'task/*'.")
    return pattern


pattern_argument = argument(
    "pattern", "PATTERN", callback=check_pattern, help="a branch, or a pattern such as 'task/*'"
)


@list_operation(
    "policies.list",
    "list",
    "List the policies by pattern.",
    "day1 policy list",
    columns=["branches", "direct writes", "approvals", "author approves", "checks", "verdicts of"],
    empty="No policy is set: main wants verified facts in a merge, and every branch takes direct writes.",
)
def list_policies(row: Answer) -> list[Any]:
    author = "yes" if row["author_may_approve"] else "no"
    return [
        row["pattern"],
        row["direct_writes"],
        row["approvals"],
        author,
        row["gates"] or "none",
        row["accept_methods"],
    ]


@command("show", "Show the policy in force on a branch, and which entry gave it.", "day1 policy show main")
@argument("name", "NAME", required=False, default="main", help="default main")
def show(run: Invocation, name: str) -> None:
    row = run.open_client().call("branches.policy", name=name)
    run.show(row, lambda out: out.pairs(describe_policy(name, row)))


def describe_policy(name: str, row: Answer) -> Answer:
    rules = {rule: value for rule, value in row.items() if rule != "pattern"}
    return {"branch": name, "set for": row["pattern"] or "no pattern: these are the defaults", **rules}


@command(
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


@command(
    "delete", "Delete a policy: the next wider one or the defaults apply.", "day1 policy delete 'task/*'"
)
@pattern_argument
def delete(run: Invocation, pattern: str) -> None:
    run.open_client().call("policies.destroy", pattern=pattern)
    run.show_line({"pattern": pattern, "deleted": True}, f"{pattern}\tpolicy deleted")


ACTIONS = {
    "list": lazy_command("policy:list_policies", "List the policies by pattern"),
    "show": lazy_command("policy:show", "Show the policy in force on a branch"),
    "set": lazy_command("policy:set_policy", "Set rules of a branch or of a pattern of names"),
    "delete": lazy_command("policy:delete", "Delete a policy"),
}
HELP = "what branches do with direct writes, and what merges into them need"
GROUP = build_group("policy", HELP, "day1 policy show main", "list", ACTIONS)
