"""``import-from``: what another program remembers."""

from argparse import Namespace
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from datetime import timedelta
from pathlib import Path
from typing import Any

from day1site.cli.client import Client, client
from day1site.cli.errors import CliError, UsageError
from day1site.cli.importing import claude_code, codex, exports, instructions
from day1site.cli.importing.parts import Report, Talk
from day1site.cli.importing.storing import LIVE, Storing, ago
from day1site.cli.importing.turns import alone
from day1site.cli.lines import BATCH, BROKEN
from day1site.cli.output import Output, note, progress

READERS: dict[str, Callable[[Path, Report], Iterator[Talk]]] = {
    "claude-code": claude_code.read,
    "codex": codex.read,
    "chatgpt": exports.read_chatgpt,
    "claude": exports.read_claude,
}
OLDER = "conversations that are older"
Counts = Counter[tuple[str, str]]


def import_from(args: Namespace) -> int:
    """Status 1 when a line was broken; all the others are in the store then."""
    path = Path(args.path).expanduser()
    if not path.exists():
        raise UsageError(f"There is no {args.path}.")
    if args.since is not None and args.since < 1:
        raise UsageError("--since is a number of days, 1 or more.")
    store = client(args.project, makes_store=not args.dry_run)
    counts, report = run(store, args.kind, path, args.branch, args.dry_run, args.since)
    _tell(args, counts, report)
    return 1 if report.broken else 0


def run(
    store: Client, kind: str, path: Path, branch: str, dry: bool, since: int | None = None
) -> tuple[Counts, Report]:
    """Read and store; ``dry`` only counts. Raises CliError where files that hold something gave nothing."""
    report = Report()
    with nullcontext() if dry else alone():
        if kind == "instructions":
            counts = _facts(store, path, branch, dry, report)
        else:
            counts = _talks(store, READERS[kind](path, report), branch, dry, since, report)
    known_reason = any(report.skipped[reason] for reason in (OLDER, LIVE))
    if not sum(counts.values()) and not report.empty and not known_reason:
        _explain(report)
        raise CliError("invalid", f"Nothing in {path} could be read as {kind}: nothing was imported.")
    return counts, report


def _talks(
    store: Client, talks: Iterator[Talk], branch: str, dry: bool, since: int | None, report: Report
) -> Counts:
    groups: dict[str, list[Talk]] = {}
    for talk in talks:
        if since is not None and talk.last < ago(timedelta(days=since)):
            report.skip(OLDER)
        else:
            groups.setdefault(talk.session, []).append(talk)
    storing = Storing(store, branch, report, dry)
    with progress("Looking" if dry else "Importing") as tell:
        for done, group in enumerate(groups.values()):
            tell(done, len(groups))
            storing.take(group)
        tell(len(groups), len(groups))
    return storing.counts


def _facts(store: Client, path: Path, branch: str, dry: bool, report: Report) -> Counts:
    lines = list(instructions.read(path, report))
    run, counts = store.importer(branch, f"import of {path.name}"), Counter[tuple[str, str]]()
    for start in range(0, len(lines), BATCH):
        some = lines[start : start + BATCH]
        outcomes: Sequence[Any] = run.look(some) if dry else run.take(some)
        facts = dict(some)
        for one in outcomes:
            place = facts[one.number]["metadata"]
            if one.state == BROKEN:
                report.breaks(Path(place["file"]), place["line"], one.reason)
            else:
                counts["facts", one.state] += 1
    return counts


# ---- telling ---------------------------------------------------------------------------------------


def _tell(args: Namespace, counts: Counts, report: Report) -> None:
    _explain(report)
    told: dict[str, Any] = {"dry_run": args.dry_run, "files": report.files, "new": {}, "known": {}}
    for (kind, state), count in counts.items():
        if count:
            told[state][kind] = count
    told["skipped"] = dict(report.skipped)
    told["errors"] = [{"file": file, "line": line, "reason": why} for file, line, why in report.broken]
    out = Output(args.format)
    out.show(told, lambda: out.line(summary(counts, args.branch, args.dry_run)))


def summary(counts: Counts, branch: str, dry: bool) -> str:
    """In one line what came, or would come."""
    new = ", ".join(f"{count} {kind}" for (kind, state), count in counts.items() if state == "new" and count)
    known = sum(count for (_, state), count in counts.items() if state == "known")
    text = f"new: {new or 'nothing'}" + (f"; known already: {known}" if known else "")
    return f"{text}; nothing was written." if dry else f"{text}; on {branch}."


def _explain(report: Report) -> None:
    for file, line, reason in report.broken:
        note(f"{file}:{line}: {reason}")
    for reason, count in report.skipped.most_common():
        note(f"left out: {count} {reason}")
