"""``import-from``: what another program remembers."""

import os
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from datetime import timedelta
from pathlib import Path
from typing import Any

from conversations.capture.transcripts import claude_code, codex
from conversations.capture.transcripts.records import Dialogue, Report
from day1site.cli.client import Client
from day1site.cli.errors import CliError, UsageError
from day1site.cli.fact_jsonl import BATCH_SIZE, BROKEN
from day1site.cli.importing import exports, gemini, instructions, opencode
from day1site.cli.importing.arrival import PRODUCTS
from day1site.cli.importing.gone import archive_gone, list_gone
from day1site.cli.importing.product_report import import_product
from day1site.cli.importing.unread import explain_report, list_unread
from day1site.cli.importing.writer import LIVE, TranscriptWriter, ago
from day1site.cli.invocation import Invocation, command
from day1site.cli.output import note, note_secrets, progress
from day1site.cli.parameters import WHOLE, OneOf, argument, branch_option, option, switch
from memory.file_locks import try_lock, wait_for_lock
from memory.redaction import count_marks


@contextmanager
def hold_import_lock() -> Iterator[None]:
    """Wait for another import of this user on this machine, wherever it stores; however that one ends, the
    system lets go of it.
    """
    user = os.getuid() if hasattr(os, "getuid") else "user"  # on Windows each user has a folder of its own
    file = Path(tempfile.gettempdir()) / f"day1-import-{user}.lock"
    handle = os.open(file, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600)
    try:
        if not try_lock(handle):
            note("Another import is at work; waiting for its end.")
            wait_for_lock(handle)
        yield
    finally:
        os.close(handle)


READERS: dict[str, Callable[[Path, Report], Iterator[Dialogue]]] = {
    "claude-code": claude_code.read,
    "codex": codex.read,
    "gemini": gemini.read,
    "opencode": opencode.read,
    "chatgpt": exports.read_chatgpt,
    "claude": exports.read_claude,
}
KINDS = ("claude-code", "codex", "gemini", "opencode", "instructions", "chatgpt", "claude", *PRODUCTS)
OLDER = "conversations that are older"
Counts = Counter[tuple[str, str]]


@command(
    "import-from",
    "Import what another program remembers: a second time adds nothing.",
    "day1 import-from claude-code ~/.claude/projects --since 30 --dry-run",
    "day1 import-from instructions .",
    "day1 import-from chatgpt export.zip",
    "day1 import-from mem0 ~/.mem0",
)
@argument("kind", "PROGRAM", type=OneOf(KINDS), help=", ".join(KINDS))
@argument("path", "PATH", help="a file, or a folder with all that is below it")
@option("--since", type=WHOLE, metavar="DAYS", help="only what went on in these last days")
@switch("--dry-run", help="count what would come, write nothing")
@branch_option
def import_from(run: Invocation, kind: str, path: str, since: int | None, dry_run: bool, branch: str) -> int:
    """End with status 1 when a line was broken; all the others are in the store then."""
    source = find_source(path)
    if source.is_dir() and not os.access(source, os.R_OK | os.X_OK):
        raise CliError("invalid", f"{path} may not be read.")
    if source.is_dir():
        name_shut(source)
    if since is not None and since < 1:
        raise UsageError("--since is a number of days, 1 or more.")
    client = run.open_client(makes_store=not dry_run)
    if kind in PRODUCTS:
        with nullcontext() if dry_run else hold_import_lock():
            return import_product(run, client, kind, source, branch, dry_run, since)
    counts, report = import_memory(client, kind, source, branch, dry_run, since)
    print_report(run, counts, report, branch, dry_run)
    return 1 if report.broken_count else 0


def find_source(path: str) -> Path:
    """Return the file or folder that is meant. Raises UsageError in words for what is none."""
    if not path.strip():
        raise UsageError("Name a file or a folder: the path is empty.")
    if "://" in path:
        raise UsageError(f"{path} is an address: fetch what it holds, and name the file.")
    source = Path(path).expanduser()
    try:
        source.stat()
    except PermissionError:
        raise CliError("invalid", f"{path} may not be read.") from None
    except (OSError, ValueError, RuntimeError):
        raise UsageError(f"There is no {path[:200]}.") from None
    return source


def name_shut(path: Path) -> None:
    """Tell of folders below one that may not be read: they would only seem to be empty."""
    for _ in os.walk(path, onerror=lambda error: note(f"{error.filename} may not be read.")):
        pass


def import_memory(
    client: Client, kind: str, path: Path, branch: str, dry_run: bool, since: int | None = None
) -> tuple[Counts, Report]:
    """Read and store; a dry run only counts. Raises CliError where files that hold something gave nothing."""
    report = Report()
    with nullcontext() if dry_run else hold_import_lock():
        if kind == "instructions":
            counts = import_facts(client, path, branch, dry_run, report)
        else:
            counts = import_sessions(client, READERS[kind](path, report), branch, dry_run, since, report)
    known_reason = any(report.skipped[reason] for reason in (OLDER, LIVE))
    if not sum(counts.values()) and not report.empty and not known_reason:
        explain_report(report)
        raise CliError("invalid", f"Nothing in {path} could be read as {kind}: nothing was imported.")
    return counts, report


def import_sessions(
    client: Client,
    dialogues: Iterator[Dialogue],
    branch: str,
    dry_run: bool,
    since: int | None,
    report: Report,
) -> Counts:
    groups: dict[str, list[Dialogue]] = {}
    for dialogue in dialogues:
        if since is not None and dialogue.last < ago(timedelta(days=since)):
            report.skip(OLDER)
        else:
            groups.setdefault(dialogue.session, []).append(dialogue)
    writer = TranscriptWriter(client, branch, report, dry_run)
    with progress("Looking" if dry_run else "Importing") as update:
        for done, group in enumerate(groups.values()):
            update(done, len(groups))
            writer.take(group)
        update(len(groups), len(groups))
    return writer.counts


def import_facts(client: Client, path: Path, branch: str, dry_run: bool, report: Report) -> Counts:
    lines = list(instructions.read(path, report))
    importer = client.streams.open_importer(branch, f"import of {path.name}")
    counts = Counter[tuple[str, str]]()
    for start in range(0, len(lines), BATCH_SIZE):
        batch = lines[start : start + BATCH_SIZE]
        outcomes: Sequence[Any] = importer.preview_lines(batch) if dry_run else importer.apply_lines(batch)
        facts = dict(batch)
        for outcome in outcomes:
            origin = facts[outcome.number]["metadata"]
            if outcome.state == BROKEN:
                report.breaks(Path(origin["file"]), origin["line"], outcome.reason)
            else:
                counts["facts", outcome.state] += 1
                is_stored = outcome.state == "new" and not dry_run
                report.redacted += count_marks(facts[outcome.number]["fact_text"]) if is_stored else 0
    if gone := list_gone(client, path, branch, [fact for _, fact in lines], report):
        archive_gone(client, branch, gone, dry_run)
    return counts


# ---- the report ------------------------------------------------------------------------------------


def print_report(run: Invocation, counts: Counts, report: Report, branch: str, dry_run: bool) -> None:
    explain_report(report)
    note_secrets(report.redacted)
    answer: dict[str, Any] = {"dry_run": dry_run, "files": report.files, "new": {}, "known": {}}
    for (kind, state), count in counts.items():
        if count:
            answer[state][kind] = count
    answer |= {"redacted": report.redacted, **list_unread(report)}
    run.show_line(answer, summarise(counts, branch, dry_run))


def summarise(counts: Counts, branch: str, dry_run: bool) -> str:
    """Return in one line what came, or would come."""
    new = ", ".join(f"{count} {kind}" for (kind, state), count in counts.items() if state == "new" and count)
    known = sum(count for (_, state), count in counts.items() if state == "known")
    text = f"new: {new or 'nothing'}" + (f"; known already: {known}" if known else "")
    return f"{text}; nothing was written." if dry_run else f"{text}; on {branch}."
