"""``import`` and ``export``: facts as lines of JSON."""

import os
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import IO, Any

from day1site.cli.fact_jsonl import BATCH_SIZE, BROKEN, KNOWN, NEW, Outcome, format_line, read_lines
from day1site.cli.invocation import Invocation, command
from day1site.cli.output import note, progress
from day1site.cli.parameters import argument, at_option, branch_option, option, switch
from day1site.cli.transport.streams import Importer
from memory.file_locks import replace_file
from memory.texts import open_as_utf8

CHUNK_BYTES = 1024 * 1024


class Tally:
    """How many lines came to what, and those that are broken; the others are forgotten at once."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.broken: list[Outcome] = []

    def add(self, outcome: Any) -> None:
        self.counts[outcome.state] += 1
        if outcome.state == BROKEN:
            self.broken.append(outcome)


@command(
    "import",
    "Import facts from a file: one JSON object a line.",
    "day1 import facts.jsonl --dry-run",
    'echo \'{"fact_text": "Tea is in the kitchen."}\' | day1 import -',
)
@argument("file", "FILE.jsonl", help="- reads standard input")
@branch_option
@switch("--dry-run", help="count new, known and broken lines, write nothing")
def import_file(run: Invocation, file: str, branch: str, dry_run: bool) -> int:
    """End with status 1 when a line was broken; all the others are in the store then."""
    name = "standard input" if file == "-" else Path(file).name
    with open_source(file) as (stream, total):
        client = run.open_client(makes_store=not dry_run)
        importer = client.streams.open_importer(branch, f"import of {name}")
        tally = import_lines(importer, stream, total, dry_run)
    broken = sorted(tally.broken, key=lambda outcome: outcome.number)
    for outcome in broken:
        note(f"line {outcome.number}: {outcome.reason}")
    counts = {state: tally.counts[state] for state in (NEW, KNOWN, BROKEN)}
    errors = [{"line": outcome.number, "reason": outcome.reason} for outcome in broken]
    run.show_line({**counts, "dry_run": dry_run, "errors": errors}, summarise(counts, branch, dry_run))
    return 1 if broken else 0


@contextmanager
def open_source(name: str) -> Iterator[tuple[IO[bytes], int | None]]:
    """Open a file, or standard input; also return how many lines it has, where that can be known."""
    if name == "-":
        yield open_as_utf8(sys.stdin.buffer), None
        return
    with open(name, "rb") as stream:
        total = None
        if stream.seekable():
            total = sum(chunk.count(b"\n") for chunk in iter(lambda: stream.read(CHUNK_BYTES), b""))
            stream.seek(0)
        yield open_as_utf8(stream), total


def import_lines(importer: Importer, stream: IO[bytes], total: int | None, dry_run: bool) -> Tally:
    """Take the lines batch by batch; what is stored is stored, whatever comes later."""
    tally = Tally()
    take = importer.preview_lines if dry_run else importer.apply_lines
    lines = read_lines(stream)
    with progress("Looking" if dry_run else "Importing") as update:
        while batch := list(islice(lines, BATCH_SIZE)):
            for number, _, reason in batch:
                if reason:
                    tally.add(Outcome(number, BROKEN, reason=reason))
            good = [(number, value) for number, value, reason in batch if not reason]
            for outcome in take(good) if good else ():
                tally.add(outcome)
            update(batch[-1][0], total)
    for outcome in importer.list_unresolved():
        tally.add(outcome)
    return tally


def summarise(counts: dict[str, int], branch: str, dry_run: bool) -> str:
    text = f"{counts[NEW]} new, {counts[KNOWN]} known, {counts[BROKEN]} broken"
    return f"{text}; nothing was written." if dry_run else f"{text} on {branch}."


@command(
    "export",
    "Export a branch's facts: one JSON object a line, as import reads it.",
    "day1 export --output facts.jsonl",
)
@branch_option
@at_option
@option("--output", metavar="FILE", help="default: standard output")
@option("--user", "user_id", metavar="ID", help="what belongs to this end user")
@option("--app", "app_id", metavar="ID", help="what belongs to this app")
@switch("--include-private", help="private facts stay here otherwise")
def export_file(
    run: Invocation,
    branch: str,
    at: str | None,
    output: str | None,
    include_private: bool,
    **whose: str | None,
) -> None:
    named = {name: value for name, value in whose.items() if value}
    count, rows = run.open_client().streams.export_facts(branch, at, include_private, **named)
    written = 0
    with open_target(output) as file, progress("Exporting") as update:
        for written, (fact, links) in enumerate(rows, 1):
            file.write(format_line(fact, links) + "\n")
            if written % 100 == 0:
                update(written, count)
    if output:
        note(f"{written} facts in {output}.")
    elif not written:
        note("No facts to export.")


@contextmanager
def open_target(name: str | None) -> Iterator[IO[str]]:
    """Open standard output, or a file that is there whole or not at all, readable by its owner only."""
    if name is None:
        yield sys.stdout
        return
    path = Path(name)
    handle, draft = tempfile.mkstemp(dir=path.absolute().parent, prefix=f".{path.name}.")
    try:
        with open(handle, "w", encoding="utf-8") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        replace_file(draft, path)
    finally:
        Path(draft).unlink(missing_ok=True)
