"""``events``: what happens, line by line, until Ctrl-C."""

import json
from collections.abc import Mapping
from typing import Any

from day1site.cli.invocation import Invocation, command
from day1site.cli.output import flatten, name_actor, short_time
from day1site.cli.parameters import WHOLE, drop_empty, option

COUNTS = ("added", "changed", "removed")


@command(
    "events",
    "Follow what happens, a line for each event: until Ctrl-C.",
    "day1 events --branch 'task/*' --kind 'fact.*'",
)
@option(
    "--branch",
    multiple=True,
    metavar="NAME",
    help="this branch, or a pattern; several times, too; default: every branch",
)
@option(
    "--kind",
    multiple=True,
    metavar="NAME",
    help="such as fact.write, or a pattern; several times, too; default: everything",
)
@option("--after", "last_event_id", type=WHOLE, metavar="ID", help="go on after this event; 0: the first")
def events(run: Invocation, **options: Any) -> None:
    for event in run.open_client().transport.follow_events(drop_empty(options)):
        text = json.dumps(event, ensure_ascii=False) if run.is_json else format_event(event)
        print(text, flush=True)


def format_event(event: Mapping[str, Any]) -> str:
    commit = event["commit"] or {}
    lines = [change["line"] for change in event["changes"] if change["line"]]
    counts = " ".join(f"{name} {commit[name]}" for name in COUNTS if commit.get(name))
    author = commit.get("agent_id") or name_actor(event)
    origin = [event["id"], short_time(event["at"]), event["kind"], event["branch"], author]
    return "\t".join(flatten(cell) for cell in [*origin, "; ".join(lines) or counts])
