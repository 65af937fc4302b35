"""What outsiders see, in the files of this folder: a change of it is a decision and shows as such.

``make snapshots`` writes them anew, and Git shows what changed. The OpenAPI document has a file and a test of
its own, docs/openapi.yaml.
"""

import os
import re
from collections.abc import Iterable
from pathlib import Path

FOLDER = Path(__file__).parent
UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
VARYING = (
    (UUID, "<id>"),
    (r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?(\.\d+)?(Z|\+00:00)?", "<time>"),
    (r"\b[0-9a-f]{32,64}\b", "<hash>"),
    (r"day1_[0-9a-f]{8}_ws_[0-9a-f]{32}", "<copy>"),
    (r"[\w+/-]{40,}=+", "<key>"),
    (r"\b\d+\.\d{5,}(e-\d+)?", "<number>"),
    (r"(took_ms.{1,3})[\d.]+", r"\1<number>"),
)


def compare(name: str, lines: Iterable[str]) -> None:
    """Compare lines with a snapshot, or write it."""
    text = "".join(f"{mask(line)}\n" for line in lines)
    file = FOLDER / name
    if os.environ.get("DAY1_WRITE_SNAPSHOTS"):
        file.write_text(text)
    assert text.splitlines() == file.read_text().splitlines()


def mask(line: str) -> str:
    """Replace what differs from run to run."""
    for pattern, word in VARYING:
        line = re.sub(pattern, word, line)
    return line.rstrip()
