"""Exports of ChatGPT and of Claude: a ZIP with conversations.json, or that file."""

import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from conversations.capture.text_cleaning import strip_injected, strip_prompt
from conversations.capture.transcripts import records
from conversations.capture.transcripts.records import Dialogue, Report, Turn
from day1site.cli.errors import CliError

MAX_BYTES = 2 * 1024**3  # bytes of conversations.json, unpacked


def read_chatgpt(path: Path, report: Report) -> Iterator[Dialogue]:
    for number, one in _conversations(path, report):
        mapping = one.get("mapping")
        if not isinstance(mapping, dict):
            report.breaks(path, number, "is no conversation of ChatGPT: it has no mapping")
            continue
        uid = str(one.get("conversation_id") or one.get("id") or number)
        way = _way(mapping, one.get("current_node"))
        messages = [turn for node in way if (turn := _chatgpt_message(node, report))]
        nodes = sum(isinstance(node, dict) and bool(node.get("message")) for node in mapping.values())
        report.skip("messages that were edited", nodes - sum(bool(node.get("message")) for node in way))
        if messages:
            yield Dialogue(f"chatgpt:{uid}"[:200], "chatgpt", messages, title=str(one.get("title") or ""))


def _way(mapping: dict[str, Any], end: Any) -> list[dict[str, Any]]:
    """Return the nodes from the root to the one in force; the newest where none is named."""
    if end not in mapping:
        ends = [key for key, node in mapping.items() if isinstance(node, dict) and not node.get("children")]
        end = ends[-1] if ends else None
    way: dict[Any, dict[str, Any]] = {}
    while isinstance(node := mapping.get(end), dict) and end not in way:
        way[end] = node
        end = node.get("parent")
    return list(way.values())[::-1]


def _chatgpt_message(node: dict[str, Any], report: Report) -> Turn | None:
    message = node.get("message")
    if not isinstance(message, dict):
        return None
    author, content, metadata = (message.get(name) or {} for name in ("author", "content", "metadata"))
    role = author.get("role")
    if role not in ("user", "assistant") or metadata.get("is_visually_hidden_from_conversation"):
        report.skip("words of the program")
        return None
    found = [content.get("text"), *(content.get("parts") or [])]
    text = "\n".join(part for part in found if isinstance(part, str) and part.strip())
    if content.get("content_type") not in ("text", "multimodal_text", "code", None) or not text:
        report.skip("messages without words")
        return None
    model = str(metadata.get("model_slug") or "") if role == "assistant" else ""
    at = records.moment(message.get("create_time"))
    words = strip_prompt(text) if role == "user" else strip_injected(text)
    return Turn(str(message.get("id") or node.get("id")), role, words, at, model)


def read_claude(path: Path, report: Report) -> Iterator[Dialogue]:
    for number, one in _conversations(path, report):
        found = one.get("chat_messages")
        if not isinstance(found, list):
            report.breaks(path, number, "is no conversation of Claude: it has no chat_messages")
            continue
        uid = str(one.get("uuid") or number)
        messages = [turn for row in found if (turn := _claude_message(row, report))]
        if messages:
            names = {"title": str(one.get("name") or ""), "summary": str(one.get("summary") or "")}
            yield Dialogue(f"claude:{uid}"[:200], "claude", messages, **names)


def _claude_message(row: Any, report: Report) -> Turn | None:
    if not isinstance(row, dict) or row.get("sender") not in ("human", "assistant"):
        report.skip("words of the program")
        return None
    text = records.text_in(row.get("content"), "text") or str(row.get("text") or "")
    for file in row.get("attachments") or []:
        if isinstance(file, dict) and isinstance(file.get("extracted_content"), str):
            text += f"\n\n[{file.get('file_name') or 'file'}]\n{file['extracted_content']}"
    role = "user" if row["sender"] == "human" else "assistant"
    text = strip_prompt(text) if role == "user" else strip_injected(text)
    if not text:
        report.skip("messages without words")
        return None
    return Turn(str(row.get("uuid")), role, text, records.moment(row.get("created_at")))


# ---- the file --------------------------------------------------------------------------------------


def _conversations(path: Path, report: Report) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the conversations with their place in the list, from 1."""
    report.files += 1
    try:
        raw = _content(path)
        found = json.loads(raw.decode("utf-8-sig")) if raw.strip() else []
    except (zipfile.BadZipFile, UnicodeDecodeError, ValueError, RecursionError) as error:
        raise CliError("invalid", f"{path.name} cannot be read: {error}.") from None
    report.empty = report.empty and not raw.strip()
    if isinstance(found, dict):
        found = found.get("conversations", [found])
    for number, one in enumerate(found if isinstance(found, list) else [], 1):
        if isinstance(one, dict):
            yield number, one
        else:
            report.breaks(path, number, "is no JSON object")


def _content(path: Path) -> bytes:
    if path.is_dir():
        return (path / "conversations.json").read_bytes()
    if not zipfile.is_zipfile(path):
        return path.read_bytes()
    with zipfile.ZipFile(path) as archive:
        named = [one for one in archive.infolist() if Path(one.filename).name == "conversations.json"]
        if not named:
            raise CliError("invalid", f"{path.name} holds no conversations.json.")
        if named[0].file_size > MAX_BYTES:
            raise CliError("too_large", f"conversations.json in {path.name} is larger than 2 GiB.")
        return archive.read(named[0])
