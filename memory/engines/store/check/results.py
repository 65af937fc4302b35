"""The result of the last check, kept in a file: a damaged database could not take it."""

import json
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any

from django.conf import settings
from django.utils import timezone

from memory.db import atomic_files
from memory.db.backend import get_features, get_file_check

SUFFIX = "-check"
NEVER: dict[str, Any] = {"state": "never", "at": None, "age_seconds": None, "problems": {}}


def find_file() -> Path | None:
    """Return the file of the last result: beside the database, or in the data directory of this server."""
    if get_features().has_online_backup:
        path = get_file_check().path
        return path.with_name(f"{path.name}{SUFFIX}")
    folder = getattr(settings, "DATA_DIR", None)
    return Path(folder) / f"store{SUFFIX}" if folder else None


def keep_result(at: datetime, problems: dict[str, int]) -> None:
    """Keep when the whole store was checked and how often each problem was found.

    A folder that takes no file loses the result, and the check has told it already.
    """
    if (path := find_file()) is None:
        return
    text = json.dumps({"at": at.isoformat(), "problems": problems})
    with suppress(OSError):
        atomic_files.write_file(path, text + "\n")


def note_problem(name: str, count: int) -> None:
    """Add a problem that was found outside of a check to the last result, or remove it where it is gone."""
    last = describe_last()
    problems = {known: number for known, number in last["problems"].items() if known != name}
    if count or problems != last["problems"]:
        keep_result(
            datetime.fromisoformat(last["at"]) if last["at"] else timezone.now(),
            problems | ({name: count} if count else {}),
        )


def describe_last() -> dict[str, Any]:
    """Return state (ok, problems or never), time, age and problems of the last check of the whole store."""
    try:
        found = json.loads(path.read_text(encoding="utf-8")) if (path := find_file()) else None
        at = datetime.fromisoformat(found["at"]) if found else None
        problems = dict(found["problems"]) if found else {}
    except (OSError, ValueError, TypeError, KeyError):
        at, problems = None, {}
    if at is None:
        return dict(NEVER)
    age = max(round((timezone.now() - at).total_seconds()), 0)
    return {
        "state": "problems" if problems else "ok",
        "at": at.isoformat(),
        "age_seconds": age,
        "problems": problems,
    }
