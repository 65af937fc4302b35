"""What could not be read, came otherwise than it was or was left out: for the terminal, and as JSON."""

from typing import Any

from conversations.capture.transcripts.records import Report
from day1site.cli.output import note


def explain_report(report: Report, most: int | None = None) -> None:
    """Tell a person; with ``most`` no more places than that are named of each kind."""
    named = report.broken[:most]
    for file, line, reason in (*named, *report.replaced[:most]):
        note(f"{file}:{line}: {reason}")
    if more := report.broken_count - len(named):
        note(f"{more} more could not be read either.")
    for reason, count in report.skipped.most_common():
        note(f"left out: {count} {reason}")


def list_unread(report: Report) -> dict[str, Any]:
    places = {"errors": report.broken, "replaced": report.replaced}
    return {"skipped": dict(report.skipped), "broken": report.broken_count} | {
        name: [{"file": file, "line": line, "reason": reason} for file, line, reason in found]
        for name, found in places.items()
    }
