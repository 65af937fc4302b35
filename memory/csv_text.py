"""Lines of CSV whose cells no spreadsheet works out."""

import csv
import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any

FORMULA = ("=", "+", "-", "@")  # a spreadsheet would work these out, after blanks too
BREAKS = ("\t", "\r", "\n")


class Echo:
    """A file whose writes are returned."""

    def write(self, text: str) -> str:
        return text


def write_line(cells: Sequence[Any]) -> str:
    """Return a line of CSV."""
    # A writer of its own: one that threads share would mix the lines of two files.
    line: str = csv.writer(Echo()).writerow([defuse(cell) for cell in cells])
    return line


def defuse(cell: Any) -> Any:
    """Return a cell that a spreadsheet shows as it is; lists and objects are JSON."""
    if isinstance(cell, datetime):
        return cell.isoformat()
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, list | dict):
        return json.dumps(cell, ensure_ascii=False) if cell else ""
    if not isinstance(cell, str):
        return cell
    is_formula = cell.lstrip().startswith(FORMULA) or cell.startswith(BREAKS)
    return f"'{cell}" if is_formula else cell
