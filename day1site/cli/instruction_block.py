"""The block of Day1 in a file of instructions: put in, replaced, and taken out again byte for byte.

The first line of the block says how many line ends were put before it, or that there was no file.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from day1site.cli.errors import CliError
from memory.redaction import redact_all
from memory.texts import make_storable

HEAD = (
    "<!-- day1:begin {before} · `day1 instructions write` writes this, `day1 instructions remove` takes it"
    " out; changes are lost -->"
)
END = "<!-- day1:end -->"
TITLE = "## What was decided here"
BEGIN = re.compile(rb"^<!-- day1:begin (new|[0-2])\b[^\r\n]*-->[ \t]*\r?$", re.M)
BLOCK = re.compile(
    BEGIN.pattern + rb"\n(?:(?!<!-- day1:begin ).*\n)*?" + END.encode() + rb"[ \t]*(?:\r?\n|\r?\Z)", re.M
)
MARK = re.compile(rb"<!-- day1:(?:begin|end)\b")  # also one that somebody has indented
COMMENT = re.compile(r"<(?=!--|/?\w)|--(?=>)")
IMPORT = re.compile(r"(?<![\w.+-])@(?=\S)")  # a program would put the file of that name in its place
HIDDEN = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e007f]")
MAX_BLOCK_LENGTH = 12_000


@dataclass(frozen=True)
class Split:
    """A file around the block: what stands before and after it, and the word of its first line."""

    before: bytes
    after: bytes
    mark: bytes


def split_file(content: bytes, name: str) -> Split | None:
    """Return what is around the block; None without one. Raises CliError where its marks do not match."""
    found = list(BLOCK.finditer(content))
    if len(MARK.findall(content)) != 2 * len(found) or len(found) > 1:
        raise CliError("invalid", f"{name} has marks of Day1 that are no pair. It was left as it is.")
    if not found:
        return None
    (block,) = found
    return Split(content[: block.start()], content[block.end() :], block[1])


def put_block(content: bytes | None, texts: Iterable[str], name: str) -> bytes:
    """Return the file with the block, in its place or at the end. Raises CliError."""
    if (content or b"").startswith((b"\xff\xfe", b"\xfe\xff")):
        raise CliError("invalid", f"{name} is not UTF-8. It was left as it is.")
    split = split_file(content or b"", name)
    end = find_line_end(content or b"")
    if split is None:
        split = Split(content or b"", b"", b"new")
        if content is not None:
            count = 0 if not content else 1 if content.endswith(b"\n") else 2
            split = Split(content + end * count, b"", b"%d" % count)
    lines = [HEAD.format(before=split.mark.decode()), TITLE, "", *choose_lines(texts), END]
    return split.before + b"".join(line.encode() + end for line in lines) + split.after


def remove_block(content: bytes, name: str) -> bytes | None:
    """Return the file as it was before the block; None where there was none. Raises CliError."""
    split = split_file(content, name)
    if split is None:
        return content
    if split.mark == b"new" and not split.before and not split.after:
        return None
    return take_line_ends(split) + split.after


def blank_block(content: bytes, name: str) -> bytes:
    """Return the file with empty lines in the place of the block. Raises CliError."""
    split = split_file(content, name)
    if split is None:
        return content
    lines = content.count(b"\n") - split.before.count(b"\n") - split.after.count(b"\n")
    return split.before + b"\n" * lines + split.after


def take_line_ends(split: Split) -> bytes:
    """Return what stands before the block without the line ends that were put there, where they still are."""
    shorter = chomp(split.before)
    if split.mark == b"2" and not split.after:
        return chomp(shorter)
    return shorter if split.mark in (b"1", b"2") and shorter.endswith(b"\n") else split.before


def chomp(content: bytes) -> bytes:
    return content.removesuffix(b"\r\n") if content.endswith(b"\r\n") else content.removesuffix(b"\n")


def find_line_end(content: bytes) -> bytes:
    """Return how the lines of a file end."""
    return b"\r\n" if 2 * content.count(b"\r\n") > content.count(b"\n") else b"\n"


def choose_lines(texts: Iterable[str]) -> list[str]:
    """Return the lines of a list, the oldest left out where they are too many."""
    lines = [f"- {guard_text(text)}" for text in texts]
    length = 0
    for count, line in enumerate(reversed(lines)):
        length += len(line) + 1
        if length > MAX_BLOCK_LENGTH:
            return lines[len(lines) - count :]
    return lines


def guard_text(text: str) -> str:
    """Return a text as one line that ends no block, begins no comment or element, and includes no file."""
    line = " ".join(HIDDEN.sub(" ", make_storable(redact_all(text))).split())
    return IMPORT.sub("＠", COMMENT.sub(lambda found: "‹" if found[0] == "<" else "—", line))
