"""Transcripts of Claude Code: files of JSON lines below projects/, one a session, one a subagent."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from conversations.capture.record_forms import find_content_fault, find_field_fault
from conversations.capture.text_cleaning import (
    clean,
    is_own_call,
    read_id,
    read_output,
    strip_injected,
    strip_prompt,
)
from conversations.capture.transcripts.records import (
    Call,
    Dialogue,
    Report,
    Turn,
    blocks,
    clean_output,
    drop_interim,
    find_files,
    lines,
    moment,
    text_in,
)

AGENT = "claude-code"
SPEAKERS = ("user", "assistant")
TYPED = ("", "composer", "human", "sdk", "bridge", "unclassified")  # who speaks as a person
GOES_ON = ("tool_use", "max_tokens", "pause_turn")  # why an answer stopped that is not the turn's last
COMPACTED = re.compile(  # the summary of a compaction, between words of the program
    r"\A(?:This session is being continued from [^\n]*\n\n)?(.*?)"
    r"(?:\n\n(?:If you need specific details from before|(?:Please c|C)ontinue the conversation from ).*)?\Z",
    re.S,
)


@dataclass
class Answer:
    """An answer. Its parts are joined once, when all lines are read; those that are repeated count once."""

    turn: Turn
    content: dict[str, None] = field(default_factory=dict)
    thinking: dict[str, None] = field(default_factory=dict)

    def join(self) -> None:
        self.turn.content, self.turn.thinking = "\n\n".join(self.content), "\n\n".join(self.thinking)


@dataclass
class File:
    name: str  # without its ending
    records: list[dict[str, Any]] = field(default_factory=list)
    session: str = ""
    cwd: str = ""
    title: str = ""
    summary: str = ""  # of its last compaction
    clean: Callable[[Any], Any] = clean  # what takes secrets out of tools' outputs

    @property
    def agent(self) -> str:
        name = self.name.removeprefix("agent-") if self.name.startswith("agent-") else ""
        return f"{AGENT}/{name}" if name else AGENT

    @property
    def last(self) -> str:
        return max((moment(record.get("timestamp")) for record in self.records), default="")


def read(path: Path, report: Report) -> Iterator[Dialogue]:
    """Yield the conversations of a file, or of a folder's files; a record counts where it is oldest."""
    files = find_files(path, "*.jsonl")
    loaded = [(_load(file.stem, lines(file, report, find_fault), report), file) for file in files]
    seen: set[str] = set()
    # A resumed or forked session begins with a copy of the one before: that one ended earlier.
    for loaded_file, _ in sorted(loaded, key=lambda pair: (pair[0].last, str(pair[1]))):
        yield from _dialogues(loaded_file, seen, report)


def read_part(
    records: Iterable[dict[str, Any]], session: str, agent: str, clean: Callable[[Any], Any] = clean
) -> list[Turn]:
    """Return what a part of one transcript tells of a session's agent: "" or the id of a subagent.

    Copies that a forked session begins with belong to another session.
    """
    own = [
        record
        for record in records
        if record.get("sessionId", session) == session and not record.get("forkedFrom")
    ]
    report = Report()
    file = _load(f"agent-{agent}" if agent else session, enumerate(own), report)
    file.clean = clean
    found = _dialogues(file, set(), report)
    return [turn for dialogue in found if dialogue.agent == file.agent for turn in dialogue.messages]


def find_fault(record: dict[str, Any]) -> str:
    """Return why not all of a record can be read; "" where it can, or where nobody speaks in it."""
    if fault := find_field_fault(record, "type", str, "a text"):
        return fault
    if record["type"] not in SPEAKERS:
        return ""
    if record.get("uuid") == "":
        return "its uuid is empty"
    missing = find_field_fault(record, "uuid", str, "a text")
    return (
        missing
        or find_field_fault(record, "message", dict, "an object")
        or find_content_fault(_spoken(record))
    )


def _load(name: str, records: Iterable[tuple[int, dict[str, Any]]], report: Report) -> File:
    file = File(name)
    for number, record in records:
        if record.get("type") in ("custom-title", "ai-title", "summary"):
            names = ("customTitle", "aiTitle", "title", "summary")
            found = [record[name] for name in names if isinstance(record.get(name), str)]
            file.title = found[0] if found else file.title
        file.session = file.session or _text(record.get("sessionId"))
        file.cwd = file.cwd or _text(record.get("cwd"))
        if record.get("isCompactSummary") is True:
            file.summary = COMPACTED.sub(r"\1", text_in(_spoken(record).get("content"), "text"))
        if _text(record.get("uuid")):
            file.records.append({**record, "#": number})
        elif record.get("type") not in SPEAKERS:
            report.skip("records of the program")
    file.session = file.session or name
    return file


def _dialogues(file: File, seen: set[str], report: Report) -> Iterator[Dialogue]:
    fresh = {record["uuid"] for record in file.records} - seen
    copies = [record for record in file.records if record["uuid"] in seen]
    report.skip("copies of another session's records", len(copies))
    seen |= fresh
    for chain in _chains(file.records, report):
        own = [record for record in chain if record["uuid"] in fresh]
        messages = _messages(own, chain, report, file.clean)
        if messages:
            names = {"title": file.title, "summary": file.summary}
            yield Dialogue(file.session, _agent(file, chain[0])[:200], messages, path=file.cwd, **names)


def _agent(file: File, first: dict[str, Any]) -> str:
    """Name the agent: a subagent has a file of its own, or, in older versions, a chain by its session's."""
    if first.get("isSidechain") is not True or file.agent != AGENT:
        return file.agent
    return f"{AGENT}/{_text(first.get('agentId')) or first['uuid'][:8]}"


# ---- which records are the conversation --------------------------------------------------------------


def _chains(records: Sequence[dict[str, Any]], report: Report) -> Iterator[list[dict[str, Any]]]:
    """Yield the records of each conversation, from its beginning to its newest end, without rewound ones."""
    by_id = {record["uuid"]: record for record in records}
    report.skip("records that are there twice", len(records) - len(by_id))
    records = list(by_id.values())
    before = _parents(records, by_id)
    groups: dict[str, list[dict[str, Any]]] = {}
    roots: dict[str, str] = {}
    for record in records:
        roots[record["uuid"]] = roots.get(before.get(record["uuid"], ""), record["uuid"])
        groups.setdefault(roots[record["uuid"]], []).append(record)
    for group in groups.values():
        spoken = [record for record in group if record.get("type") in SPEAKERS] or group
        kept = _with_twins(group, _way(spoken[-1]["uuid"], before))
        dead = [r for r in group if r["uuid"] not in kept and r.get("type") in SPEAKERS]
        report.skip("messages that were taken back", len(dead))
        yield [record for record in group if record["uuid"] in kept]


def _parents(records: Sequence[dict[str, Any]], by_id: dict[str, Any]) -> dict[str, str]:
    """Return the record before each one: its parent; the previous line where that is missing or a summary."""
    before: dict[str, str] = {}
    last = ""
    for record in records:
        parent = record.get("parentUuid") or record.get("logicalParentUuid")
        boundary = record.get("subtype") == "compact_boundary"
        if isinstance(parent, str) and parent in by_id and parent != record["uuid"]:
            before[record["uuid"]] = parent
        elif last and (parent or boundary):
            before[record["uuid"]] = last
        last = record["uuid"]
    return before


def _way(end: str, before: dict[str, str]) -> set[str]:
    way: set[str] = set()
    while end and end not in way:
        way.add(end)
        end = before.get(end, "")
    return way


def _with_twins(group: Sequence[dict[str, Any]], way: set[str]) -> set[str]:
    """Add the calls that were made at once: the other lines of an answer, and all results of it."""
    answers = {_answer(record) for record in group if record["uuid"] in way} - {""}
    kept = way | {record["uuid"] for record in group if _answer(record) in answers}
    calls = {uid for r in group if r["uuid"] in kept for uid in _ids(r, "tool_use", "id")}
    return kept | {r["uuid"] for r in group if calls.intersection(_ids(r, "tool_result", "tool_use_id"))}


def _ids(record: dict[str, Any], kind: str, name: str) -> list[str]:
    return [uid for part in _blocks(record, kind) if (uid := read_id(part.get(name)))]


def _answer(record: dict[str, Any]) -> str:
    return _text(_spoken(record).get("id")) if record.get("type") == "assistant" else ""


def _spoken(record: dict[str, Any]) -> dict[str, Any]:
    message = record.get("message")
    return message if isinstance(message, dict) else {}


def _blocks(record: dict[str, Any], kind: str = "") -> list[dict[str, Any]]:
    found = blocks(_spoken(record).get("content"))
    return [part for part in found if not kind or part.get("type") == kind]


# ---- what they say -----------------------------------------------------------------------------------


def _messages(
    records: Sequence[dict[str, Any]],
    chain: Sequence[dict[str, Any]],
    report: Report,
    clean: Callable[[Any], Any],
) -> list[Turn]:
    uses = [part for record in chain for part in _blocks(record, "tool_use")]
    calls = {uid: part for part in uses if (uid := read_id(part.get("id")))}
    turns: list[Turn] = []
    answers: dict[str, Answer] = {}
    prompt = ""
    for record in records:
        prompt = _text(record.get("promptId")) or prompt
        if record.get("type") == "assistant":
            _join(record, answers, turns, report, prompt)
        elif record.get("type") == "user":
            turns += _results(record, calls, report, clean)
            turns += _prompt(record, report)
        else:
            report.skip("records of the program")
    for answer in answers.values():
        answer.join()
    return drop_interim([one for one in turns if one.content.strip() or one.call], report)


def _join(
    record: dict[str, Any], answers: dict[str, Answer], turns: list[Turn], report: Report, prompt: str
) -> None:
    """Take a line of an answer: its lines share an id; some may be repeated."""
    message = _spoken(record)
    model = _text(message.get("model"))
    if model == "<synthetic>" or record.get("isApiErrorMessage"):
        return report.skip("words of the program")
    key = _answer(record) or record["uuid"]
    if key not in answers:
        turns.append(Turn(key, "assistant", "", moment(record.get("timestamp")), model, prompt=prompt))
        answers[key] = Answer(turns[-1])
    answer = answers[key]
    # The line with the call may not be written yet.
    answer.turn.interim |= bool(_blocks(record, "tool_use")) or message.get("stop_reason") in GOES_ON
    for kind, parts in (("text", answer.content), ("thinking", answer.thinking)):
        found = [strip_injected(_text(part.get(kind))) for part in _blocks(record, kind)]
        parts.update(dict.fromkeys(words for words in found if words))


def _prompt(record: dict[str, Any], report: Report) -> list[Turn]:
    message = _spoken(record)
    text = text_in(message.get("content"), "text")
    if not text:
        return []
    origin = record.get("origin")
    kind = _text(origin.get("kind")) if isinstance(origin, dict) else ""
    own = record.get("isMeta") or record.get("isVisibleInTranscriptOnly") or kind not in TYPED
    words = strip_prompt(text)
    if record.get("isCompactSummary"):
        report.skip("summaries of a compaction")
    elif record.get("isSidechain") is True:
        report.skip("orders to subagents")
    elif own or not words:
        report.skip("words of the program")
    else:
        at, prompt = moment(record.get("timestamp")), _text(record.get("promptId"))
        return [Turn(record["uuid"], "user", words, at, prompt=prompt)]
    return []


def _results(
    record: dict[str, Any], calls: dict[str, dict[str, Any]], report: Report, clean: Callable[[Any], Any]
) -> Iterator[Turn]:
    results = _blocks(record, "tool_result")
    for part in results:
        request = calls.get(read_id(part.get("tool_use_id")))
        if request is None:
            report.skip("results without their call")
            continue
        call = Call(read_id(request.get("id")), _text(request.get("name")) or "tool", request.get("input"))
        call.failed = part.get("is_error") is True
        if is_own_call(call.name, call.input):
            report.skip("calls of Day1 itself")
            continue
        structured = record.get("toolUseResult") if len(results) == 1 else None
        # What the hooks get of a call that worked.
        has_output = isinstance(structured, dict) and not call.failed
        output = clean_output(structured if has_output else part.get("content"), clean)
        content = strip_injected(read_output(output) if has_output else _output(output))
        at, prompt = moment(record.get("timestamp")), _text(record.get("promptId"))
        yield Turn(call.id, "tool_result", content, at, call=call, prompt=prompt)


def _output(content: Any) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else [content]
    found = [_read_part(part) for part in parts if part is not None]
    return "\n".join(found) or ("" if content is None else json.dumps(content))


def _read_part(part: Any) -> str:
    if isinstance(part, str):
        return part
    kind = _text(part.get("type")) if isinstance(part, dict) else ""
    if not kind:
        return json.dumps(part)  # of another form
    return _text(part.get("text")) or ("" if kind == "text" else f"[{kind}]")


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
