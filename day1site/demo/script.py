"""The story as it is written down: chapters in TOML, read into steps with their times.

A step is what one agent or person did in one sitting. Its acts are carried out in the order of the file:

    fork          a branch: name, and where wanted parent, day (a past point) and purpose
    write         new facts; propose leaves them as proposals; again says one that is known once more
    change        other values for a fact; replace writes a fact (id) in the place of another (old)
    link          [from, TYPE, to], or an object with weight, valid_from and valid_until too
    relate, part  [from, is, to] between two things of the world, or an object with more; no longer so
    talk          a conversation: title, model and said, its turns (see talks.py)
    alike         [newer, older, cosine]: a question of the review queue, without waiting for vectors
    verified, wrong, accept, done, archive, restore, delete, close_branch, end

``id`` is a name inside the story. Times are days since its first Monday; ``{d45}`` in a text is a date.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from pathlib import Path
from typing import Any

CHAPTERS = Path(__file__).parent / "chapters"
WEEKS = 26
WHO = ("day", "at", "session", "agent", "task", "by", "branch", "facts")
TIMES = ("valid_from", "valid_until", "expires_at", "at")
DAY = re.compile(r"\{d(-?\d+)\}")


@dataclass(frozen=True)
class Step:
    """When it was, who did it and where, and the acts: (name, what) in their order."""

    at: datetime
    by: str
    session_id: str
    agent_id: str
    task_id: str
    branch: str
    acts: tuple[tuple[str, Any], ...]


def monday(now: datetime) -> datetime:
    """The first day of a story that ends about now: 26 weeks ago, on a Monday."""
    day = now.astimezone(UTC).date() - timedelta(weeks=WEEKS)
    return datetime.combine(day - timedelta(days=day.weekday()), time(), UTC)


def steps(start: datetime, folder: Path = CHAPTERS) -> list[Step]:
    """All steps in the order of time."""
    found = [
        _step(start, given)
        for path in sorted(folder.glob("*.toml"))
        for given in tomllib.loads(path.read_text(encoding="utf-8"))["step"]
    ]
    return sorted(found, key=lambda step: step.at)


def _step(start: datetime, given: Mapping[str, Any]) -> Step:
    acts = tuple((name, _dated(start, what)) for name, what in given.items() if name not in WHO)
    common = given.get("facts", {})  # what all new facts of the step share
    acts = tuple(
        (name, [common | fact for fact in what] if name in ("write", "propose") else what)
        for name, what in acts
    )
    return Step(
        at=start + timedelta(days=given["day"], hours=given["at"].hour, minutes=given["at"].minute),
        by=given.get("by") or given["agent"],
        session_id=given.get("session", ""),
        agent_id=given.get("agent", ""),
        task_id=given.get("task", ""),
        branch=given.get("branch", "main"),
        acts=acts,
    )


def _dated(start: datetime, value: Any) -> Any:
    """The value with the story's days as times and dates."""
    if isinstance(value, str):
        return DAY.sub(lambda found: f"{start + timedelta(days=int(found[1])):%Y-%m-%d}", value)
    if isinstance(value, list):
        return [_dated(start, item) for item in value]
    if isinstance(value, dict):
        return dict(_entries(start, value))
    return value


def _entries(start: datetime, given: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, value in given.items():
        if name in TIMES:
            yield name, start + timedelta(days=value)
        else:
            yield name, _dated(start, value)
