"""The commands on handoffs."""

from typing import Any

from day1site.cli.declared_fields import field_option, field_options, filter_options, split_filters
from day1site.cli.invocation import Invocation, command
from day1site.cli.output import Output, short_time
from day1site.cli.parameters import argument, combine, drop_empty, listing_options, option
from day1site.cli.rest import Answer, quote_id

handoff_argument = argument("handoff_id", "ID")
agent_option = option("--agent", "agent_id", metavar="ID", help="who it is; default: the agent of the key")
who_options = combine(
    option("--session", "session_id", metavar="ID", help="the session that hands over"),
    option("--task", "task_id", metavar="ID", help="the task that it is for"),
    agent_option,
)


def handoff_path(handoff_id: str) -> str:
    return f"/handoffs/{quote_id(handoff_id)}"


@command(
    "create",
    "Hand work over to another agent or session: facts, messages and what is said of them.",
    'day1 handoff create --from task/login/ada --to task/login/bob --instructions "Mend the clock."',
)
@field_options("handoff", "option", "create")
@who_options
def create(run: Invocation, **options: Any) -> None:
    row = run.open_client().api.post("/handoffs", **drop_empty(options))
    facts, messages = row["fact_count"], row["message_count"]
    run.show_line(
        row, f"{row['id']}\thanded over to {row['target_branch']}, facts: {facts}, messages: {messages}"
    )


@command("list", "List handoffs, the newest first.", "day1 handoff list --state pending")
@filter_options("handoff")
@listing_options
def list_handoffs(run: Invocation, **options: Any) -> None:
    filters, options = split_filters("handoff", options)
    api = run.open_client().api
    run.show_list(
        lambda paging: api.get("/handoffs", **filters, **paging),
        options,
        ["id", "type", "state", "from", "to", "agent", "facts", "made", "text"],
        list_cells,
        "No handoff here.",
    )


def list_cells(row: Answer) -> list[Any]:
    where = [row["source_branch"], row["target_branch"], row["to_agent"]]
    made, text = short_time(row["created_at"]), row["context_summary"]
    return [row["id"], row["handoff_type"], row["state"], *where, row["fact_count"], made, text[:100]]


@command("show", "Show a handoff with its packet.", "day1 handoff show 0197…")
@handoff_argument
def show(run: Invocation, handoff_id: str) -> None:
    row = run.open_client().api.get(handoff_path(handoff_id))
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


@command(
    "accept",
    "Accept a handoff: sessions that start on its branch begin with it.",
    "day1 handoff accept 0197…",
)
@handoff_argument
@agent_option
def accept(run: Invocation, handoff_id: str, **options: Any) -> None:
    row = run.open_client().api.post(f"{handoff_path(handoff_id)}/accept", **drop_empty(options))
    run.show_line(row, f"{row['id']}\t{row['state']}, on {row['target_branch']}")


@command(
    "reject", "Reject a handoff with a reason.", 'day1 handoff reject 0197… --reason "The cause is unknown."'
)
@handoff_argument
@field_option("handoff", "reason")
@agent_option
def reject(run: Invocation, handoff_id: str, **options: Any) -> None:
    row = run.open_client().api.post(f"{handoff_path(handoff_id)}/reject", **drop_empty(options))
    run.show_line(row, f"{row['id']}\t{row['state']}")
