"""Instruction files (CLAUDE.md, AGENTS.md, rules), Claude's own memory: a fact a list item or paragraph."""

import re
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from conversations.capture.text_cleaning import clean
from conversations.capture.transcripts import records
from conversations.capture.transcripts.records import Report
from day1site.cli.errors import CliError
from day1site.cli.instruction_block import blank_block
from day1site.hooks.client.capture import find_repository

NAMES = (
    "CLAUDE.md",
    "CLAUDE.local.md",
    "AGENTS.md",
    "GEMINI.md",
    ".cursorrules",
    ".windsurfrules",
    ".github/copilot-instructions.md",
    ".cursor/rules/*.mdc",
    "memory/*.md",
)
HEADING = re.compile(r"#{1,6}\s+(.+?)\s*#*\s*\Z")
ITEM = re.compile(r"\s{0,3}(?:[-*+]|\d+[.)])\s+(.*)")
NO_FACT = re.compile(r"\s*(?:@\S+|<!--.*|-->|[-*_=|:\s]+)\s*\Z")
MAX_LENGTH = 8000  # characters of one fact


def read(path: Path, report: Report) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the lines of an import, each with its number."""
    files = sorted({file for name in NAMES for file in path.glob(name)}) if path.is_dir() else [path]
    number = 0
    for file in files:
        for fact in _facts(file, report):
            number += 1
            yield number, fact


def is_read(file: Path, path: Path) -> bool:
    """Return whether ``read`` takes a file from a path, or would, were the file there."""
    places = (path / name for name in NAMES)
    return file == path or any(
        file.parent == place.parent and fnmatchcase(file.name, place.name) for place in places
    )


def _facts(file: Path, report: Report) -> Iterator[dict[str, Any]]:
    report.files += 1
    raw = file.read_bytes()
    report.empty = report.empty and not raw.strip()
    try:
        raw = blank_block(raw, str(file))
        text = raw.decode("utf-16" if raw[:2] in (BOM_UTF16_LE, BOM_UTF16_BE) else "utf-8-sig")
    except UnicodeDecodeError:
        return report.breaks(file, 1, "is not UTF-8")
    except CliError as error:
        return report.breaks(file, 1, error.text)
    own = find_repository(str(file.absolute().parent))
    matter, lines, first = read_front_matter(text)
    for line, heading, words in _pieces(lines, first):
        words = clean(words)
        if len(words) > MAX_LENGTH:
            report.breaks(file, line, f"is longer than {MAX_LENGTH} characters")
            continue
        uid = uuid5(NAMESPACE_URL, f"{file.absolute()}#{' '.join(words.casefold().split())}")
        metadata = {"file": str(file.absolute()), "line": line, "heading": heading}
        yield {
            "id": str(uid),
            "fact_text": words,
            "category": _category(heading, matter),
            "source": file.name[:200],
            "tags": ["instructions"],
            "metadata": metadata,
            **({"repository": own} if own else {}),
            **({"valid_from": when} if (when := records.moment(matter.get("modified"))) else {}),
        }


def read_front_matter(text: str) -> tuple[dict[str, str], list[str], int]:
    """Return the plain values at the head of the file, the lines after it, and the number of the first."""
    lines = text.splitlines()
    if not lines or lines[0].strip() != "---" or "---" not in [line.strip() for line in lines[1:]]:
        return {}, lines, 1
    end = [line.strip() for line in lines[1:]].index("---") + 1
    pairs = (line.partition(":")[::2] for line in lines[1:end])
    return {name.strip(): value.strip().strip("\"'") for name, value in pairs}, lines[end + 1 :], end + 2


def _pieces(lines: list[str], first: int) -> Iterator[tuple[int, str, str]]:
    """Yield line, heading and words of each list item and paragraph; code belongs to what stands before."""
    heading, start, fenced = "", first, False
    piece: list[str] = []
    for number, line in enumerate([*lines, ""], first):
        fence = line.lstrip().startswith(("```", "~~~"))
        title, item = HEADING.match(line), ITEM.match(line)
        if not fenced and not fence and (title or item or not line.strip()):
            if piece:
                yield start, heading, "\n".join(piece)
            piece, start = ([item[1]] if item and item[1].strip() else []), number
            heading = title[1] if title else heading
        elif fenced or fence or not NO_FACT.match(line):
            start = start if piece else number
            piece.append(line.rstrip() if fenced or fence else line.strip())
        fenced = fenced != fence
    if fenced and piece:
        yield start, heading, "\n".join(piece)


def _category(heading: str, matter: dict[str, str]) -> str:
    word = heading or matter.get("type", "")
    return re.sub(r"[^\w]+", "_", word.casefold()).strip("_")[:50] or "general"
