"""The commands on scores of facts and conversations."""

from typing import Any

from day1site.cli.client import Client
from day1site.cli.invocation import Invocation
from day1site.cli.operation_commands import Noun
from day1site.cli.output import note, print_pairs, print_rows
from day1site.cli.parameters import (
    WHOLE,
    argument,
    branch_option,
    drop_empty,
    option,
    switch,
)
from day1site.cli.transport.rest import Answer
from day1site.cli.waiting import wait_for

GROUP = Noun("scores", "day1 scores judge 0197…", default="runs")
DONE_STATES = ("done", "failed")


@GROUP.action(
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
    made = client.call("conversations.evaluate", conversation_id=conversation_id, **drop_empty(options))
    row = follow_scoring(client, made)
    run.show(row, print_scoring)


def follow_scoring(client: Client, row: Answer) -> Answer:
    """Wait for a rating; on a store without a server it is carried out here."""
    client.streams.carry_out("curation.score", row["id"])
    return wait_for(client, "scorings.retrieve", row, DONE_STATES, "Rating")


def print_scoring(row: Answer) -> None:
    by = ", ".join(row["judges"]) if row["method"] == "judge" else "nobody"
    print_pairs({"id": row["id"], "state": row["state"], "average": row["average"], "rated by": by})
    print_rows(row["scores"], "dimension", "score=value", "why=explanation")
    if row["warning"]:
        note(row["warning"])


GROUP.add_list(
    "scorings.list",
    "List ratings by judges, the newest first.",
    "day1 scores runs --state done",
    name="runs",
    cells={"average": lambda row: row["average"] if row["method"] == "judge" else ""},
    empty="No conversation was rated yet.",
)
GROUP.add_operation(
    "scorings.retrieve", "Show a rating by judges.", "day1 scores run 0197…", name="run", show=print_scoring
)
GROUP.add_operation(
    "scores.create",
    "Give a fact or a conversation a score.",
    'day1 scores create conversation 0197… helpfulness 0.8 --explanation "It found the cause."',
    line="{id}\t{dimension} {value} by {scorer}",
)
GROUP.add_list(
    "scores.list",
    "List the scores of a fact or a conversation.",
    "day1 scores list conversation 0197…",
    columns=[
        *("id", "dimension", "score=value", "given by=method", "who=scorer", "when=created_at"),
        "why=explanation",
    ],
    empty="Nobody has rated it yet.",
)


@GROUP.operation(
    "scores.summary",
    "Show count, average, least and greatest score in each dimension.",
    "day1 scores summary conversation 0197…",
)
def print_summary(row: Answer) -> None:
    print_rows(row["dimensions"], "dimension", "count", "average", "min", "max")
    if row["warning"]:
        note(row["warning"])
