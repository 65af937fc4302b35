"""``day1 events``: what happens, line by line, until Ctrl-C."""

import json
import time
from argparse import Namespace
from collections.abc import Iterable, Iterator, Mapping
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from day1site.cli.client import Answer, client
from day1site.cli.facts import said
from day1site.cli.output import flat, note, short

SILENCE = 60.0  # seconds; a server that is there gives a sign of life more often
PAUSE = 2.0  # until a lost connection is tried again
LONGEST_PAUSE = 3600.0  # however long a server says
PASSING = frozenset({429, 502, 503, 504})  # what servers, and proxies before one that starts again, answer
COUNTS = ("added", "changed", "removed")
LOOK = 0.5  # between two looks into the local store


def events(args: Namespace) -> None:
    asked = said(args, ("branch", "kind", "last_event_id"))
    for event in client(args.project).follow(asked):
        print(json.dumps(event, ensure_ascii=False) if args.format == "json" else line_of(event), flush=True)


def line_of(event: Mapping[str, Any]) -> str:
    commit = event["commit"] or {}
    lines = [change["line"] for change in event["changes"] if change["line"]]
    counts = " ".join(f"{name} {commit[name]}" for name in COUNTS if commit.get(name))
    who = commit.get("agent_id") or event["actor_label"]
    cells = [event["id"], short(event["at"]), event["kind"], event["branch"], who, "; ".join(lines) or counts]
    return "\t".join(flat(cell) for cell in cells)


# ---- a server ----------------------------------------------------------------------------------------


def followed(address: str, key: str) -> Iterator[Answer]:
    """Events of a server; a connection that is lost is taken up where it was.

    Raises HTTPError for a refusal, and OSError when it was never there.
    """
    place: int | None = None
    while True:
        pause = PAUSE
        try:
            for name, data in heard(address, key, place):
                place = data["id"]
                if not name:
                    yield data
        except HTTPError as error:
            if place is None or error.code not in PASSING:
                raise
            pause = pause_after(error)
        except (OSError, HTTPException) as error:
            if place is None:
                raise
            note(f"The connection was lost ({error}); trying again.")
        time.sleep(pause)


def pause_after(refusal: HTTPError) -> float:
    """Until the refused request is sent again: as the server says in whole seconds, if it does."""
    said = refusal.headers.get("Retry-After", "")
    return max(PAUSE, min(float(said), LONGEST_PAUSE)) if said.isdecimal() else PAUSE


def heard(address: str, key: str, place: int | None) -> Iterator[tuple[str, Answer]]:
    headers = {"Authorization": f"Bearer {key}", "Accept": "text/event-stream"}
    headers |= {} if place is None else {"Last-Event-ID": str(place)}
    with urlopen(Request(address, headers=headers), timeout=SILENCE) as answer:
        yield from messages(line.decode().rstrip("\r\n") for line in answer)


def messages(lines: Iterable[str]) -> Iterator[tuple[str, Answer]]:
    """The name and the data of each message of a stream."""
    found: dict[str, str] = {}
    for line in lines:
        if not line and "data" in found:
            yield found.get("event", ""), json.loads(found["data"])
        if not line:
            found = {}
        name, _, value = line.partition(":")
        if name:
            found[name] = value.removeprefix(" ")


# ---- the local store ---------------------------------------------------------------------------------


def looked_for(
    actor: Any, branch: Any = (), kind: Any = (), last_event_id: int | None = None
) -> Iterator[Answer]:
    """The same from the local store."""
    from memory.api.event_shapes import event as shape
    from memory.engines.events import EventEngine

    engine = EventEngine()
    watch = engine.watch(actor=actor, branches=branch, kinds=kind, after=last_event_id)
    place = watch.after
    while True:
        found, reached = engine.read(project_id=actor.project_id, after=place)
        yield from (shape(one) for one in found if watch.sees(one))
        if reached == place:
            time.sleep(LOOK)
        place = reached
