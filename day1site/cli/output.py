"""How answers look: tables for people, tab-separated lines for pipes, JSON for programs."""

import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

# Stored text is data: it may not move the cursor, hide itself or turn the reading direction.
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
WIDE = ("essence", "text", "branches", "purpose", "message")  # columns that may be folded

Progress = Callable[[int, int], None]
Row = Sequence[Any]


class Output:
    """Writes to standard output; ``json`` prints the shapes of the REST API."""

    def __init__(self, form: str) -> None:
        self.json = form == "json"

    def show(self, value: Any, render: Callable[[], None]) -> None:
        """The value as JSON, or what ``render`` writes."""
        if self.json:
            self.line(json.dumps(value, ensure_ascii=False, indent=2))
        else:
            render()

    def line(self, text: str = "") -> None:
        print(text)

    def table(self, columns: Sequence[str], rows: Sequence[Row]) -> None:
        """Drawn at a terminal; elsewhere a line of names and a line per row, with tabs between."""
        if sys.stdout.isatty():
            _draw(columns, rows)
            return
        for row in [columns, *rows]:
            self.line("\t".join(flat(cell) for cell in row))

    def pairs(self, values: Mapping[str, Any]) -> None:
        """One ``name: value`` a line; what is empty is left out."""
        for name, value in values.items():
            if value not in (None, "", [], {}):
                self.line(f"{name}: {clean(said(value))}")


def note(text: str) -> None:
    """Something for the person at the terminal that is not the answer."""
    print(clean(text), file=sys.stderr)


def said(value: Any) -> str:
    """A value as a person writes it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.3f}".rstrip("0").rstrip(".")
    if isinstance(value, list | tuple):
        return ", ".join(said(item) for item in value)
    if isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False)
    return "" if value is None else str(value)


def clean(text: str) -> str:
    """The text without characters that a terminal obeys."""
    return CONTROL.sub("\ufffd", text)


def flat(value: Any) -> str:
    """The value in one cell of one line."""
    return clean(" ".join(said(value).split()))


def short(time: str | None) -> str:
    """A time to the second, as a person reads it."""
    return (time or "")[:19].replace("T", " ")


def _draw(columns: Sequence[str], rows: Sequence[Row]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, header_style="bold", pad_edge=False)
    for name in columns:
        table.add_column(name, overflow="fold", no_wrap=name not in WIDE)
    for row in rows:
        table.add_row(*(Text(flat(cell)) for cell in row))
    Console().print(table)


@contextmanager
def progress(what: str) -> Iterator[Progress]:
    """Tells how far a long work is, as (done, total), on standard error; silent when that is no terminal."""
    if not sys.stderr.isatty():
        yield lambda done, total: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars

    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    with Bars(*columns, console=Console(stderr=True), transient=True) as bars:
        bar = bars.add_task(what, total=None)
        yield lambda done, total: bars.update(bar, completed=done, total=total)
