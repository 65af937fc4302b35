"""The check of a store as a whole: it reads, tells what it found, and keeps the result for the health."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from django.db import DEFAULT_DB_ALIAS
from django.utils import timezone

from memory.db.backend import get_backend, get_features, get_file_check
from memory.engines.store.check import (  # noqa: F401
    commits,
    files,
    high_water,
    index,
    structure,
    vectors,
    versions,
    work,
)
from memory.engines.store.check.files import LOST_FILE
from memory.engines.store.check.problems import CHECKS, Check, CheckedStore, Findings, Problem, ProblemKind
from memory.engines.store.check.results import keep_result
from memory.engines.store.check.rows import UNREADABLE_ROWS, describe_error
from memory.engines.support.readable_rows import UNREADABLE, try_read
from memory.exceptions import Invalid
from memory.models import AuditEntry

# As they run: what others rest on comes first.
ORDER = (
    "file",
    "schema",
    "foreign_keys",
    "content",
    "versions",
    "commits",
    "audit",
    "mark",
    "index",
    "vectors",
    "queue",
    "clock",
)
Tell = Callable[[str, int, int], None]  # title of a check, done, total

UNREADABLE_STORE = ProblemKind(
    "check_stopped",
    "checks that could not be carried out",
    advice="Mend what the other checks found, and check again.",
)
WITHOUT_FILE = "this database looks after its own files, log and index"
ACCEPTED = "store.salvage"  # the action of an entry that has what a person knows to be lost
LOST = "the file cannot be read"
# With these nothing is written before the store is repaired: see decision 0068.
DAMAGE = frozenset({*files.KINDS, UNREADABLE_ROWS.name})


@dataclass
class CheckReport:
    """What a check of the whole store found; ``skipped`` says why, by the name of a check."""

    at: datetime
    checks: list[str] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    notes: Counter[str] = field(default_factory=Counter)
    skipped: dict[str, str] = field(default_factory=dict)

    @property
    def is_clean(self) -> bool:
        return not self.problems

    def count_problems(self) -> Counter[str]:
        """Return how often each problem was found, by its name."""
        counts: Counter[str] = Counter()
        for problem in self.problems:
            counts[problem.kind.name] += problem.count
        return counts

    def describe(self) -> dict[str, Any]:
        return {
            "at": self.at.isoformat(),
            "ok": self.is_clean,
            "checks": self.checks,
            "problems": [problem.describe() for problem in self.problems],
            "notes": self.notes,
            "skipped": self.skipped,
        }


def ignore_progress(title: str, done: int, total: int) -> None:
    """Ignore progress."""


class CheckEngine:
    def check_store(self, names: Sequence[str] = (), tell: Tell = ignore_progress) -> CheckReport:
        """Check the store, or only what these names stand for. It reads, while others may write.

        Raises Invalid for a check that does not exist.
        """
        if unknown := [name for name in names if name not in CHECKS]:
            raise Invalid(
                "There is no check {name}; there are {known}.",
                name=unknown[0],
                known=", ".join(sorted_names()),
                field="only",
            )
        report = CheckReport(timezone.now())
        with open_store() as (alias, path):
            accepted = read_accepted(alias)
            for name in sorted_names():
                if not names or name in names:
                    findings = Findings(name, accepted)
                    store = CheckedStore(alias, path, partial(tell, CHECKS[name].title))
                    self._run_check(CHECKS[name], findings, store, report)
        if not names:
            conclude(report)
        return report

    def _run_check(self, check: Check, findings: Findings, store: CheckedStore, report: CheckReport) -> None:
        lost = any(problem.kind.name in LOST_FILE for problem in report.problems)
        if lost or (check.needs_file and store.path is None):
            report.skipped[check.name] = LOST if lost else WITHOUT_FILE
            return
        try:
            check.find(store, findings)
        except UNREADABLE as error:
            findings.add(UNREADABLE_STORE, f"{check.name}: {describe_error(error)}")
        report.checks.append(check.name)
        report.problems += findings.problems.values()
        report.notes += findings.notes  # without those of nothing


def read_accepted(alias: str) -> set[str]:
    """Return the digests of the losses that a person has accepted, as the audit trail has them."""
    entries = AuditEntry.objects.using(alias).filter(action=ACCEPTED)
    details = [entry.detail for entry in try_read(entries.only("detail")) or []]
    return {digest for detail in details for digest in detail.get("accepted", [])}


def sorted_names() -> list[str]:
    """Return the names of all checks in their order, those of other apps last."""
    return [*ORDER, *(name for name in CHECKS if name not in ORDER)]


def conclude(report: CheckReport) -> None:
    """Keep the result of a whole check; writes stop where the file is damaged, and go on where it is not."""
    keep_result(report.at, report.count_problems())
    damage = [problem for problem in report.problems if problem.kind.name in DAMAGE]
    if damage:
        get_backend().mark_damaged(f"{damage[0].kind.name}: {', '.join(damage[0].examples)}")
    else:
        get_backend().clear_damage()


@contextmanager
def open_store() -> Iterator[tuple[str, Path | None]]:
    """Yield an alias that reads the store, and its file where it is one."""
    is_file = get_features().has_online_backup
    with get_file_check().open_alias() if is_file else nullcontext(DEFAULT_DB_ALIAS) as alias:
        yield alias, get_file_check().path if is_file else None
