"""The high-water mark: how far the audit trail was sealed, kept in a file beside the store.

It is written after the seal is in the store for good, so that it never promises more than the store has. It
only moves on along one trail: a store that lacks what the mark names leaves it as it is, until a person takes
the store as it is.
"""

import json
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.db import DEFAULT_DB_ALIAS
from django.db.models import Sum

from memory.db import atomic_files
from memory.db.backend import get_features, get_file_check
from memory.engines.store.check.problems import CheckedStore, Findings, ProblemKind, add_check
from memory.models import AuditEntry, Branch, Project, ServerEntry

SUFFIX = "-mark"
FORMAT = 1
NO_MARK = "no_mark"

TAKE = "takes the store as it is: its mark is written anew, and what is missing stays so"
ADVICE = (
    "Put the newer store, with its log, or a newer backup in its place; what was erased since an older copy"
    " was made must be erased again."
)
OLDER_COPY = ProblemKind(
    "older_copy", "projects of which the store has less than it had: an older copy of it", TAKE, ADVICE
)
MISSING_LOG = ProblemKind(
    "missing_log",
    "projects of which the store has less than it had: its write-ahead log (-wal) is gone",
    TAKE,
    ADVICE,
)
DAMAGED_LOG = ProblemKind(
    "damaged_log",
    "projects of which the store has less than it had: its write-ahead log (-wal) is damaged",
    TAKE,
    ADVICE,
)
SHORT_TRAIL = ProblemKind(
    "audit_cut_short",
    "projects with all commits, whose sealed audit trail ends before it did",
    TAKE,
    "Compare the trail with a backup: somebody or something deleted its last entries.",
)


def name_mark(path: Path) -> Path:
    return path.with_name(f"{path.name}{SUFFIX}")


def read_mark(path: Path) -> dict[str, Any] | None:
    """Return what the mark says; None without one that can be read."""
    try:
        mark = json.loads(name_mark(path).read_text(encoding="utf-8"))
        return mark if mark["format"] == FORMAT else None
    except (OSError, ValueError, TypeError, KeyError):
        return None


def write_mark(path: Path, places: dict[str, list[Any]]) -> None:
    now = datetime.now(UTC).isoformat(timespec="seconds")
    heads = read_heads(DEFAULT_DB_ALIAS)
    mark = {
        "format": FORMAT,
        "at": now,
        "file": get_file_check().read_state(),
        "sealed": places,
        "heads": heads,
    }
    atomic_files.write_file(name_mark(path), json.dumps(mark, indent=1))


def keep_mark(*, anew: bool = False) -> None:
    """Write down how far the trails are sealed; call it after a seal, outside of a transaction.

    ``anew`` also replaces a mark that the store does not reach.
    """
    if not get_features().has_online_backup:
        return
    path = get_file_check().path
    mark = None if anew else read_mark(path)
    places = read_places(DEFAULT_DB_ALIAS)
    if mark is None or (mark["sealed"] != places and not find_behind(DEFAULT_DB_ALIAS, mark)):
        write_mark(path, places)


def read_places(alias: str) -> dict[str, list[Any]]:
    """Return place and hash of the last sealed entry of each project."""
    places = {}
    for pk in Project.objects.using(alias).values_list("pk", flat=True):
        sealed = AuditEntry.objects.using(alias).filter(project=pk).exclude(place=None).order_by("-place")
        if last := sealed.values_list("place", "hash").first():
            places[str(pk)] = list(last)
    return places


def read_heads(alias: str) -> dict[str, int]:
    """Return how many commits the branches of each project have."""
    heads = Branch.objects.using(alias).order_by().values_list("project").annotate(number=Sum("head"))
    return {str(pk): number for pk, number in heads}


def find_behind(alias: str, mark: dict[str, Any]) -> dict[str, int]:
    """Return the projects whose trail does not reach, or not have, what the mark names, with its place."""
    behind = {}
    for pk, (place, digest) in mark["sealed"].items():
        entries = AuditEntry.objects.using(alias).filter(project=pk)
        found = entries.filter(place=place).values_list("hash", flat=True).first()
        # A single entry that is gone was deleted by hand, which the check of the trail tells.
        is_deleted = found is None and entries.filter(place__gt=place).exists()
        if found != digest and not is_deleted:
            behind[pk] = place
    gone = find_removed(alias) if behind else set()
    return {pk: place for pk, place in behind.items() if pk not in gone}


def find_removed(alias: str) -> set[str]:
    """Return the projects that were removed or are being so, by the server's trail."""
    entries = ServerEntry.objects.using(alias).filter(action="project.remove")
    return {str(detail.get("project")) for detail in entries.values_list("detail", flat=True)}


@add_check("mark", "What the store has, against what it had when it was last sealed", needs_file=True)
def check_mark(store: CheckedStore, findings: Findings) -> None:
    assert store.path is not None
    if (mark := read_mark(store.path)) is None:
        findings.add_note(NO_MARK, 1)
        return
    if not (behind := find_behind(store.alias, mark)):
        return
    slugs = {str(pk): slug for pk, slug in store.rows(Project).values_list("pk", "slug")}
    cause, heads = find_cause(store, mark), read_heads(store.alias)
    for pk, place in behind.items():
        # Of an entry without a commit, such as that of a key, an older copy is told as a trail that was cut.
        is_there = heads.get(pk, 0) >= mark.get("heads", {}).get(pk, sys.maxsize)
        kind = cause or (SHORT_TRAIL if is_there else OLDER_COPY)
        findings.add(kind, f"{slugs.get(pk, pk)}: sealed up to {place} on {mark['at']}")


def find_cause(store: CheckedStore, mark: dict[str, Any]) -> ProblemKind | None:
    """Return what of the log may have taken what the mark says; None for a log that is whole."""
    check = get_file_check(store.alias)
    if check.has_lost_log(mark["file"]):
        return MISSING_LOG
    return DAMAGED_LOG if check.has_damaged_log() else None
