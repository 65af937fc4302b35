"""The commands on merges: of a branch, and of merge requests."""

from collections.abc import Mapping
from typing import Any

from day1site.cli.commands.branches import GROUP as BRANCH
from day1site.cli.declared_fields import field_choices
from day1site.cli.errors import UsageError
from day1site.cli.invocation import Invocation
from day1site.cli.operation_commands import Noun
from day1site.cli.output import note, print_pairs, print_rows, short_time
from day1site.cli.parameters import OneOf, argument, drop_empty, option, switch
from day1site.cli.transport.rest import Answer, quote_place

GROUP = Noun("merge-request", "day1 merge-request create task/login")
CHOICES = ("source", "target", "both", "edited", "skip")
PLAN_COLUMNS = ["class", "type", "id", "reason", "text"]
request_argument = argument("request", "REQUEST")


# ---- of a branch -----------------------------------------------------------------------------------------


@BRANCH.action(
    "merge",
    "Merge a branch into another, as far as the policy of that branch allows it.",
    "day1 branch merge task/login --dry-run",
    "day1 branch merge task/login --into task/release --strategy theirs",
)
@argument("source", "SOURCE")
@option("--into", default="main", metavar="NAME", help="default main")
@option(
    "--strategy",
    type=OneOf(field_choices("merge_request", "strategy")),
    help="default auto: conflicts wait for a decision",
)
@option("--id", "ids", multiple=True, metavar="ID", help="take this memory, with --strategy cherry_pick")
@switch("--dry-run", help="show the plan, do nothing")
@option("--message", metavar="TEXT", help="the message of the commit")
@switch("--force", help="in spite of gates and approvals: an admin may, and it is audited")
def merge_branch(run: Invocation, source: str, **options: Any) -> None:
    body = {name: value for name, value in drop_empty(options).items() if value is not False}
    answer = run.open_client().api.post(f"/branches/{quote_place(source)}/merge", **body)
    run.show(answer, print_merge)


def print_merge(answer: Answer) -> None:
    if answer["dry_run"]:
        print_plan(answer)
        note_checks(answer)
        note("Nothing was changed.")
    elif answer["commit"] is None:
        note(f"{answer['target']} has all of {answer['source']} already: nothing to do.")
    else:
        print(f"{answer['commit']['id']}\tmerged {answer['source']} into {answer['target']}")
        note_counts(answer)
    if answer["open_conflicts"]:
        note(f"Conflicts that nothing settles: {answer['open_conflicts']}; see day1 merge-request create.")


def print_plan(answer: Answer) -> None:
    """Print the memories of a plan, and how many of each class it has."""
    if answer["results"]:
        print_rows(answer["results"], *PLAN_COLUMNS, cells=PLAN_CELLS)
    else:
        note("Nothing to merge.")
    note_counts(answer)
    if answer["next"]:
        note("There are more: day1 merge-request plan shows every page.")


def describe_reason(row: Answer) -> str:
    reason = f"{row['reason']}, {row['decision']['choice']}" if row["decision"] else str(row["reason"])
    return f"{reason}, without {row['left_half']}" if row["left_half"] else reason


def describe_memory(row: Answer) -> str:
    """Return a line for a memory: what the source shows, else the target."""
    version = row["theirs"] or row["ours"] or {}
    names = ("essence", "summary", "content", "title", "relation_type", "link_type", "status")
    return next((str(version[name]) for name in names if version.get(name)), "")


PLAN_CELLS = {"reason": describe_reason, "text": describe_memory}


def note_counts(answer: Answer) -> None:
    for kind, counts in answer["counts"].items():
        if parts := [f"{count} {name}" for name, count in counts.items() if count]:
            note(f"{kind}: {', '.join(parts)}")


def note_checks(answer: Answer) -> None:
    for check in answer["checks"]:
        note(f"{check['name']} {check['state']}: {check['reason']}")


# ---- merge requests --------------------------------------------------------------------------------------

GROUP.add_operation(
    "merge-requests.create",
    "Ask for a merge: it is checked, decided and approved before it is merged.",
    'day1 merge-request create task/login --title "Longer tokens"',
    line="{number}\t{title}",
)
GROUP.add_list(
    "merge-requests.list",
    "List merge requests, the newest first.",
    "day1 merge-request list --state open",
    empty="No merge request: day1 merge-request create BRANCH opens one.",
)


@GROUP.operation(
    "merge-requests.retrieve",
    "Show a merge request with its checks and approvals.",
    "day1 merge-request show 3",
)
def print_request(row: Answer) -> None:
    listed = ("approvals", "checks", "counts", "mergeable", "not_checked")
    print_pairs({name: value for name, value in row.items() if name not in listed})
    for approval in row["approvals"]:
        remark = "" if approval["counts"] else ", which does not count"
        remark = ", older than what it is now" if approval["outdated"] else remark
        note(f"approved by {approval['actor_label']} at {short_time(approval['at'])}{remark}")
    note_counts(row)
    note_checks(row)
    if row["not_checked"]:
        note(f"not checked: {row['not_checked']}")


GROUP.add_list(
    "merge-requests.plan",
    "List what a merge request would merge, and what was decided.",
    "day1 merge-request plan 3 --class conflict --all",
    columns=PLAN_COLUMNS,
    cells=PLAN_CELLS,
    empty="Nothing to merge.",
    explain=note_counts,
)


@GROUP.action(
    "decide",
    "Decide conflicts: one by its id, or all of some reasons.",
    "day1 merge-request decide 3 --id 0197… --choice source",
    "day1 merge-request decide 3 --all --reason near_duplicate --choice target",
)
@request_argument
@option("--id", "uid", metavar="ID", help="the memory that is decided")
@option("--type", metavar="TYPE", help="the kind of memory; default fact, and every kind with --all")
@option("--choice", type=OneOf(CHOICES), required=True, help="which side stays; skip leaves it out")
@option("--text", metavar="TEXT", help="the text, with --choice edited")
@option("--token", metavar="TOKEN", help="of the plan: refused when the conflict changed since")
@switch("--all", help="all conflicts")
@switch("--only-open", help="with --all: what was decided before stays as it is")
@option(
    "--reason", "reasons", multiple=True, metavar="REASON", help="with --all: only conflicts such as edited"
)
def decide(run: Invocation, request: str, **options: Any) -> None:
    body = decision_body(options)
    answer = run.open_client().call("merge-requests.decisions", request_id=request, **body)
    line = f"{answer['number']}\t{answer['decided']} decided, {answer['undecided']} left"
    run.show_line(answer, line)
    if options["all"] and answer["decided_at"]:
        command = f"day1 merge-request withdraw {answer['number']} --decided-at {answer['decided_at']}"
        note(f"{command} takes it back")


def decision_body(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the body of decisions: one of them, or the rule. Raises UsageError."""
    if bool(options["uid"]) == bool(options["all"]):
        raise UsageError("Name one memory with --id, or all conflicts with --all.")
    if options["all"]:
        if options["text"] or options["token"]:
            raise UsageError("--text and --token are for one memory, named with --id.")
        rule = drop_empty({name: options[name] for name in ("choice", "type", "reasons")})
        return {**rule, **({"only_open": True} if options["only_open"] else {})}
    if options["reasons"] or options["only_open"]:
        raise UsageError("--reason and --only-open go with --all.")
    names = ("choice", "type", "text", "token")
    return {"decisions": [{"id": options["uid"], **drop_empty({name: options[name] for name in names})}]}


@GROUP.action("approve", "Approve a merge request as its branch is now.", "day1 merge-request approve 3")
@request_argument
def approve(run: Invocation, request: str) -> None:
    row = run.open_client().call("merge-requests.approve", request_id=request)
    run.show_line(row, f"{row['number']}\t{row['state']}")


@GROUP.action(
    "withdraw",
    "Take back your approval; with --id what was decided about a conflict, with --decided-at about many.",
    "day1 merge-request withdraw 3",
    "day1 merge-request withdraw 3 --id 0197…",
    "day1 merge-request withdraw 3 --decided-at 2026-05-01T12:00:00.123456Z",
)
@request_argument
@option("--id", "uid", metavar="ID", help="the memory whose decision is taken back")
@option("--type", metavar="TYPE", help="with --id: the kind of memory; default fact")
@option("--decided-at", metavar="TIME", help="what you decided in one call, at the time that it answered")
def withdraw(run: Invocation, request: str, **options: Any) -> None:
    if options["type"] and not options["uid"]:
        raise UsageError("--type goes with --id.")
    if options["decided_at"] and options["uid"]:
        raise UsageError("Name one memory with --id, or a call with --decided-at.")
    key = drop_empty({"id": options["uid"], **{name: options[name] for name in ("type", "decided_at")}})
    action = "withdraw_decision" if key else "withdraw_approval"
    row = run.open_client().call(f"merge-requests.{action}", request_id=request, **key)
    run.show_line(row, f"{row['number']}\t{row['state']}")


GROUP.add_operation(
    "merge-requests.reject",
    "Close a merge request without a merge.",
    'day1 merge-request reject 3 --reason "Not true"',
    line="{number}\t{state}",
)
GROUP.add_operation(
    "merge-requests.merge",
    "Merge a merge request whose checks pass.",
    "day1 merge-request merge 3",
    line="{number}\t{state} as {merge_commit}",
)
GROUP.add_operation(
    "merge-requests.revert",
    "Take the merge of a request back by a new commit.",
    "day1 merge-request revert 3",
    line="{number}\t{state} by {revert_commit}",
)
