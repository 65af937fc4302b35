"""Outputs of tools as readable text, and what of them decides outcome and summary of an observation.

Without Django: the command line reads transcripts with it.
"""

import json
from collections.abc import Mapping
from typing import Any

from conversations.capture.text_cleaning import find_exit_code, strip_output
from memory.texts import make_storable

TEXT_FIELDS = ("stdout", "stderr", "error", "content", "output", "text", "llmContent", "result")
STATUS_FIELDS = ("interrupted", "exit_code", "exitCode", "returncode", "is_error", "isError", "error")


def read_output(value: Any) -> str:
    """Return a tool's output as text; content blocks as their texts, long base64 as its length."""
    if isinstance(value, list) and all(isinstance(part, Mapping) for part in value):
        text = "\n".join(_read_block(part) for part in value)
    elif isinstance(value, Mapping):
        text = _read_fields(value)
    else:
        text = "" if value is None else value if isinstance(value, str) else _encode(value)
    return strip_output(text)


def _read_block(part: Mapping[str, Any]) -> str:
    text = part.get("text") or part.get("content")
    return text if isinstance(text, str) else _encode(dict(part))


def _read_fields(value: Mapping[str, Any]) -> str:
    """Return the readable fields; the whole value as JSON where there are none."""
    if isinstance(file := value.get("file"), Mapping) and isinstance(file.get("content"), str):
        return file["content"]  # Claude Code's Read
    found = [read_output(value[name]).strip() for name in TEXT_FIELDS if value.get(name)]
    return "\n".join(part for part in found if part) or _encode(dict(value))


def _encode(value: Any) -> str:
    return make_storable(json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":")))


def with_status(output: Any, content: str, client: str = "") -> Any:
    """Return the part of an output that decides outcome and summary: its status fields and readable text.

    Some programs write the exit code into the text.
    """
    code = find_exit_code(content, client)
    status = {} if code is None else {"exit_code": code}
    if isinstance(output, Mapping):
        status |= {name: output[name] for name in STATUS_FIELDS if output.get(name)}
        return {**status, "content": content}
    return {**status, "content": content} if status else content
