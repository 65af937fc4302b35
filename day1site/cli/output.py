"""How answers look: tables for people, tab-separated lines for pipes, JSON for programs."""

import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

# Stored text is data: it may not move the cursor, hide itself or turn the reading direction.
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
FOLDED = ("essence", "text", "branches", "purpose", "message")  # columns that may be folded

MAX_NAMED = 5  # fields of which a line says that they held secrets

Progress = Callable[[int, int | None], None]
Row = Sequence[Any]


class Output:
    """Writes to standard output; ``json`` prints the shapes of the REST API."""

    def __init__(self, form: str) -> None:
        self.json = form == "json"

    def show(self, value: Any, render: Callable[[], None]) -> None:
        """Print the value as JSON, or call ``render``, which prints it for people."""
        if self.json:
            self.line(json.dumps(value, ensure_ascii=False, indent=2))
        else:
            render()

    def line(self, text: str = "") -> None:
        print(text)

    def table(self, columns: Sequence[str], rows: Sequence[Row]) -> None:
        """Draw a table at a terminal; elsewhere print the names and a line per row, with tabs between."""
        if sys.stdout.isatty():
            draw_table(columns, rows)
            return
        for row in [columns, *rows]:
            self.line("\t".join(flatten(cell) for cell in row))

    def pairs(self, values: Mapping[str, Any]) -> None:
        """Print one ``name: value`` a line; what is empty is left out."""
        for name, value in values.items():
            if value not in (None, "", [], {}):
                self.line(f"{name}: {strip_control(to_text(value))}")


def note_secrets(count: int, fields: Sequence[str] = ()) -> None:
    """Print that secrets were taken out of what was written, and of which fields."""
    if count:
        label = "1 secret was" if count == 1 else f"{count} secrets were"
        more = f" and {len(fields) - MAX_NAMED} more" if len(fields) > MAX_NAMED else ""
        place = ", ".join(fields[:MAX_NAMED]) or "the text"
        note(f"{label} not stored: see [redacted: …] in {place}{more}.")


def note(text: str) -> None:
    """Print something for the person at the terminal that is not the answer."""
    print(strip_control(text), file=sys.stderr)


def to_text(value: Any) -> str:
    """Return a value as a person writes it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.3f}".rstrip("0").rstrip(".")
    if isinstance(value, list | tuple):
        return ", ".join(to_text(item) for item in value)
    if isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False)
    return "" if value is None else str(value)


def strip_control(text: str) -> str:
    """Return the text without characters that a terminal obeys."""
    return CONTROL.sub("\ufffd", text)


def flatten(value: Any) -> str:
    """Return the value as one cell of one line."""
    return strip_control(" ".join(to_text(value).split()))


def short_time(time: str | None) -> str:
    """Return a time to the second, as a person reads it."""
    return (time or "")[:19].replace("T", " ")


def draw_table(columns: Sequence[str], rows: Sequence[Row]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, header_style="bold", pad_edge=False)
    for name in columns:
        table.add_column(name, overflow="fold", no_wrap=name not in FOLDED)
    for row in rows:
        table.add_row(*(Text(flatten(cell)) for cell in row))
    Console().print(table)


@contextmanager
def progress(label: str) -> Iterator[Progress]:
    """Show how far a long work is, as (done, total), on standard error; silent when that is no terminal."""
    if not sys.stderr.isatty():
        yield lambda done, total: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars

    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    with Bars(*columns, console=Console(stderr=True), transient=True) as bars:
        bar = bars.add_task(label, total=None)
        yield lambda done, total: bars.update(bar, completed=done, total=total)


def name_actor(row: Mapping[str, Any], label: str = "actor_label", kind: str = "actor_kind") -> str:
    """Return who acted: the command line by its label, others with their kind beside it."""
    text, known = row.get(label, ""), row.get(kind, "local")
    return text if known in ("", "local") else f"{text} ({known})"
