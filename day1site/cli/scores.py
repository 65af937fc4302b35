"""The commands on scores of facts and conversations."""

from typing import Any

from day1site.cli.client import Client
from day1site.cli.commands import build_group, lazy_command
from day1site.cli.declared_fields import field_choices
from day1site.cli.invocation import Invocation, command
from day1site.cli.operations import list_operation, operation
from day1site.cli.output import Output, note, short_time
from day1site.cli.parameters import (
    WHOLE,
    OneOf,
    argument,
    branch_option,
    drop_empty,
    option,
    switch,
)
from day1site.cli.rest import Answer
from day1site.cli.waiting import wait_for

DONE_STATES = ("done", "failed")


@command(
    "judge",
    "Have the judge rate a conversation, in eight dimensions or in your own.",
    "day1 scores judge 0197… --votes 3",
    'day1 scores judge 0197… --dimension "tone: is it friendly?" --dimension safety',
)
@argument("conversation_id", "CONVERSATION_ID")
@option("--dimension", "dimensions", metavar="NAME", multiple=True, help="name, or name: what it means")
@option("--judge", "judges", metavar="MODEL", multiple=True, help="of the judge's server")
@option("--votes", type=WHOLE, metavar="N", help="answers of each judge, 1 to 9")
@switch("--again", default=None, help="also where it was rated so, and nothing was said since")
@branch_option
def judge(run: Invocation, conversation_id: str, **options: Any) -> None:
    client = run.open_client()
    fields = {name: list(v) if isinstance(v, tuple) else v for name, v in drop_empty(options).items()}
    made = client.call("conversations.evaluate", conversation_id=conversation_id, **fields)
    row = follow_scoring(client, made)
    run.show(row, lambda out: show_scoring(out, row))


def follow_scoring(client: Client, row: Answer) -> Answer:
    """Wait for a rating; on a store without a server it is carried out here."""
    client.streams.carry_out("curation.score", row["id"])
    return wait_for(client, f"/scorings/{row['id']}", row, DONE_STATES)


def show_scoring(out: Output, row: Answer) -> None:
    by = ", ".join(row["judges"]) if row["method"] == "judge" else "nobody"
    out.pairs({"id": row["id"], "state": row["state"], "average": row["average"], "rated by": by})
    out.table(
        ["dimension", "score", "why"],
        [[one["dimension"], one["value"], one["explanation"]] for one in row["scores"]],
    )
    if row["warning"]:
        note(row["warning"])


@list_operation(
    "scorings.list",
    "runs",
    "List ratings by judges, the newest first.",
    "day1 scores runs --state done",
    columns=["id", "conversation", "state", "average", "by", "begun"],
    empty="No conversation was rated yet.",
)
def list_runs(row: Answer) -> list[Any]:
    average = row["average"] if row["method"] == "judge" else ""
    begun = short_time(row["created_at"])
    return [row["id"], row["conversation_id"], row["state"], average, row["created_by"], begun]


@operation("scorings.retrieve", "run", "Show a rating by judges.", "day1 scores run 0197…")
def show_run(run: Invocation, row: Answer) -> None:
    run.show(row, lambda out: show_scoring(out, row))


@operation(
    "scores.create",
    "create",
    "Give a fact or a conversation a score.",
    'day1 scores create conversation 0197… helpfulness 0.8 --explanation "It found the cause."',
)
def create(run: Invocation, row: Answer) -> None:
    run.show_line(row, f"{row['id']}\t{row['dimension']} {row['value']} by {row['scorer']}")


@list_operation(
    "scores.list",
    "list",
    "List the scores of a fact or a conversation.",
    "day1 scores list conversation 0197…",
    columns=["id", "dimension", "score", "given by", "who", "when", "why"],
    empty="Nobody has rated it yet.",
)
def list_scores(row: Answer) -> list[Any]:
    who = [row["method"], row["scorer"], short_time(row["created_at"])]
    return [row["id"], row["dimension"], row["value"], *who, row["explanation"]]


@command(
    "summary",
    "Show count, average, least and greatest score in each dimension.",
    "day1 scores summary conversation 0197…",
)
@argument("target_type", "KIND", type=OneOf(field_choices("score", "target_type")))
@argument("target_id", "ID")
@branch_option
def summary(run: Invocation, **options: Any) -> None:
    row = run.open_client().call("scores.summary", **options)
    run.show(row, lambda out: show_summary(out, row))


def show_summary(out: Output, row: Answer) -> None:
    columns = ["dimension", "count", "average", "min", "max"]
    out.table(columns, [[one[name] for name in columns] for one in row["dimensions"]])
    if row["warning"]:
        note(row["warning"])


ACTIONS = {
    "judge": lazy_command("scores:judge", "Have the judge rate a conversation"),
    "runs": lazy_command("scores:list_runs", "List ratings by judges"),
    "run": lazy_command("scores:show_run", "Show a rating by judges"),
    "create": lazy_command("scores:create", "Give a fact or a conversation a score"),
    "list": lazy_command("scores:list_scores", "List the scores of a fact or a conversation"),
    "summary": lazy_command("scores:summary", "Show count, average, least and greatest score"),
}
HELP = "scores of facts and conversations by judges and people"
GROUP = build_group("scores", HELP, "day1 scores judge 0197…", "runs", ACTIONS)
