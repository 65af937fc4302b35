"""Cleaning of texts before storage: private parts, Day1's own texts, length limits."""

import re
from collections.abc import Mapping
from typing import Any

from memory.db.fields import dumps
from memory.engines.sessions.briefing import FENCE
from memory.engines.sessions.tool_calls import as_text
from memory.engines.support.validation import without_secrets

MAX_BYTES = 1024 * 1024
MAX_INPUT_LENGTH = 2000  # characters of a text in a tool's input
BLOB = re.compile(r"(?<![A-Za-z0-9+/=_-])[A-Za-z0-9+/=_-]{2000,}")

PRIVATE = re.compile(r"<private\b[^>]{0,200}>.*?(?:</private\s*>|\Z)", re.I | re.S)
END_OF_PRIVATE = re.compile(r"\A.*?</private\s*>", re.I | re.S)  # its start was cut off
OURS = re.compile(rf"<{FENCE}\b[^>]{{0,200}}>.*?(?:</{FENCE}>|\Z)", re.I | re.S)
REMINDER = re.compile(r"<system-reminder>.*?(?:</system-reminder>|\Z)", re.I | re.S)


def clean(value: Any) -> Any:
    """Return a JSON value with private parts and secrets removed from every text."""
    return without_secrets(_public(value))


def _public(value: Any) -> Any:
    if isinstance(value, str):
        return public(as_text(value))
    if isinstance(value, Mapping):
        return {public(as_text(name)): _public(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_public(part) for part in value]
    return value


def public(text: str) -> str:
    """Return the text without <private> blocks; an unclosed block extends to the end."""
    if "private" not in text.lower():
        return text
    return END_OF_PRIVATE.sub("[private]", PRIVATE.sub("[private]", text))


def said(text: str) -> str:
    """Return the speaker's own words, without text that Day1 or the program inserted."""
    return REMINDER.sub("", OURS.sub("", text)).strip()


def readable(value: Any) -> str:
    """Return a tool's output as text; content blocks as their texts, long base64 as its length."""
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
    """Return the readable fields; the whole value as JSON where there are none."""
    names = ("stdout", "stderr", "error", "content", "output", "text", "llmContent", "result")
    found = [readable(value[name]).strip() for name in names if value.get(name)]
    return "\n".join(part for part in found if part) or dumps(dict(value))


def brief(value: Any, most: int = MAX_INPUT_LENGTH) -> Any:
    """Return a JSON value with every text cut."""
    if isinstance(value, str):
        return value if len(value) <= most else f"{value[:most]} … [{len(value)} characters, cut]"
    if isinstance(value, Mapping):
        return {name: brief(part, most) for name, part in value.items()}
    if isinstance(value, list):
        return [brief(part, most) for part in value[:200]]
    return value


def within(text: str, most: int = MAX_BYTES) -> str:
    """Cut a text to so many bytes: its head and tail, with a mark between them that gives the full size."""
    raw = text.encode()
    if len(raw) <= most:
        return text
    mark = f"\n… [{len(raw)} bytes, cut] …\n"
    half = (most - len(mark.encode())) // 2
    return raw[:half].decode(errors="ignore") + mark + raw[-half:].decode(errors="ignore")
