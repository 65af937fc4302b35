"""What every reader makes of a transcript, and what it could not use."""

import json
import os
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

from conversations.capture.text_cleaning import parse_json
from memory.redaction import limit_depth
from memory.texts import clean_value, open_as_utf8

MIB = 1 << 20
MAX_FILE_BYTES = 1024 * MIB
MAX_LINE_BYTES = 64 * MIB
TOO_LARGE = f"files of more than {MAX_FILE_BYTES // MIB} MiB"
UNSTORABLE = re.compile(rb"\\u(?:[dD][89a-fA-F]|0000)")
NO_FILE = "names that are no file"
MAX_NAMED = 1000  # broken lines that are named; all are counted
MAX_REASON = 300  # characters

REPLACED = "halves of surrogate pairs or NUL became U+FFFD"
INTERIM = "texts between the calls of a turn"


@dataclass
class Call:
    """A tool call with what came of it."""

    id: str
    name: str
    input: Any
    failed: bool = False

    def __post_init__(self) -> None:
        self.input = limit_depth(self.input)


@dataclass
class Turn:
    """One message; ``source`` is its id in the file."""

    source: str
    role: str
    content: str
    at: str = ""
    model: str = ""
    thinking: str = ""
    call: Call | None = None
    prompt: str = ""  # the program's id of the person's prompt that it belongs to
    interim: bool = False  # said before a call of the same answer: hooks bring a turn's last text only


@dataclass
class Dialogue:
    """One conversation of a session."""

    session: str
    agent: str
    messages: list[Turn]
    title: str = ""
    path: str = ""
    summary: str = ""
    model: str = ""  # with which it began, where live capture has it too

    @property
    def last(self) -> str:
        return max((turn.at for turn in self.messages), default="")


@dataclass
class Report:
    """What was read, what was left out and why, and what was broken."""

    skipped: Counter[str] = field(default_factory=Counter)
    broken: list[tuple[str, int, str]] = field(default_factory=list)  # the first MAX_NAMED
    broken_count: int = 0
    replaced: list[tuple[str, int, str]] = field(default_factory=list)  # what came, but not as it was
    files: int = 0
    empty: bool = True  # no file held anything
    redacted: int = 0  # secrets taken out of what was stored

    def skip(self, reason: str, count: int = 1) -> None:
        if count:
            self.skipped[reason] += count

    def breaks(self, file: Path, line: int, reason: str) -> None:
        self.broken_count += 1
        if len(self.broken) < MAX_NAMED:
            self.broken.append((str(file), line, reason[:MAX_REASON]))

    def replaces(self, file: Path, line: int) -> None:
        self.replaced.append((str(file), line, REPLACED))


def find_files(path: Path, *patterns: str) -> list[Path]:
    """Return the file itself, or those below a folder that match, in the order of their names."""
    return sorted({file for one in patterns for file in path.rglob(one)}) if path.is_dir() else [path]


def is_readable(file: Path, report: Report, max_bytes: float = MAX_FILE_BYTES) -> bool:
    """Return whether it is a file of a size that is read; a pipe would be waited for."""
    if not file.is_file():
        report.skip(NO_FILE)
        return False
    report.files += 1
    if not os.access(file, os.R_OK):
        report.breaks(file, 0, "may not be read")
        report.empty = False
        return False
    if file.stat().st_size <= max_bytes:
        return True
    report.empty = False
    report.skip(TOO_LARGE)
    return False


def find_no_fault(_record: dict[str, Any]) -> str:
    return ""


def lines(
    file: Path,
    report: Report,
    find_fault: Callable[[dict[str, Any]], str] = find_no_fault,
    max_bytes: float = MAX_FILE_BYTES,
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the objects of a file of JSON lines with their numbers; what is none is reported, and one with a
    fault, of which the rest may be good.
    """
    if not is_readable(file, report, max_bytes):
        return
    with file.open("rb") as stream:
        for number, raw in enumerate(_read_lines(open_as_utf8(stream)), 1):
            if not raw.strip():
                continue
            report.empty = False
            if (value := parse_object(raw, file, number, report)) is not None:
                if fault := find_fault(value):
                    report.breaks(file, number, fault)
                yield number, value


def _read_lines(stream: IO[bytes]) -> Iterator[bytes]:
    """Yield the lines; of one that is too long more than MAX_LINE_BYTES, but not all."""
    while line := stream.readline(MAX_LINE_BYTES + 1):
        rest = line
        while len(rest) > MAX_LINE_BYTES and not rest.endswith(b"\n"):
            rest = stream.readline(MAX_LINE_BYTES + 1)
        yield line


def parse_object(raw: bytes, file: Path, number: int, report: Report) -> dict[str, Any] | None:
    """Return the JSON object that a line holds; None, with a report, where it holds none."""
    reason = "is no JSON object"
    try:
        if len(raw) > MAX_LINE_BYTES:
            raise ValueError
        value = json.loads(raw.decode("utf-8-sig"))
        if isinstance(value, dict):
            return make_storable_object(value, file, number, report) if UNSTORABLE.search(raw) else value
    except UnicodeDecodeError:
        reason = "is not UTF-8"
    except RecursionError:
        reason = "is nested too deeply"
    except ValueError:
        too_long = len(raw) > MAX_LINE_BYTES
        reason = f"is longer than {MAX_LINE_BYTES // MIB} MiB" if too_long else "is not JSON"
    report.breaks(file, number, reason)
    return None


def make_storable_object(value: dict[str, Any], file: Path, number: int, report: Report) -> dict[str, Any]:
    """Return an object whose texts can be stored; where one could not, the report says so."""
    storable: dict[str, Any] = clean_value(value)
    if storable != value:
        report.replaces(file, number)
    return storable


def blocks(content: Any) -> list[dict[str, Any]]:
    """Return the content of a message as a list of blocks, whatever way it was written."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    if isinstance(content, Mapping):
        content = [content]
    if not isinstance(content, list):
        return []
    whole = [{"type": "text", "text": part} if isinstance(part, str) else part for part in content]
    return [part for part in whole if isinstance(part, dict)]


def drop_interim(turns: Sequence[Turn], report: Report) -> list[Turn]:
    """Leave out what an agent said before its calls: live capture has none of it either."""
    kept = [turn for turn in turns if not turn.interim]
    report.skip(INTERIM, len(turns) - len(kept))
    return kept


def find_root(uid: str, parents: Mapping[str, str | None]) -> str:
    """Return the session that a person began, of which a session is a subagent's, whatever stands between."""
    seen: set[str] = set()
    while (above := parents.get(uid)) and uid not in seen:
        seen.add(uid)
        uid = above
    return uid


def text_in(content: Any, *kinds: str) -> str:
    """Return the texts of a content's blocks, of some kinds where any are named."""
    found = [part.get("text") for part in blocks(content) if not kinds or part.get("type") in kinds]
    return "\n".join(text for text in found if isinstance(text, str) and text.strip())


def clean_output(value: Any, clean: Callable[[Any], Any]) -> Any:
    """Clean a tool's output before it becomes text: afterwards the names of its values tell nothing."""
    parsed = parse_json(value)
    if parsed is value:
        return clean(limit_depth(value))
    cleaned = clean(parsed)
    return clean(value) if cleaned == parsed else json.dumps(cleaned, ensure_ascii=False)


def moment(value: Any) -> str:
    """Return a time since 1970, in seconds or ISO 8601, as ISO 8601 in UTC; "" for another value."""
    try:
        if isinstance(value, int | float) and not isinstance(value, bool):
            when = datetime.fromtimestamp(value, UTC)
        else:
            when = datetime.fromisoformat(value)
            when = (when if when.tzinfo else when.replace(tzinfo=UTC)).astimezone(UTC)
    except (TypeError, ValueError, OverflowError, OSError):
        return ""
    return when.isoformat() if when.year >= 1970 else ""
