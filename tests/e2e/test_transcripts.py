"""Sessions whose events were lost, through the real client and a real server: the transcript has the rest."""

import json
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests import databases
from tests.site.hook_events import event
from tests.site.test_hook_client import Client
from tests.site.test_import_claude_code import Transcript, call, result, text
from tests.up_process import Up, provisioned
from tests.waiting import wait_until

pytestmark = pytest.mark.slow
ROOT = {"CLAUDE_PROJECT_DIR": "/srv/shop"}
SAID = [
    ("user", "List the tables."),
    ("tool_result", "payouts"),
    ("assistant", "There is one."),
    ("user", "Add one for fees."),
    ("assistant", "It is there."),
]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    up = Up(provisioned(tmp_path_factory.mktemp("up") / "data")).ready()
    yield up
    up.end()


class Session:
    """A session of the program: events to the client, and a transcript as it grows."""

    def __init__(self, server: Up, folder: Path, key: str, client: Client | None = None) -> None:
        self.server, self.key = server, key
        self.client = client or Client(folder, server.first["url"], server.first["key"])
        self.transcript = Transcript(key)
        self.file = folder / f"{key}.jsonl"
        self.is_writing = True

    def write(self) -> None:
        """Write what was said since; the program does so before it runs its hooks."""
        for record in self.transcript.records:
            if record["timestamp"].startswith("2026-10-05"):
                record["timestamp"] = datetime.now(UTC).isoformat(timespec="milliseconds")[:23] + "Z"
        if self.is_writing:
            self.transcript.write(self.file.parent)

    def run(self, name: str, **fields: Any) -> str:
        self.write()
        one = event(name, self.key, **fields) | {"transcript_path": str(self.file), "cwd": "/srv/shop"}
        del one["day1"]
        return self.client.run(one, **ROOT)

    def said(self) -> list[tuple[str, str]]:
        query = (
            "SELECT role, content FROM conversations_message"
            f" WHERE session_id = '{self.key}' AND seq_to = {2**62} ORDER BY conversation_id, sequence_num"
        )
        return [(role, content) for role, content in databases.rows(self.server.folder, query)]

    def is_settled(self) -> bool:
        """Return whether all events and parts of transcripts were sent."""
        file = self.client.spool / "transcripts.json"
        known = json.loads(file.read_text()).values() if file.exists() else []
        return self.client.lines() == [] and not any(one["due"] for one in known)

    def settle(self) -> None:
        wait_until(self.is_settled)

    def first_turn(self, lost: tuple[str, ...] = ()) -> None:
        """Play the first turn; its events of these names are lost."""
        self.run("SessionStart", source="startup")
        if "UserPromptSubmit" not in lost:
            self.run("UserPromptSubmit", prompt="List the tables.", prompt_id="p1")
        self.transcript.user("u1", "List the tables.", promptId="p1")
        self.transcript.answer("a1", "m1", text("I look."), call("t1", command="ls"))
        self.transcript.user(
            "r1", result("t1", "payouts"), toolUseResult={"stdout": "payouts"}, promptId="p1"
        )
        done = {"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_response": {"stdout": "payouts"}}
        if "PostToolUse" not in lost:
            self.run("PostToolUse", tool_use_id="t1", prompt_id="p1", **done)
        self.transcript.answer("a2", "m2", text("There is one."))
        if "Stop" not in lost:
            self.run("Stop", last_assistant_message="There is one.", prompt_id="p1")

    def second_turn(self, lost: tuple[str, ...] = ()) -> None:
        self.run("UserPromptSubmit", prompt="Add one for fees.", prompt_id="p2")
        self.transcript.user("u2", "Add one for fees.", promptId="p2")
        self.transcript.answer("a3", "m3", text("It is there."))
        if "Stop" not in lost:
            self.run("Stop", last_assistant_message="It is there.", prompt_id="p2")


@pytest.fixture
def session(server: Up, tmp_path: Path) -> Session:
    return Session(server, tmp_path, tmp_path.name)


@pytest.mark.parametrize("lost", ["Stop", "PostToolUse", "UserPromptSubmit"])
def test_what_was_lost_is_there_after_the_end_in_its_place_once(session: Session, lost: str) -> None:
    session.first_turn((lost,))
    session.second_turn(("Stop",))
    session.run("SessionEnd", reason="x")
    session.settle()
    assert session.said() == SAID
    session.run("SessionEnd", reason="x")
    session.settle()
    assert session.said() == SAID


def test_a_gap_is_filled_at_the_end_of_the_turn(session: Session) -> None:
    session.first_turn(("PostToolUse",))
    session.settle()
    assert session.said() == SAID[:3]
    session.second_turn()
    session.settle()
    assert session.said() == SAID


def test_a_crash_is_mended_when_the_next_session_begins_there(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    session.first_turn(("Stop",))
    session.settle()
    assert session.said() == SAID[:2]
    session.write()
    time.sleep(5.1)  # what is younger may belong to a session that still runs
    elsewhere = Session(session.server, session.file.parent, session.key + "-b", session.client)
    with monkeypatch.context() as there:
        there.setitem(ROOT, "CLAUDE_PROJECT_DIR", "/srv/other")
        elsewhere.run("SessionStart", source="startup")
    elsewhere.settle()
    assert session.said() == SAID[:2]
    following = Session(session.server, session.file.parent, session.key + "-c", session.client)
    following.run("SessionStart", source="startup")
    following.settle()
    assert session.said() == SAID[:3]


def test_a_session_without_gaps_gets_nothing(session: Session) -> None:
    session.first_turn()
    session.second_turn()
    session.settle()
    query = "SELECT count(*) FROM memory_commit"
    before = databases.rows(session.server.folder, query)
    session.run("SessionStart", source="compact")
    session.settle()
    assert session.said() == SAID
    assert databases.rows(session.server.folder, query) == before


@pytest.mark.parametrize("how", ["setting", "variable"])
def test_a_setting_turns_it_off(session: Session, how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if how == "setting":
        config = json.loads(session.client.config.read_text())
        session.client.config.write_text(json.dumps({**config, "transcripts": False}))
    else:
        monkeypatch.setitem(ROOT, "DAY1_TRANSCRIPTS", "false")
    session.first_turn(("PostToolUse",))
    session.run("SessionEnd", reason="x")
    session.settle()
    assert session.said() == [SAID[0], SAID[2]]
    assert not (session.client.spool / "transcripts.json").exists()


def test_a_transcript_that_is_missing_or_unreadable_is_passed_over(session: Session) -> None:
    session.first_turn(("PostToolUse",))
    session.file.unlink()
    session.file.mkdir()
    session.is_writing = False
    session.run("SessionEnd", reason="x")
    session.settle()
    assert ("assistant", "There is one.") in session.said()


def test_of_a_huge_transcript_the_end_is_read(session: Session) -> None:
    for number in range(30):
        session.transcript.user(f"x{number}", f"{number} " + "x" * 400_000)
    session.write()
    session.first_turn(("Stop",))
    session.run("SessionEnd", reason="x")
    session.settle()
    said = session.said()
    assert said[-3:] == SAID[:3]
    assert 5 <= len(said) - 3 <= 12
