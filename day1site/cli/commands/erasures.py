"""The commands of erasure."""

from day1site.cli.errors import CliError
from day1site.cli.invocation import Invocation, command
from day1site.cli.operation_commands import Noun, declare_inputs
from day1site.cli.output import note, print_rows, print_table
from day1site.cli.parameters import OneOf, argument, option, switch
from day1site.cli.transport.rest import Answer

GROUP = Noun("erasures", "day1 erasures show 0197…")
SCOPES = OneOf(("fact", "session", "agent", "actor", "user", "app", "match", "memory"))
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
        run.show(plan, print_plan)
        return
    done = api.post("/erasures", **fields, confirm=confirm, drop_copies=drop_copies, dry_run=False)
    run.show(done, print_erasure)


def print_plan(plan: Answer) -> None:
    for one in plan["actors"]:
        note(f"It is about: {one['kind']} {one['label']} ({one['kind']}:{one['id']})")
    print_table(["kind", "number"], list(plan["counts"].items()))
    print_rows(plan["examples"], "kind", "id", "text=line")
    for one in plan["left"]:
        note(f"It stays, {LEFT[one['why']]}: {one['kind']} {one['id']}: {one['line']}")
    for copy in plan["copies"]:
        owner = copy["name"] if copy["own"] else "of another project"
        note(f"A copy of the store holds it too: {copy['kind']} {owner}. --drop-copies drops it.")
    for file in plan["backups"]:
        note(f"Delete this copy yourself, if it holds it: {file['name']}.")
    note(f"Nothing was erased. To erase it for good: --confirm {plan['confirm']}")


def print_erasure(done: Answer) -> None:
    counts = ", ".join(f"{number} {kind}" for kind, number in done["counts"].items())
    print(f"{done['id']}\t{done['state']}\t{counts}")
    note(f"Proof: {done['proof']}" if done["proof"] else f"It goes on by itself: {done['waits_for']}")


GROUP.add_list(
    "erasures.list",
    "List the erasures, the newest first.",
    "day1 erasures",
    cells={"what": lambda row: f"{row['scope']} {row['target']}"},
    empty="Nothing was erased.",
)


@GROUP.action("show", "Show an erasure, and check that nothing of it is back.", "day1 erasures show 0197…")
@declare_inputs("erasures.retrieve")
def show(run: Invocation, erasure_id: str) -> None:
    row = run.open_client().call("erasures.retrieve", erasure_id=erasure_id)
    run.show(row)
    if row["state"] == "done" and not row["holds"]:
        raise CliError("conflict", f"{row['versions_left']} versions have content again.")
