"""What of a text may be stored: not what is private, not what Day1 said itself, not more than the limit."""

import re
from collections.abc import Mapping
from typing import Any

from memory.db.fields import dumps
from memory.engines.observing import as_text
from memory.engines.start_context import FENCE
from memory.providers.redaction import redact_all

MOST_BYTES = 1024 * 1024
MOST_INPUT = 2000  # characters of a text in a tool's input
BLOB = re.compile(r"[A-Za-z0-9+/=_-]{2000,}")

PRIVATE = re.compile(r"<private\b[^>]{0,200}>.*?(?:</private\s*>|\Z)", re.I | re.S)
END_OF_PRIVATE = re.compile(r"\A.*?</private\s*>", re.I | re.S)  # its beginning was cut off
OURS = re.compile(rf"<{FENCE}\b[^>]{{0,200}}>.*?(?:</{FENCE}>|\Z)", re.I | re.S)
REMINDER = re.compile(r"<system-reminder>.*?(?:</system-reminder>|\Z)", re.I | re.S)


def clean(value: Any) -> Any:
    """A JSON value as it may be stored: what is private and what is secret taken out, in every text."""
    return redact_all(_public(value))


def _public(value: Any) -> Any:
    if isinstance(value, str):
        return public(as_text(value))
    if isinstance(value, Mapping):
        return {public(as_text(name)): _public(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_public(part) for part in value]
    return value


def public(text: str) -> str:
    """The text without what stands in <private>; a block that is not closed goes to the end."""
    if "private" not in text.lower():
        return text
    return END_OF_PRIVATE.sub("[private]", PRIVATE.sub("[private]", text))


def said(text: str) -> str:
    """The speaker's own words: without what Day1 or the program put in."""
    return REMINDER.sub("", OURS.sub("", text)).strip()


def readable(value: Any) -> str:
    """What a tool gave back as text; a list of content blocks as their texts, long base64 as its length."""
    if isinstance(value, list) and all(isinstance(part, Mapping) for part in value):
        text = "\n".join(_block(part) for part in value)
    elif isinstance(value, Mapping):
        text = _fields(value)
    else:
        text = as_text(value)
    return BLOB.sub(lambda found: f"[{len(found[0])} characters of data]", text)


def _block(part: Mapping[str, Any]) -> str:
    text = part.get("text") or part.get("content")
    return text if isinstance(text, str) else dumps(dict(part))


def _fields(value: Mapping[str, Any]) -> str:
    """The readable fields; all as JSON where there is none."""
    names = ("stdout", "stderr", "error", "content", "output", "text", "llmContent", "result")
    found = [readable(value[name]).strip() for name in names if value.get(name)]
    return "\n".join(part for part in found if part) or dumps(dict(value))


def brief(value: Any, most: int = MOST_INPUT) -> Any:
    """A JSON value with every text cut."""
    if isinstance(value, str):
        return value if len(value) <= most else f"{value[:most]} … [{len(value)} characters, cut]"
    if isinstance(value, Mapping):
        return {name: brief(part, most) for name, part in value.items()}
    if isinstance(value, list):
        return [brief(part, most) for part in value[:200]]
    return value


def within(text: str, most: int = MOST_BYTES) -> str:
    """Head and tail of a text within so many bytes, with a mark between them that says by how much."""
    raw = text.encode()
    if len(raw) <= most:
        return text
    mark = f"\n… [{len(raw)} bytes, cut] …\n"
    half = (most - len(mark.encode())) // 2
    return raw[:half].decode(errors="ignore") + mark + raw[-half:].decode(errors="ignore")
