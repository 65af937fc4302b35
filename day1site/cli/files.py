"""``import`` and ``export``: facts as lines of JSON."""

import os
import sys
import tempfile
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from day1site.cli.client import Importer, client
from day1site.cli.lines import BATCH, BROKEN, KNOWN, NEW, Outcome, line_of, read
from day1site.cli.output import Output, note, progress


def import_file(args: Namespace) -> int:
    """Status 1 when a line was broken; all the others are in the store then."""
    lines = list(read(content_of(args.file)))
    name = "standard input" if args.file == "-" else Path(args.file).name
    run = client(args.project, makes_store=not args.dry_run).importer(args.branch, f"import of {name}")
    outcomes = list(_take(run, lines, args.dry_run))
    outcomes += run.unresolved()
    counts = {state: sum(one.state == state for one in outcomes) for state in (NEW, KNOWN, BROKEN)}
    broken = sorted((one for one in outcomes if one.state == BROKEN), key=lambda one: one.number)
    for one in broken:
        note(f"line {one.number}: {one.reason}")
    out = Output(args.format)
    told = {
        **counts,
        "dry_run": args.dry_run,
        "errors": [{"line": b.number, "reason": b.reason} for b in broken],
    }
    out.show(told, lambda: out.line(_sum(counts, args.branch, args.dry_run)))
    return 1 if broken else 0


def content_of(name: str) -> list[bytes]:
    if name == "-":
        return sys.stdin.buffer.read().splitlines(keepends=False)
    return Path(name).read_bytes().split(b"\n")


def _take(run: Importer, lines: list[tuple[int, Any, str]], dry: bool) -> Iterator[Any]:
    """What became of each line, batch by batch; what is stored is stored, whatever comes later."""
    with progress("Looking" if dry else "Importing") as tell:
        for start in range(0, len(lines), BATCH):
            tell(start, len(lines))
            some = lines[start : start + BATCH]
            yield from (Outcome(number, BROKEN, reason=reason) for number, _, reason in some if reason)
            good = [(number, value) for number, value, reason in some if not reason]
            if good:
                yield from run.look(good) if dry else run.take(good)
        tell(len(lines), len(lines))


def _sum(counts: dict[str, int], branch: str, dry: bool) -> str:
    what = f"{counts[NEW]} new, {counts[KNOWN]} known, {counts[BROKEN]} broken"
    return f"{what}; nothing was written." if dry else f"{what} on {branch}."


def export_file(args: Namespace) -> int:
    count, rows = client(args.project).export(args.branch, args.at, args.include_private)
    written = 0
    with _target(args.output) as file, progress("Exporting") as tell:
        for written, (fact, links) in enumerate(rows, 1):
            file.write(line_of(fact, links) + "\n")
            if written % 100 == 0:
                tell(written, count)
    if args.output:
        note(f"{written} facts in {args.output}.")
    elif not written:
        note("No facts to export.")
    return 0


@contextmanager
def _target(name: str | None) -> Iterator[IO[str]]:
    """Standard output, or a file that is there whole or not at all, readable by its owner only."""
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
        os.replace(draft, path)
    finally:
        Path(draft).unlink(missing_ok=True)
