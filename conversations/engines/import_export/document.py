"""The document of a conversation: its form and its checks."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from conversations.engines.fields.conversations import CONVERSATION
from conversations.models import Conversation, Message
from memory.engines.support import validation as c
from memory.exceptions import Invalid, TooLarge, UnknownField

FORMAT, SCHEMA_VERSION = "day1-conversation", 1
MAX_BYTES = 8 * 1024 * 1024 - 16 * 1024  # a request has at most 8 MiB, and a document is sent within one
MAX_MESSAGES = 20_000
STATES = (Conversation.Status.ACTIVE.value, Conversation.Status.COMPLETED.value)
ABOUT = ("id", "branch", "origin", "redacted")  # for whoever reads it; an import leaves them alone
FIELDS = ("format", "schema_version", "title", "model", "status", "messages", *ABOUT)
MESSAGE_FIELDS = (
    "sequence_num",
    "role",
    "content",
    "thinking",
    "tool_calls",
    "token_count",
    "model",
    "metadata",
    "said_at",
)


def build_document(row: Conversation, branch: str, messages: Sequence[Message], thinking: bool) -> Any:
    """Return a conversation as a document, without redaction. Raises TooLarge."""
    return {
        "format": FORMAT,
        "schema_version": SCHEMA_VERSION,
        "id": str(row.uid),
        "branch": branch,
        "title": row.title,
        "model": row.model,
        "status": row.status if row.status in STATES else STATES[1],
        "origin": {name: getattr(row, name) for name in ("session_id", "task_id", "agent_id")},
        "messages": [build_item(message, thinking) for message in messages],
    }


def build_item(message: Message, thinking: bool) -> dict[str, Any]:
    said_at = message.said_at or message.created_at
    item = {name: getattr(message, name) for name in MESSAGE_FIELDS}
    return item | {"said_at": said_at.isoformat(), "thinking": message.thinking if thinking else ""}


def check_size(document: Mapping[str, Any]) -> None:
    """Check that a document can be imported again. Raises TooLarge."""
    if len(json.dumps(document, ensure_ascii=False).encode("utf-8", "surrogatepass")) > MAX_BYTES:
        raise TooLarge(what="The conversation", limit=f"{MAX_BYTES // 1024} KiB")


def compute_digest(document: Mapping[str, Any]) -> str:
    """Return a digest of what an import takes from a document."""
    taken = {name: document.get(name) for name in FIELDS if name not in ABOUT}
    text = json.dumps(taken, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


# ---- reading a foreign one -------------------------------------------------------------------------


def check_document(data: Any) -> dict[str, Any]:
    """Return the fields of a conversation, and its messages. Raises Invalid, UnknownField, TooLarge."""
    if not isinstance(data, Mapping) or data.get("format") != FORMAT:
        raise Invalid("This is no conversation: its format is not {format}.", format=FORMAT, field="format")
    version = data.get("schema_version")
    if version != SCHEMA_VERSION or isinstance(version, bool):
        raise Invalid("This server reads the schema version 1 alone.", field="schema_version")
    for name in data:
        if name not in FIELDS:
            raise UnknownField(field=str(name)[:200])
    fields = {name: CONVERSATION[name].check(name, data.get(name, "")) for name in ("title", "model")}
    status = c.one_of(STATES)("status", data.get("status", STATES[0]))
    return {**fields, "status": status, "messages": check_messages(data.get("messages"))}


def check_messages(items: Any) -> list[Mapping[str, Any]]:
    """Check the form of the messages; their numbers grow. Raises Invalid, TooLarge, UnknownField."""
    if not isinstance(items, list) or not items:
        raise Invalid("{field} must be a list with at least one message.", field="messages")
    if len(items) > MAX_MESSAGES:
        raise TooLarge(what="The list", limit=f"{MAX_MESSAGES} messages", field="messages")
    last = 0
    for place, item in enumerate(items):
        last = check_item(f"messages[{place}]", item, last)
    return items


def check_item(name: str, item: Any, last: int) -> int:
    """Check one message and return its number."""
    if not isinstance(item, Mapping):
        raise Invalid("{field} must be an object.", field=name)
    for field in item:
        if field not in MESSAGE_FIELDS:
            place = f"{name}.{field}"[:200]
            raise UnknownField(field=place)
    number = item.get("sequence_num", last + 1)
    if isinstance(number, int) and not isinstance(number, bool) and number <= last:
        raise Invalid("{field} must be greater than the one before.", field=f"{name}.sequence_num")
    return number if isinstance(number, int) else last
