"""The import of another product, as the terminal tells it: what came, and what its doctor found."""

from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

from conversations.capture.transcripts.records import Report
from day1site.cli.client import Client
from day1site.cli.errors import CliError
from day1site.cli.importing.arrival import ProductImport
from day1site.cli.importing.unread import explain_report, list_unread
from day1site.cli.importing.writer import ago
from day1site.cli.invocation import Invocation
from day1site.cli.transport.rest import Answer

MAIN = "main"
COUNTED = ("new", "known", "duplicate", "refused")
FINDINGS = {
    "junk": "says nothing that lasts",
    "duplicate": "nearly says what another says",
    "echo": "repeats what a memory told",
    "hostile": "gives orders to an agent",
    "secret": "had a secret, taken out",
    "stale": "holds no more, says its product",
    "contradictory": "another says otherwise",
    "unsourced": "names no source",
}
MAX_SHOWN = 20  # records that a report names in the terminal


def import_product(
    run: Invocation, client: Client, product: str, path: Path, branch: str, dry_run: bool, since: int | None
) -> int:
    """Import, and print the report; end with status 1 when something could not be read or was refused."""
    report, oldest = Report(), ago(timedelta(days=since)) if since else ""
    job = ProductImport(client, product, path, "" if branch == MAIN else branch, oldest)
    if dry_run:
        counts = job.count(report)
        explain_report(report, MAX_SHOWN)
        text = ", ".join(f"{number} {name}" for name, number in counts.items())
        answer = {"dry_run": True, **counts, "files": report.files, **list_unread(report)}
        run.show_line(answer, f"{text}; nothing was written.")
        return 1 if report.broken_count else 0
    answers = job.run(report)
    explain_report(report, MAX_SHOWN)
    if not answers and not report.empty and not report.skipped:
        raise CliError("invalid", f"Nothing in {path} could be read as {product}: nothing was imported.")
    lines = [line for answer in answers for line in describe(answer, MAX_SHOWN)]
    if len(answers) > 1:
        lines.append(f"It stands on {len(answers)} branches, each with a report and a merge of its own.")
    answer = {"imports": answers, "files": report.files, **list_unread(report)}
    run.show_line(answer, "\n".join(lines) or f"{path.name} holds nothing.")
    return 1 if report.broken_count or any(one["counts"]["refused"] for one in answers) else 0


def describe(answer: Answer, most: int | None = None) -> list[str]:
    """Return the report of one import, line by line; with ``most`` no more records than that are named."""
    counts, findings = answer["counts"], answer["findings"]
    parts = [f"{counts[name]} {name}" for name in COUNTED if counts[name]]
    came = ", ".join(parts if counts["new"] else ["nothing new", *parts])
    edges = "".join(f"; {counts[name]} {name}" for name in ("relations", "links") if counts[name])
    return [
        f"{counts['records']} records of {answer['product']}: {came}{edges}; on {answer['branch']}.",
        *describe_findings(findings, answer["facts"]),
        *describe_named(answer["named"], most),
        name_next(answer),
    ]


def name_next(answer: Answer) -> str:
    """Return the way on from an import in its state."""
    if answer["state"] == "reading":
        return "It has not ended: run the same command again."
    if answer["state"] == "proposed":
        return f"Its merge request is open: day1 merge-request list --source {answer['branch']}"
    return f"Go on with: day1 imports propose {answer['id']}"


def describe_findings(findings: Answer, total: int) -> list[str]:
    found = [(number, name) for name in FINDINGS if (number := findings[name])]
    return [
        f"{number:7} {100 * number / max(total, 1):3.0f} %  {name}: {FINDINGS[name]}"
        for number, name in found
    ]


def describe_named(named: Sequence[Answer], most: int | None) -> list[str]:
    """Return the first records that are no fact of their own."""
    lines = [f"  {one['state']} {one['id']!r}: {one['reason']}" for one in named[:most]]
    more = len(named) - len(lines)
    return lines + ([f"  and {more} more, see day1 imports show"] if more > 0 else [])
