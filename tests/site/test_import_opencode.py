"""Import of opencode's database: alone it gives what its plugin captures, after it nothing more."""

import json
import sqlite3
import time
from pathlib import Path
from typing import Any

import pytest

from conversations.capture.engine import IngestEngine
from conversations.models import Conversation, Message
from memory.actors import Actor
from memory.models import Observation, Session
from tests.command_line import Day1

pytestmark = pytest.mark.django_db(transaction=True)

START_MS = 1790000000000
TABLES = """
CREATE TABLE session (id text PRIMARY KEY, parent_id text, directory text NOT NULL, title text NOT NULL,
    revert text, time_created integer NOT NULL);
CREATE TABLE message (id text PRIMARY KEY, session_id text NOT NULL, time_created integer NOT NULL,
    data text NOT NULL);
CREATE TABLE part (id text PRIMARY KEY, message_id text NOT NULL, session_id text NOT NULL,
    data text NOT NULL);
"""


class Store:
    """Database as the program writes it."""

    def __init__(self, folder: Path, start_ms: int = START_MS) -> None:
        self.file, self.at, self.session = folder / "opencode.db", start_ms, ""
        self.link = sqlite3.connect(self.file, isolation_level=None)
        self.link.executescript(f"PRAGMA journal_mode=WAL; {TABLES}")

    def begin(self, uid: str, parent: str | None = None, folder: str = "/srv/till") -> "Store":
        self.session = uid
        row = (uid, parent, folder, "The till", None, self.at)
        self.link.execute("INSERT INTO session VALUES (?, ?, ?, ?, ?, ?)", row)
        return self

    def add(self, uid: str, message: dict[str, Any], *parts: dict[str, Any]) -> "Store":
        self.at += 1000
        times = {"created": self.at, **({"completed": self.at} if message["role"] == "assistant" else {})}
        data = json.dumps({"time": times, **message})
        self.link.execute("INSERT INTO message VALUES (?, ?, ?, ?)", (uid, self.session, self.at, data))
        for place, part in enumerate(parts):
            row = (f"{uid}-{place}", uid, self.session, json.dumps(part))
            self.link.execute("INSERT INTO part VALUES (?, ?, ?, ?)", row)
        return self

    def user(self, uid: str, *parts: dict[str, Any]) -> "Store":
        return self.add(uid, {"role": "user"}, *parts)

    def answer(self, uid: str, *parts: dict[str, Any], **more: Any) -> "Store":
        ends = "tool-calls" if any(part["type"] == "tool" for part in parts) else "stop"
        message = {"role": "assistant", "modelID": "model-x", "finish": ends, **more}
        return self.add(uid, message, *parts)


def text(words: str, **more: Any) -> dict[str, Any]:
    return {"type": "text", "text": words, **more}


def call(uid: str, tool: str, output: str, exit_code: int | None = None, **given: Any) -> dict[str, Any]:
    metadata = {} if exit_code is None else {"exit": exit_code}
    state = {"status": "completed", "input": given, "output": output, "metadata": metadata}
    return {"type": "tool", "tool": tool, "callID": uid, "state": {**state, "time": {"end": START_MS}}}


def story(folder: Path) -> Store:
    failed = {"status": "error", "input": {"filePath": "/srv/till/r.py"}, "error": "Error: no such file"}
    told = text("<day1-memory>\n- Totals were floats.\n</day1-memory>", synthetic=True)
    return (
        Store(folder)
        .begin("ses_1")
        .user("msg_1", text('"Why is the till\'s total wrong?"'), told)
        .answer("msg_2", text("I look."), call("c1", "bash", "1 failed", 1, command="pytest -q"))
        .answer("msg_3", call("c2", "bash", "4 passed", 0, command="pytest -q"))
        .answer("msg_4", call("c3", "day1_memory_search", "Totals were floats.", query="total"))
        .answer("msg_5", text("Cents were floats."), text("They are integers now."))
        .user("msg_6", text('"And the \\"old\\" receipts?"'))
        .answer("msg_7", {"type": "tool", "tool": "read", "callID": "c4", "state": failed})
        .answer("msg_8", text("There are none."))
    )


STORY = [
    ("user", "Why is the till's total wrong?"),
    ("tool_result", "1 failed"),
    ("tool_result", "4 passed"),
    ("assistant", "Cents were floats.\n\nThey are integers now."),
    ("user", 'And the "old" receipts?'),
    ("tool_result", "Error: no such file"),
    ("assistant", "There are none."),
]
OUTCOMES = [("Bash", "error"), ("Bash", "success"), ("Read", "error")]


def live_events() -> list[dict[str, Any]]:
    """Return what the plugin sends of the story, see hooks/client/opencode.js."""
    shell = {"tool_name": "Bash", "tool_input": {"command": "pytest -q"}}
    done = {"hook_event_name": "PostToolUse", **shell}
    read = {"tool_name": "Read", "tool_input": {"file_path": "/srv/till/r.py"}, "tool_use_id": "c4"}
    asked, answered = {"hook_event_name": "UserPromptSubmit"}, {"hook_event_name": "Stop"}
    return [
        {"hook_event_name": "SessionStart", "source": "startup"},
        {**asked, "prompt": "Why is the till's total wrong?", "prompt_id": "msg_1"},
        {**done, "tool_use_id": "c1", "tool_response": {"output": "1 failed", "exit_code": 1}},
        {**done, "tool_use_id": "c2", "tool_response": {"output": "4 passed", "exit_code": 0}},
        {**answered, "last_assistant_message": STORY[3][1], "prompt_id": "msg_5"},
        {**asked, "prompt": 'And the "old" receipts?', "prompt_id": "msg_6"},
        {"hook_event_name": "PostToolUseFailure", "error": "Error: no such file", **read},
        {**answered, "last_assistant_message": "There are none.", "prompt_id": "msg_8"},
    ]


def capture(actor: Actor) -> None:
    own = {"client": "opencode", "root": "/srv/till"}
    events = [{"session_id": "ses_1", "cwd": "/srv/till", "day1": own, **event} for event in live_events()]
    IngestEngine().ingest(events=events, actor=actor, client="opencode")


def said() -> list[tuple[str, str]]:
    rows = sorted(Message.objects.all_versions(), key=lambda row: row.uid)
    return [(row.role, row.content) for row in rows]


def outcomes() -> list[tuple[str, str]]:
    rows = sorted(Observation.objects.all_versions(), key=lambda row: row.uid)
    return [(row.tool_name, row.outcome) for row in rows]


@pytest.mark.parametrize("is_folder", [True, False])
def test_alone_it_is_what_the_plugin_would_have_captured(day1: Day1, tmp_path: Path, is_folder: bool) -> None:
    store = story(tmp_path)
    status, out, err = day1("import-from", "opencode", str(tmp_path if is_folder else store.file))
    assert (status, out) == (0, "new: 1 conversations, 7 messages, 3 observations; on main.\n")
    assert "left out: 1 texts between the calls of a turn\n" in err
    assert "left out: 1 calls of Day1 itself\n" in err
    assert (said(), outcomes()) == (STORY, OUTCOMES)
    session = Session.objects.get()
    assert (session.key, session.project_path, session.agent_id) == ("ses_1", "/srv/till", "opencode")
    again = day1("import-from", "opencode", str(tmp_path))
    assert again[:2] == (0, "new: nothing; known already: 7; on main.\n")


def test_after_live_capture_it_adds_nothing(day1: Day1, tmp_path: Path, actor: Actor) -> None:
    capture(actor)
    assert (said(), outcomes()) == (STORY, OUTCOMES)
    story(tmp_path)
    assert day1("import-from", "opencode", str(tmp_path))[:2] == (0, "new: nothing; on main.\n")
    assert (said(), outcomes()) == (STORY, OUTCOMES)


def test_a_turn_that_goes_on_is_taken_when_it_is_over(day1: Day1, tmp_path: Path) -> None:
    store = Store(tmp_path, int(time.time() * 1000)).begin("ses_1").user("msg_1", text("Go on."))
    store.answer("msg_2", text("I look."), call("c1", "bash", "till.py", 0, command="ls"))
    _, out, err = day1("import-from", "opencode", str(tmp_path))
    assert out == "new: 1 conversations, 2 messages, 1 observations; on main.\n"
    assert "left out: 1 answers that are not complete yet\n" in err
    store.answer("msg_3", text("It is there."))
    day1("import-from", "opencode", str(tmp_path))
    assert said() == [("user", "Go on."), ("tool_result", "till.py"), ("assistant", "It is there.")]


def test_a_subagent_has_a_conversation_in_the_session_above(day1: Day1, tmp_path: Path) -> None:
    store = story(tmp_path).begin("ses_2", "ses_1").user("msg_a", text("Find the rounding."))
    store.answer("msg_b", text("It is in till.py."))
    _, out, err = day1("import-from", "opencode", str(tmp_path))
    assert out == "new: 2 conversations, 8 messages, 3 observations; on main.\n"
    assert "left out: 1 orders to subagents\n" in err
    talks = {row.agent_id: row.session_id for row in Conversation.objects.all_versions()}
    assert talks == {"opencode": "ses_1", "opencode/ses_2": "ses_1"}


def test_what_nobody_said_is_left_out(day1: Day1, tmp_path: Path) -> None:
    store = Store(tmp_path).begin("ses_1").user("msg_1", text("Continue.", synthetic=True))
    store.user("msg_2", text("Before.")).answer("msg_3", text("A summary."), summary=True)
    store.user("msg_4", text("Wrong way.")).answer("msg_5", text("As you wish."))
    store.link.execute("UPDATE session SET revert = ?", ['{"messageID": "msg_4"}'])
    _, _, err = day1("import-from", "opencode", str(tmp_path))
    assert said() == [("user", "Before.")]
    assert Session.objects.get().summary == "A summary."
    left_out = ("1 words of the program", "1 summaries of a compaction", "2 messages that were taken back")
    assert [reason for reason in left_out if f"left out: {reason}\n" not in err] == []


def test_a_broken_row_is_reported_and_the_rest_imported(day1: Day1, tmp_path: Path) -> None:
    store = story(tmp_path)
    rows = [("msg_x", "{half"), ("msg_y", "[]"), ("msg_z", "[" * 200_000), ("msg_0", '{"role": 5}')]
    for uid, data in rows:
        store.link.execute("INSERT INTO message VALUES (?, 'ses_1', 0, ?)", (uid, data))
    state = {"status": "completed", "input": [], "metadata": 1}
    odd = json.dumps({"type": "tool", "tool": 5, "state": state})
    parts = {"odd": odd, "p_1": '{"type": "text", "text": 7}', "p_2": '{"type": "tool", "state": null}'}
    parts["p_3"] = '{"text": "No type."}'
    for uid, data in parts.items():
        store.link.execute("INSERT INTO part VALUES (?, 'msg_8', 'ses_1', ?)", [uid, data])
    store.link.execute("INSERT INTO part VALUES ('p_4', 'msg_none', 'ses_1', ?)", [odd])
    status, _, err = day1("import-from", "opencode", str(store.file))
    assert status == 1
    assert [line for line in err.splitlines() if line.startswith(str(store.file))] == [
        f"{store.file}:0: the row {fault}"
        for fault in (
            "msg_0: its role is a number, not a text",
            *(f"{uid}: holds no JSON object" for uid in ("msg_x", "msg_y", "msg_z")),
            "p_1: its text is a number, not a text",
            "p_2: its state is null, not an object",
            "p_3: has no type",
            "p_4: belongs to no message that can be read",
        )
    ]
    assert [one for one in said() if one in STORY] == STORY


def test_what_is_no_database_is_an_error(day1: Day1, tmp_path: Path) -> None:
    file = tmp_path / "opencode.db"
    file.write_bytes(b"x" * 5000)
    status, out, err = day1("import-from", "opencode", str(file))
    assert (status, out) == (1, "")
    assert f"{file}:0: is no database of opencode: file is not a database\n" in err
    file.unlink()
    sqlite3.connect(file).executescript("CREATE TABLE session (id text)")
    assert "is no database of opencode: no such column" in day1("import-from", "opencode", str(file))[2]
    assert not Session.objects.exists()
