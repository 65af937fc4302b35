"""The demo's story: chapters in TOML, parsed into dated steps.

A step is what one agent or person did in one session. Its acts run in the order of the file:

    fork          a branch: name, and optionally parent, day (a past point) and purpose
    write         new facts; propose leaves them as proposals; again repeats a known one
    change        other values for a fact; replace writes a fact (id) that supersedes another (old)
    link          [from, TYPE, to], or an object with weight, valid_from and valid_until too
    relate, part  [from, is, to] between two entities, or an object with more; part closes the relation
    talk          a conversation: title, model and turns (see conversations.py)
    question      a saved question: text and expected facts
    evaluate      a run of the saved questions
    merge_request a merge that is asked for: source, title and description
    agent_task    a task: slug, name, description, objectives, and the agents that join it
    alike         [newer, older, cosine]: a review item, without waiting for vectors
    contradict    [newer, older]: a review item on two facts that say different things
    program       a session as hooks send it: cwd, repository, turns of prompt and answer
    handoff       what is handed over, with facts by their names, and its answer
    template, use_template, bundle, quarantine, policy   as their engines take them
    replay        of a talk by its title, after a turn: model, and the turns that follow
    verify        so many unverified facts are queued for the judge
    verified, wrong, accept, done, archive, restore, delete, close_branch, end

``id`` is a name inside the story. Times are days since its first one, and the last is today, whose steps come
earlier where the story would be later than now; ``{d45}`` in a text is a date.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, time, timedelta
from pathlib import Path
from typing import Any

CHAPTERS = Path(__file__).parent / "chapters"
LAST_DAY = 181  # of the story: the day when it is loaded
LAST_HOURS = timedelta(hours=18)  # of that day, when all is told
WHO = ("day", "at", "session", "agent", "task", "by", "branch", "facts")
TIMES = ("valid_from", "valid_until", "expires_at", "at")
DAY = re.compile(r"\{d(-?\d+)\}")


@dataclass(frozen=True)
class Step:
    """Step of the story: time, actor, branch, and the acts as (name, argument) in their order."""

    at: datetime
    by: str
    session_id: str
    agent_id: str
    task_id: str
    branch: str
    acts: tuple[tuple[str, Any], ...]


def find_start(now: datetime) -> datetime:
    """Return the first day of a story that ends today."""
    return datetime.combine(now.astimezone(UTC).date() - timedelta(days=LAST_DAY), time(), UTC)


def steps(start: datetime, now: datetime, folder: Path = CHAPTERS) -> list[Step]:
    """Return all steps in chronological order, none of them later than now."""
    found = [
        _end_by(now, start, _step(start, entry))
        for path in sorted(folder.glob("*.toml"))
        for entry in tomllib.loads(path.read_text(encoding="utf-8"))["step"]
    ]
    return sorted(found, key=lambda step: step.at)


def _end_by(now: datetime, start: datetime, step: Step) -> Step:
    """Move a step of the last day back, in the proportion in which that day is not over yet."""
    today = start + timedelta(days=LAST_DAY)
    if step.at < today or now - today >= LAST_HOURS:
        return step
    return replace(step, at=today + (step.at - today) * ((now - today) / LAST_HOURS))


def _step(start: datetime, entry: Mapping[str, Any]) -> Step:
    acts = tuple((name, _dated(start, value)) for name, value in entry.items() if name not in WHO)
    common = entry.get("facts", {})  # shared by all new facts of the step
    acts = tuple(
        (name, [common | fact for fact in value] if name in ("write", "propose") else value)
        for name, value in acts
    )
    return Step(
        at=start + timedelta(days=entry["day"], hours=entry["at"].hour, minutes=entry["at"].minute),
        by=entry.get("by") or entry["agent"],
        session_id=entry.get("session", ""),
        agent_id=entry.get("agent", ""),
        task_id=entry.get("task", ""),
        branch=entry.get("branch", "main"),
        acts=acts,
    )


def _dated(start: datetime, value: Any) -> Any:
    """Return the value with the story's days replaced by times and dates."""
    if isinstance(value, str):
        return DAY.sub(lambda found: f"{start + timedelta(days=int(found[1])):%Y-%m-%d}", value)
    if isinstance(value, list):
        return [_dated(start, item) for item in value]
    if isinstance(value, dict):
        return dict(_entries(start, value))
    return value


def _entries(start: datetime, entry: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, value in entry.items():
        if name in TIMES:
            yield name, start + timedelta(days=value)
        else:
            yield name, _dated(start, value)
