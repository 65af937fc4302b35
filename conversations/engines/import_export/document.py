"""The document of a conversation: its form, its checks, and the same as Markdown."""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from conversations.engines.fields.conversations import CONVERSATION
from conversations.models import Conversation, Message
from memory.engines.support import validation as c
from memory.exceptions import Day1Error, Invalid, TooLarge, UnknownField

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
    for own in item:
        if own not in MESSAGE_FIELDS:
            place = f"{name}.{own}"[:200]
            raise UnknownField(field=place)
    number = item.get("sequence_num", last + 1)
    if isinstance(number, int) and not isinstance(number, bool) and number <= last:
        raise Invalid("{field} must be greater than the one before.", field=f"{name}.sequence_num")
    return number if isinstance(number, int) else last


MARKDOWN = "markdown"
NO_TITLE = "Conversation"
ORIGIN = ("session_id", "task_id", "agent_id")  # for whoever reads it
HEAD_ENTRIES = ("model", "status", *ORIGIN)
CALL, MODEL, METADATA = "call", "model", "metadata"
HEADING = re.compile(r"## (\d{1,10})\. (\w{1,20})(?:, (\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d))?")
ENTRY = re.compile(r"- (\w{1,20}): (.*)")
PLACE = re.compile(r"messages\[(\d+)\]\.?(.*)")


# ---- writing ---------------------------------------------------------------------------------------


def write_markdown(document: Mapping[str, Any]) -> str:
    """Return a document as Markdown."""
    return "\n".join(_list_lines(document)) + "\n"


def _list_lines(document: Mapping[str, Any]) -> Iterator[str]:
    yield f"# {fold(document['title']) or NO_TITLE}"
    yield ""
    about = {"model": document["model"], "status": document["status"], **document["origin"]}
    yield from (f"- {name}: {fold(value)}" for name, value in about.items() if value)
    for item in document["messages"]:
        yield from _list_message(item, document["model"])


def _list_message(item: Mapping[str, Any], model: str) -> Iterator[str]:
    yield ""
    yield f"## {item['sequence_num']}. {item['role']}, {item['said_at'][:19].replace('T', ' ')}"
    if item["content"]:
        yield ""
        yield from (f"> {line}" if line else ">" for line in item["content"].split("\n"))
    entries = [(CALL, json.dumps(call, ensure_ascii=False)) for call in item["tool_calls"]]
    if item["model"] and item["model"] != model:
        entries.append((MODEL, fold(item["model"])))
    if item["metadata"]:
        entries.append((METADATA, json.dumps(item["metadata"], ensure_ascii=False)))
    if entries:
        yield ""
        yield from (f"- {name}: {value}" for name, value in entries)


def fold(text: str) -> str:
    """Return a text in one line."""
    return " ".join(text.split())


# ---- reading ---------------------------------------------------------------------------------------


@dataclass
class MarkdownReader:
    """A reader of one document, line by line; ``lines`` are those of the messages' headings.

    Its methods raise Invalid with the number of the line.
    """

    document: dict[str, Any] = field(default_factory=dict)
    lines: list[int] = field(default_factory=list)
    number: int = 1  # of the line that is read
    quoted: list[str] | None = None  # the quote that is under way
    has_quote: bool = False  # whether the message has had one
    section: dict[str, Any] = field(default_factory=dict)  # the message, or what stands below the title

    @property
    def messages(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.document["messages"]
        return found

    def read_line(self, number: int, line: str) -> None:
        """Read one line. Raises Invalid, TooLarge."""
        self.number = number
        if line.startswith(">"):
            self._read_quote(line)
            return
        self._end_quote()
        if not line.strip():
            return
        if not self.document:
            self._read_title(line)
        elif found := HEADING.fullmatch(line.rstrip()):
            self._begin_message(found)
        elif found := ENTRY.fullmatch(line):
            self._read_entry(found[1], found[2].strip())
        else:
            raise Invalid(
                "Line {line}: this is no heading of a message, no quote and no entry of a list.",
                line=self.number,
                field="text",
            )

    def end(self) -> dict[str, Any]:
        """Return the document. Raises Invalid where there is none."""
        self._end_quote()
        if not self.document:
            self._read_title("")
        return self.document

    def _read_title(self, line: str) -> None:
        if not line.startswith("# "):
            raise Invalid(
                "Line {line}: a conversation begins with “# ” and its title.", line=self.number, field="text"
            )
        title = line[2:].strip()
        self.document = {"format": FORMAT, "schema_version": SCHEMA_VERSION, "messages": []}
        self.document["title"] = "" if title == NO_TITLE else title

    def _begin_message(self, found: re.Match[str]) -> None:
        if found[2] not in Message.Role.values:
            values = ", ".join(Message.Role.values)
            raise Invalid(
                "Line {line}: a role is one of {values}.", line=self.number, values=values, field="text"
            )
        if len(self.messages) == MAX_MESSAGES:
            raise TooLarge(what="The list", limit=f"{MAX_MESSAGES} messages", field="text")
        self.has_quote = False
        self.section = {"sequence_num": int(found[1]), "role": found[2], "content": ""}
        if found[3]:
            self.section["said_at"] = f"{found[3]}T{found[4]}Z"
        self.messages.append(self.section)
        self.lines.append(self.number)

    def _read_quote(self, line: str) -> None:
        if not self.lines or (self.quoted is None and self.has_quote):
            raise Invalid(
                "Line {line}: a message is one quote below its heading; its empty lines begin with “>” too.",
                line=self.number,
                field="text",
            )
        if line != ">" and not line.startswith("> "):
            raise Invalid("Line {line}: a line of a quote begins with “> ”.", line=self.number, field="text")
        self.quoted, self.has_quote = self.quoted or [], True
        self.quoted.append(line[2:])

    def _end_quote(self) -> None:
        if self.quoted is not None:
            self.section["content"] = "\n".join(self.quoted)
            self.quoted = None

    def _read_entry(self, name: str, value: str) -> None:
        if not self.lines:
            self._read_about(name, value)
        elif name == CALL:
            self.section.setdefault("tool_calls", []).append(self._parse_object(value))
        elif name in (MODEL, METADATA) and name not in self.section:
            self.section[name] = value if name == MODEL else self._parse_object(value)
        else:
            raise Invalid(
                "Line {line}: an entry of a message is call, or once model or metadata.",
                line=self.number,
                field="text",
            )

    def _read_about(self, name: str, value: str) -> None:
        if name not in HEAD_ENTRIES or name in self.section:
            values = ", ".join(HEAD_ENTRIES)
            raise Invalid(
                "Line {line}: an entry below the title is one of {values}, each once.",
                line=self.number,
                values=values,
                field="text",
            )
        self.section[name] = value
        if name not in ORIGIN:
            self.document[name] = value

    def _parse_object(self, text: str) -> dict[str, Any]:
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            value = None
        if not isinstance(value, dict):
            raise Invalid("Line {line}: the value is no JSON object.", line=self.number, field="text")
        return value


def read_markdown(text: Any) -> tuple[dict[str, Any], list[int]]:
    """Return the document of a Markdown text, and the line of each message.

    Raises Invalid with the number of the line, TooLarge.
    """
    if not isinstance(text, str):
        raise Invalid("{field} must be a text.", field="text")
    if len(text) > MAX_BYTES:
        raise TooLarge(what="The conversation", limit=f"{MAX_BYTES // 1024} KiB", field="text")
    reader = MarkdownReader()
    for number, line in enumerate(split_lines(text), 1):
        reader.read_line(number, line)
    return reader.end(), reader.lines


def split_lines(text: str) -> list[str]:
    """Return the lines of a text; those of a file with line ends of Windows without them."""
    lines = text.removeprefix("\ufeff").removesuffix("\n").split("\n")
    is_windows = all(line.endswith("\r") for line in lines[:-1]) and len(lines) > 1
    return [line.removesuffix("\r") for line in lines] if is_windows else lines


def take_markdown(document: Mapping[str, Any]) -> tuple[dict[str, Any], list[int]]:
    """Return the document of ``{"format": "markdown", "text": …}``. Raises as ``read_markdown``."""
    for name in document:
        if name not in ("format", "text"):
            raise UnknownField(field=str(name)[:200])
    if "text" not in document:
        raise Invalid("{field} is needed.", field="text")
    found, lines = read_markdown(document["text"])
    if not lines:
        raise Invalid("There is no message: one begins with a heading such as “## 1. user”.", field="text")
    return found, lines


def name_line(error: Day1Error, lines: list[int]) -> Day1Error:
    """Return the error of a document with the line of its message; another error as it is."""
    place = PLACE.fullmatch(str(error.data.get("field") or ""))
    if place is None:
        return error
    reason = error.data.get("reason") or error.text
    return Invalid("Line {line}: {reason}", line=lines[int(place[1])], reason=reason, field="text")
