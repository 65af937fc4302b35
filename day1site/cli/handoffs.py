"""The commands on handoffs."""

from typing import Any

from day1site.cli.invocation import Invocation
from day1site.cli.operations import list_operation, operation
from day1site.cli.output import Output, short_time
from day1site.cli.rest import Answer


@operation(
    "handoffs.create",
    "create",
    "Hand work over to another agent or session: facts, messages and what is said of them.",
    'day1 handoff create --from task/login/ada --to task/login/bob --instructions "Mend the clock."',
)
def create(run: Invocation, row: Answer) -> None:
    facts, messages = row["fact_count"], row["message_count"]
    run.show_line(
        row, f"{row['id']}\thanded over to {row['target_branch']}, facts: {facts}, messages: {messages}"
    )


@list_operation(
    "handoffs.list",
    "list",
    "List handoffs, the newest first.",
    "day1 handoff list --state pending",
    columns=["id", "type", "state", "from", "to", "agent", "facts", "made", "text"],
    empty="No handoff here.",
)
def list_handoffs(row: Answer) -> list[Any]:
    where = [row["source_branch"], row["target_branch"], row["to_agent"]]
    made, text = short_time(row["created_at"]), row["context_summary"]
    return [row["id"], row["handoff_type"], row["state"], *where, row["fact_count"], made, text[:100]]


@operation("handoffs.retrieve", "show", "Show a handoff with its packet.", "day1 handoff show 0197…")
def show(run: Invocation, row: Answer) -> None:
    run.show(row, lambda out: print_handoff(out, row))


def print_handoff(out: Output, row: Answer) -> None:
    parts = ("facts", "conversations", "handoff_id")
    out.pairs({name: value for name, value in row.items() if name not in parts})
    if row["facts"]:
        facts = [
            [one["id"], one["category"], one["verification_status"], one["essence"]] for one in row["facts"]
        ]
        out.table(["fact", "category", "verification", "text"], facts)
    messages = [
        [one["title"], message["role"], message["content"][:300]]
        for one in row["conversations"]
        for message in one["messages"]
    ]
    if messages:
        out.table(["conversation", "role", "text"], messages)


@operation(
    "handoffs.accept",
    "accept",
    "Accept a handoff: sessions that start on its branch begin with it.",
    "day1 handoff accept 0197…",
)
def accept(run: Invocation, row: Answer) -> None:
    run.show_line(row, f"{row['id']}\t{row['state']}, on {row['target_branch']}")


@operation(
    "handoffs.reject",
    "reject",
    "Reject a handoff with a reason.",
    'day1 handoff reject 0197… --reason "The cause is unknown."',
)
def reject(run: Invocation, row: Answer) -> None:
    run.show_line(row, f"{row['id']}\t{row['state']}")
