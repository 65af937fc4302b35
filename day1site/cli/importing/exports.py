"""Exports of ChatGPT and of Claude: a ZIP or folder with conversations.json, in parts too, or such a file."""

import json
import re
import zipfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from conversations.capture.record_forms import find_content_fault, find_field_fault, name_kind
from conversations.capture.text_cleaning import strip_injected, strip_prompt
from conversations.capture.transcripts import records
from conversations.capture.transcripts.records import Dialogue, Report, Turn
from day1site.cli.errors import CliError

MAX_BYTES = 2 * 1024**3  # bytes of a file, unpacked
CONVERSATIONS = re.compile(r"conversations(?:[-_]\d+)?\.json")  # a large export has several
WORDS = ("text", "multimodal_text", "code", None)  # kinds of a message's content
REPEATED = "conversations that are there twice"


def read_chatgpt(path: Path, report: Report) -> Iterator[Dialogue]:
    yield from _read_all(path, report, _read_chatgpt)


def _read_chatgpt(item: "Item", report: Report) -> Dialogue | None:
    one, mapping = item.value, item.value.get("mapping")
    if not isinstance(mapping, dict):
        report.breaks(item.file, item.number, "is no conversation of ChatGPT: it has no mapping")
        return None
    _report_faults(item, report, mapping, lambda node: _find_node_fault(node, mapping))
    uid = str(one.get("conversation_id") or one.get("id") or item.place)
    way = _way(mapping, one.get("current_node"))
    messages = [turn for key, node in way.items() if (turn := _chatgpt_message(key, node, report))]
    nodes = sum(isinstance(node, dict) and bool(node.get("message")) for node in mapping.values())
    report.skip("messages that were edited", nodes - sum(bool(node.get("message")) for node in way.values()))
    title = str(one.get("title") or "")
    return Dialogue(f"chatgpt:{uid}"[:200], "chatgpt", messages, title=title) if messages else None


def _way(mapping: dict[str, Any], end: Any) -> dict[str, dict[str, Any]]:
    """Return the nodes from the root to the one in force, by key; to the newest where none is named."""
    if end not in mapping:
        ends = [key for key, node in mapping.items() if isinstance(node, dict) and not node.get("children")]
        end = ends[-1] if ends else None
    way: dict[Any, dict[str, Any]] = {}
    while isinstance(node := mapping.get(end), dict) and end not in way:
        way[end] = node
        end = node.get("parent")
    return dict(reversed(way.items()))


def _chatgpt_message(key: str, node: dict[str, Any], report: Report) -> Turn | None:
    message = node.get("message")
    if not isinstance(message, dict):
        return None
    named = (message.get(name) for name in ("author", "content", "metadata"))
    author, content, metadata = (one if isinstance(one, dict) else {} for one in named)
    role = author.get("role")
    if role not in ("user", "assistant") or metadata.get("is_visually_hidden_from_conversation"):
        report.skip("words of the program")
        return None
    parts = content.get("parts")
    found = [content.get("text"), *(parts if isinstance(parts, list) else [parts])]
    text = "\n".join(words for part in found if (words := _read_part(part)).strip())
    if content.get("content_type") not in WORDS or not text:
        report.skip("messages without words")
        return None
    model = str(metadata.get("model_slug") or "") if role == "assistant" else ""
    at = records.moment(message.get("create_time"))
    words = strip_prompt(text) if role == "user" else strip_injected(text)
    return Turn(str(message.get("id") or node.get("id") or key), role, words, at, model)


def _find_node_fault(node: Any, mapping: dict[str, Any]) -> str:
    """Return why not all words of a node can be read; "" where they can, or where nobody speaks in it."""
    if not isinstance(node, dict):
        return f"is {name_kind(node)}"
    parent = node.get("parent")
    if parent is not None and not (isinstance(parent, str) and parent in mapping):
        return "names a parent that is not there"
    message = node.get("message")
    if message is None:
        return ""
    return (
        _find_message_fault(message) if isinstance(message, dict) else f"its message is {name_kind(message)}"
    )


def _find_message_fault(message: dict[str, Any]) -> str:
    for name in ("author", "content"):
        if fault := find_field_fault(message, name, dict, "an object"):
            return fault
    author, content = message["author"], message["content"]
    if fault := find_field_fault(author, "role", str, "a text"):
        return fault
    is_spoken = author["role"] in ("user", "assistant") and content.get("content_type") in WORDS
    if not is_spoken:
        return ""
    if content.get("text") is not None:
        return find_field_fault(content, "text", str, "a text")
    return find_content_fault(content, "parts", is_typed=False)


def _read_part(part: Any) -> str:
    """Return the words of a part of a message: text, or what was heard in a voice chat."""
    words = part.get("text") if isinstance(part, dict) else part
    return words if isinstance(words, str) else ""


def read_claude(path: Path, report: Report) -> Iterator[Dialogue]:
    yield from _read_all(path, report, _read_claude)


def _read_claude(item: "Item", report: Report) -> Dialogue | None:
    one, found = item.value, item.value.get("chat_messages")
    if not isinstance(found, list):
        report.breaks(item.file, item.number, "is no conversation of Claude: it has no chat_messages")
        return None
    _report_faults(item, report, dict(enumerate(found, 1)), _find_row_fault)
    uid = str(one.get("uuid") or item.place)
    turns = (_claude_message(row, f"{uid}#{number}", report) for number, row in enumerate(found, 1))
    messages = [turn for turn in turns if turn]
    names = {"title": str(one.get("name") or ""), "summary": str(one.get("summary") or "")}
    return Dialogue(f"claude:{uid}"[:200], "claude", messages, **names) if messages else None


def _find_row_fault(row: Any) -> str:
    """Return why not all words of a message can be read; "" where they can."""
    if not isinstance(row, dict):
        return f"is {name_kind(row)}"
    fault = find_field_fault(row, "sender", str, "a text")
    content = find_content_fault(row) if row.get("content") is not None else ""
    has_text = row.get("text") is not None or not row.get("content")
    return fault or content or (find_field_fault(row, "text", str, "a text") if has_text else "")


def _claude_message(row: Any, place: str, report: Report) -> Turn | None:
    if not isinstance(row, dict):
        return None
    if row.get("sender") not in ("human", "assistant"):
        report.skip("words of the program")
        return None
    text = records.text_in(row.get("content"), "text") or str(row.get("text") or "")
    attachments = row.get("attachments")
    for file in attachments if isinstance(attachments, list) else []:
        if isinstance(file, dict) and isinstance(file.get("extracted_content"), str):
            text += f"\n\n[{file.get('file_name') or 'file'}]\n{file['extracted_content']}"
    role = "user" if row["sender"] == "human" else "assistant"
    text = strip_prompt(text) if role == "user" else strip_injected(text)
    if not text:
        report.skip("messages without words")
        return None
    return Turn(str(row.get("uuid") or place), role, text, records.moment(row.get("created_at")))


def _report_faults(
    item: "Item", report: Report, messages: dict[Any, Any], find_fault: Callable[[Any], str]
) -> None:
    """Name the messages of a conversation of which not all can be read."""
    for uid, message in messages.items():
        if fault := find_fault(message):
            report.breaks(item.file, item.number, f"message {str(uid)[:100]}: {fault}")


# ---- the files -------------------------------------------------------------------------------------


class Item(NamedTuple):
    """A conversation of an export: its file, its number there, and its place in all files, from 1."""

    file: Path
    number: int
    place: int
    value: dict[str, Any]


def _read_all(
    path: Path, report: Report, read: Callable[[Item, Report], Dialogue | None]
) -> Iterator[Dialogue]:
    """Yield the conversations that a reader makes of an export; one that it cannot read is reported."""
    seen: set[str] = set()
    for item in _list_items(path, report):
        try:
            storable = records.make_storable_object(item.value, item.file, item.number, report)
            found = read(item._replace(value=storable), report)
        except (AttributeError, KeyError, TypeError, ValueError, RecursionError) as error:
            report.breaks(item.file, item.number, f"cannot be read as a conversation: {error}")
            continue
        if found and found.session in seen:
            report.skip(REPEATED)
        elif found:
            seen.add(found.session)
            yield found


def _list_items(path: Path, report: Report) -> Iterator[Item]:
    """Yield the conversations of all files of an export. A part that cannot be read does not end it."""
    contents, place = _list_contents(path), 0
    for file, read in contents:
        report.files += 1
        try:
            raw = read()
            found = json.loads(raw) if raw.strip() else []
        except (zipfile.BadZipFile, OSError, ValueError, RecursionError) as error:
            if len(contents) == 1:
                raise CliError("invalid", f"{file.name} cannot be read: {error}.") from None
            report.empty = False
            report.breaks(file, 0, f"cannot be read: {error}")
            continue
        report.empty = report.empty and not raw.strip()
        if isinstance(found, dict):
            found = found.get("conversations", [found])
        if not isinstance(found, list):
            report.breaks(file, 0, f"is no list of conversations, but {name_kind(found)}")
            continue
        for number, one in enumerate(found, 1):
            place += 1
            if isinstance(one, dict):
                yield Item(file, number, place, one)
            else:
                report.breaks(file, number, "is no JSON object")


def _list_contents(path: Path) -> list[tuple[Path, Callable[[], bytes]]]:
    """Return the files with conversations of an export, each with a function that reads it."""
    if path.is_dir():
        files = sorted(file for file in path.iterdir() if CONVERSATIONS.fullmatch(file.name))
        if not files:
            raise CliError("invalid", f"{path.name} holds no conversations.json.")
        return [(file, file.read_bytes) for file in files]
    if not zipfile.is_zipfile(path):
        return [(path, path.read_bytes)]
    with zipfile.ZipFile(path) as archive:
        every = sorted(archive.infolist(), key=lambda one: one.filename)
    named = [one for one in every if CONVERSATIONS.fullmatch(Path(one.filename).name)]
    if not named:
        raise CliError("invalid", f"{path.name} holds no conversations.json.")
    if large := next((one for one in named if one.file_size > MAX_BYTES), None):
        raise CliError("too_large", f"{Path(large.filename).name} in {path.name} is larger than 2 GiB.")
    names = [one.filename for one in named]
    return [(path / name if len(names) > 1 else path, partial(_unpack, path, name)) for name in names]


def _unpack(path: Path, name: str) -> bytes:
    with zipfile.ZipFile(path) as archive:
        return archive.read(name)
