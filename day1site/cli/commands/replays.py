"""The commands on replays and on comparisons of conversations."""

from typing import Any

from day1site.cli.client import Client
from day1site.cli.invocation import Invocation
from day1site.cli.operation_commands import Noun
from day1site.cli.output import note, print_pairs, print_rows, print_table
from day1site.cli.parameters import (
    NUMBER,
    WHOLE,
    OneOf,
    argument,
    branch_option,
    combine,
    drop_empty,
    option,
    switch,
)
from day1site.cli.transport.rest import Answer
from day1site.cli.waiting import wait_for

TASK = "conversations.replay"
GROUP = Noun("replays", "day1 replays list --state done")
ENDED = ("done", "stopped", "failed", "cancelled")
replay_argument = argument("replay_id", "REPLAY_ID")
limit_options = combine(
    option("--max-steps", type=WHOLE, metavar="N", help="answers of the model at most; default 20"),
    option("--max-total-tokens", type=WHOLE, metavar="N", help="tokens at most, of all requests and answers"),
    option("--max-cost", type=NUMBER, metavar="X", help="money at most, by the server's prices"),
)
money_option = option(
    "--max-total-cost", type=NUMBER, metavar="X", help="money at most, of all replays of the batch"
)
parameter_options = combine(
    option("--model", metavar="NAME", help="default the server's"),
    option("--temperature", type=NUMBER, metavar="X", help="0 to 2"),
    option("--system-prompt", metavar="TEXT", help="in place of the conversation's"),
    option("--extra-context", metavar="TEXT", help="behind the system prompt"),
    option("--allow", "tools_allow", metavar="TOOL", multiple=True, help="only these tools"),
    option("--deny", "tools_deny", metavar="TOOL", multiple=True, help="all tools but these"),
    option("--memory", metavar="BRANCH", help="tell what this branch knows about the prompt"),
    option("--memory-at", metavar="POINT", help="as it was at this point"),
    option("--memory-request", metavar="ID", help="as if this merge request were merged"),
    switch("--score", help="have judges rate both sides at the end"),
    limit_options,
)


def build_body(options: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters of a replay as REST takes them."""
    values = {name: list(v) if isinstance(v, tuple) else v for name, v in drop_empty(options).items()}
    names = {"memory": "branch", "memory_at": "at", "memory_request": "merge_request"}
    memory = {key: values.pop(name) for name, key in names.items() if name in values}
    return values | ({"memory": memory} if memory else {})


@GROUP.action(
    "create",
    "Fork a conversation at a message for a model, or an agent, to go on with.",
    "day1 replays create 0197… 0198… --model gpt-5-mini --memory task/login",
)
@argument("conversation_id", "CONVERSATION_ID")
@argument("message_id", "MESSAGE_ID")
@parameter_options
@branch_option
def create(run: Invocation, **options: Any) -> None:
    row = run.open_client().call("conversations.replay", **build_body(options))
    run.show_line(row, f"{row['id']}\t{row['state']} on {row['branch']}")


@GROUP.action("run", "Have the model go on, after the last step if there is one.", "day1 replays run 0197…")
@replay_argument
@limit_options
def start(run: Invocation, replay_id: str, **options: Any) -> None:
    client = run.open_client()
    row = client.call("replays.run", replay_id=replay_id, **options)
    client.streams.carry_out(TASK, row["id"])
    row = wait_for(client, "replays.retrieve", row, ENDED, "Replaying")
    run.show(row, print_replay)


def print_replay(row: Answer) -> None:
    names = ("id", "state", "model", "branch", "conversation_id", "source_id", "steps", "cost")
    print_pairs({name: row[name] for name in names} | row["comparison"])
    print_pairs({"tokens": f"{row['input_tokens']} read, {row['output_tokens']} written"})
    if row["unknown_calls"]:
        note(f"{row['unknown_calls']} calls had no recorded result.")
    if row["note"]:
        note(row["note"])


GROUP.add_list(
    "replays.list",
    "List replays, the newest first.",
    "day1 replays list --conversation 0197… --state done",
    cells={
        "tokens": lambda row: row["input_tokens"] + row["output_tokens"],
        "verdict": lambda row: row["comparison"].get("verdict", ""),
    },
    empty="No replay was made yet.",
)
GROUP.add_operation(
    "replays.retrieve",
    "Show a replay, its cost and its comparison.",
    "day1 replays show 0197…",
    show=print_replay,
)


@GROUP.operation(
    "replays.context",
    "Print what an agent goes on from, in chat format.",
    "day1 replays context 0197…",
)
def print_context(found: Answer) -> None:
    cells = {"content": lambda one: one["content"] or one.get("tool_calls", "")}
    print_rows(found["messages"], "role", "content", cells=cells)


GROUP.add_operation("replays.cancel", "Cancel a replay.", "day1 replays cancel 0197…", line="{id}\t{state}")
GROUP.add_operation(
    "replays.complete",
    "Mark a replay that went on by hand as done.",
    "day1 replays complete 0197…",
    line="{id}\t{state}",
)


# ---- batches ---------------------------------------------------------------------------------------


@GROUP.action(
    "batch",
    "Replay many conversations with the same parameters: those named, or the newest.",
    "day1 replays batch --session s1 --model gpt-5-mini --score",
)
@argument("conversation_ids", "CONVERSATION_ID...", nargs=-1)
@option("--session", "session_id", metavar="ID", multiple=True, help="those of this session")
@option("--agent", "agent_id", metavar="ID", multiple=True, help="those of this agent")
@option("--task", "task_id", metavar="ID", multiple=True, help="those of this task")
@option("--start", type=OneOf(("first", "last")), help="the prompt at which each is forked; default first")
@option("--name", metavar="TEXT", help="what you call it")
@parameter_options
@money_option
@branch_option
def batch(run: Invocation, **options: Any) -> None:
    client = run.open_client()
    names = ("session_id", "agent_id", "task_id")
    filters = {name: list(found) for name in names if (found := options.pop(name))}
    body = build_body(options) | ({"filters": filters} if filters else {})
    follow_batch(run, client, client.call("replay-batches.create", **body))


def follow_batch(run: Invocation, client: Client, row: Answer) -> None:
    """Carry out a batch on a store without a server, and show what came of it."""
    client.streams.carry_out("conversations.replay_batch", row["id"])
    found = client.call("replay-batches.retrieve", batch_id=row["id"])
    run.show(found, print_report)


def print_report(row: Answer) -> None:
    cost = {"cost": row["cost"], "max_total_cost": row["max_total_cost"]}
    print_pairs({"id": row["id"], "name": row["name"], **row["states"], **row["totals"], **cost})
    print_pairs({f"verdict {name}": count for name, count in row["verdicts"].items()} | row["similarity"])
    names = sorted({*row["source_scores"], *row["replay_scores"]})
    if names:
        sides = [[name, row["source_scores"].get(name), row["replay_scores"].get(name)] for name in names]
        print_table(["dimension", "source", "replay"], sides)
    for line in row["notes"]:
        note(line)
    for uid, reason in row["skipped"].items():
        note(f"{uid}: {reason}")


GROUP.add_operation(
    "replay-batches.retrieve",
    "Show what a batch of replays has come to.",
    "day1 replays report 0197…",
    name="report",
    show=print_report,
)
GROUP.add_operation(
    "replay-batches.stop",
    "Stop the replays of a batch that are not done.",
    "day1 replays stop 0197…",
    show=print_report,
)


@GROUP.action(
    "resume", "Go on with what stopped or failed in a batch.", "day1 replays resume 0197… --max-total-cost 5"
)
@argument("batch_id", "BATCH_ID")
@limit_options
@money_option
def resume(run: Invocation, batch_id: str, **options: Any) -> None:
    client = run.open_client()
    follow_batch(run, client, client.call("replay-batches.run", batch_id=batch_id, **options))
