"""Redaction of secrets before text is stored: known formats, named values, and random-looking tokens.

Each secret becomes ``[redacted: kind]``. All other text stays as it is, character by character.
"""

from memory.redaction.json_values import count_marks, json_text, limit_depth, redact_all
from memory.redaction.spans import MARK
from memory.redaction.texts import find_kind, redact_text

__all__ = [
    "MARK",
    "count_marks",
    "find_kind",
    "json_text",
    "limit_depth",
    "redact_all",
    "redact_text",
]
