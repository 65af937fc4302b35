"""How answers look: tables for people, tab-separated lines for pipes, JSON for programs."""

import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import reduce
from operator import getitem
from typing import Any

# Stored text is data: it may not move the cursor, hide itself or turn the reading direction.
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
FOLDED = ("essence", "text", "branches", "purpose", "message")  # columns that may be folded

TIMES = ("_at", "_since", "_start", "_until", "_activity")  # how the names of times end
MAX_NAMED = 5  # fields of which a line says that they held secrets

_taken: list[tuple[int, Sequence[str]]] = []  # secrets by request, and of which fields

Progress = Callable[[int, int | None], None]
Cells = Mapping[str, Callable[[Any], Any]]  # those that are more than a field, by the title of their column


def print_rows(rows: Iterable[Mapping[str, Any]], *columns: str, cells: Cells | None = None) -> None:
    """Print a table of fields: ``id``, or ``made=created_at`` where the title is another word."""
    titles = [column.partition("=")[0] for column in columns]
    reads = [(cells or {}).get(title) for title in titles]
    pairs = list(zip(reads, (column.rpartition("=")[2] for column in columns), strict=True))
    print_table(
        titles, [[read(row) if read else read_field(row, name) for read, name in pairs] for row in rows]
    )


def print_table(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Draw a table at a terminal; elsewhere print the names and a line per row, with tabs between."""
    if sys.stdout.isatty():
        draw_table(columns, rows)
        return
    for row in [columns, *rows]:
        print("\t".join(flatten(cell) for cell in row))


def print_pairs(values: Mapping[str, Any]) -> None:
    """Print one ``name: value`` a line; what is empty is left out."""
    for name, value in values.items():
        if value not in (None, "", [], {}):
            print(f"{name}: {strip_control(to_text(value))}")


def print_json(value: Any) -> None:
    print(json.dumps(value, ensure_ascii=False, indent=2))


def note_secrets(count: int, fields: Sequence[str] = ()) -> None:
    """Print that secrets were taken out of what was written, and of which fields."""
    if count:
        label = "1 secret was" if count == 1 else f"{count} secrets were"
        more = f" and {len(fields) - MAX_NAMED} more" if len(fields) > MAX_NAMED else ""
        place = ", ".join(fields[:MAX_NAMED]) or "the text"
        note(f"{label} not stored: see [redacted: …] in {place}{more}.")


def keep_secrets(count: int, fields: Sequence[str]) -> None:
    """Remember the secrets that a request had taken out: a command has many, and tells of them once."""
    if count:
        _taken.append((count, fields))


def note_kept_secrets() -> None:
    names = dict.fromkeys(name for _, fields in _taken for name in fields)
    note_secrets(sum(count for count, _ in _taken), list(names))
    _taken.clear()


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


def read_field(row: Any, path: str) -> Any:
    """Return a field of a row, such as ``essence`` or ``fact.id``, a time as a person reads it."""
    value = reduce(getitem, path.split("."), row)
    return short_time(value) if f"_{path}".endswith(TIMES) else value


def draw_table(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
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
