"""The commands of erasure."""

from typing import Any

from day1site.cli.errors import CliError
from day1site.cli.invocation import Invocation, command
from day1site.cli.operations import list_operation, operation
from day1site.cli.output import Output, note, short_time
from day1site.cli.parameters import OneOf, argument, option, switch
from day1site.cli.rest import Answer

SCOPES = OneOf(("fact", "session", "agent", "actor", "match"))
LEFT = {"derived": "made from it", "replaces": "replaces it", "source": "its source", "repeats": "repeats it"}


@command(
    "erase",
    "Remove memory for good, on every branch: it cannot be undone. Without --confirm, say what would go.",
    "day1 erase session 0197…",
    "day1 erase actor mira",
    "day1 erase match 'Jane Doe' --confirm my-project",
)
@argument("scope", "SCOPE", type=SCOPES)
@argument("target", "TARGET")
@option("--confirm", metavar="NAME", help="the name that the preview asks for: erases")
@switch("--drop-copies", help="drop the snapshots and workspaces that hold it too")
def erase(run: Invocation, scope: str, target: str, confirm: str | None, drop_copies: bool) -> None:
    api, fields = run.open_client().api, {"scope": scope, "target": target}
    if confirm is None:
        plan = api.post("/erasures", **fields, dry_run=True)
        run.show(plan, lambda out: print_plan(out, plan))
        return
    done = api.post("/erasures", **fields, confirm=confirm, drop_copies=drop_copies, dry_run=False)
    run.show(done, lambda out: print_erasure(out, done))


def print_plan(out: Output, plan: Answer) -> None:
    for one in plan["actors"]:
        note(f"It is about: {one['kind']} {one['label']} ({one['kind']}:{one['id']})")
    out.table(["kind", "number"], [[kind, number] for kind, number in plan["counts"].items()])
    out.table(["kind", "id", "text"], [[one["kind"], one["id"], one["line"]] for one in plan["examples"]])
    for one in plan["left"]:
        note(f"It stays, {LEFT[one['why']]}: {one['kind']} {one['id']}: {one['line']}")
    for copy in plan["copies"]:
        owner = copy["name"] if copy["own"] else "of another project"
        note(f"A copy of the store holds it too: {copy['kind']} {owner}. --drop-copies drops it.")
    for file in plan["backups"]:
        note(f"Delete this copy yourself, if it holds it: {file['name']}.")
    note(f"Nothing was erased. To erase it for good: --confirm {plan['confirm']}")


def print_erasure(out: Output, done: Answer) -> None:
    counts = ", ".join(f"{number} {kind}" for kind, number in done["counts"].items())
    out.line(f"{done['id']}\t{done['state']}\t{counts}")
    note(f"Proof: {done['proof']}" if done["proof"] else f"It goes on by itself: {done['waits_for']}")


@list_operation(
    "erasures.list",
    "list",
    "List the erasures, the newest first.",
    "day1 erasures",
    columns=["id", "what", "state", "requested", "by"],
    empty="Nothing was erased.",
)
def list_erasures(row: Answer) -> list[Any]:
    when = short_time(row["requested_at"])
    return [row["id"], f"{row['scope']} {row['target']}", row["state"], when, row["requested_by"]]


@operation(
    "erasures.retrieve",
    "show",
    "Show an erasure, and check that nothing of it is back.",
    "day1 erasures show 0197…",
)
def show(run: Invocation, row: Answer) -> None:
    run.show_pairs(row)
    if row["state"] == "done" and not row["holds"]:
        raise CliError("conflict", f"{row['versions_left']} versions have content again.")
