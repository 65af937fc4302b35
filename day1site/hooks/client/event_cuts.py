"""Cuts of an event: private text is taken out, long texts keep head and tail.

Separate from capture.py, which few events need it for.
"""

import json
import re

MIB = 1 << 20
MAX_DEPTH = 50  # levels of an event that are processed; a server accepts 64
PRIVATE = re.compile(r"<private\b[^>]{0,200}>.*?(?:</private\s*>|\Z)", re.I | re.S)


def cut_event(value, max_line_bytes, max_cut_bytes):
    """Return an event as JSON, without private text, each text cut, and the whole cut to size in UTF-8."""
    value = without_private(value)
    max_bytes = max_line_bytes
    text = compact_json(shortened(value, max_bytes))
    while count_bytes(text) > max_cut_bytes and max_bytes > MIB // 256:
        max_bytes //= 16
        text = compact_json(shortened(value, max_bytes))
    return text if count_bytes(text) <= max_cut_bytes else compact_json(flattened(value, MIB // 4))


def without_mark(raw):
    """Return the bytes as UTF-8 without a byte order mark, which some programs of Windows write."""
    if raw[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return raw.decode("utf-16", "replace").encode()
    return raw[3:] if raw[:3] == b"\xef\xbb\xbf" else raw


def compact_json(value):
    """Return a value as JSON that UTF-8 can hold: half of a surrogate pair becomes U+FFFD."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def count_bytes(text):
    return len(text) if text.isascii() else len(text.encode())


def walked(value, change, depth=0):
    """Apply a change to every text of a JSON value; parts nested too deeply become JSON text first."""
    if isinstance(value, (dict, list)) and depth >= MAX_DEPTH:
        return change(json.dumps(value, ensure_ascii=False))
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {change(name): walked(part, change, depth + 1) for name, part in value.items()}
    return [walked(part, change, depth + 1) for part in value] if isinstance(value, list) else value


def without_private(value):
    """Remove <private> blocks; an unclosed block extends to the end."""
    return walked(value, lambda text: PRIVATE.sub("[private]", text))


def shortened(value, max_bytes):
    """Cut every text to so many bytes, keeping head and tail."""

    def cut(text):
        raw = text.encode("utf-8", "replace")
        if len(raw) <= max_bytes:
            return text
        mark = f"\n… [{len(raw)} bytes, cut] …\n"
        half = (max_bytes - len(mark.encode())) // 2
        return raw[:half].decode("utf-8", "ignore") + mark + raw[-half:].decode("utf-8", "ignore")

    return walked(value, cut)


def flattened(value, max_bytes):
    """Replace each long part of an event by its JSON, of which head and tail are kept."""
    whole = ((name, part, json.dumps(part, ensure_ascii=False)) for name, part in value.items())
    return {
        name: shortened(text, max_bytes) if len(text.encode("utf-8", "replace")) > max_bytes else part
        for name, part, text in whole
    }
