"""An import alone gives what live capture gives: the same words, calls and outcomes, in the same order."""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from conversations.capture.engine import IngestEngine
from conversations.models import Conversation, Message
from day1site.cli import main
from memory.actors import Actor
from memory.engines.sessions.manager import SessionManager
from memory.models import Fact, Observation, Project, QueueMessage, Session
from tests.site.test_import_claude_code import Transcript, call, result, text
from tests.site.test_import_others import item, words

pytestmark = pytest.mark.django_db(transaction=True)

ROOT = "/srv/ledger"
FILE = f"{ROOT}/ledger.py"
ERROR = "Traceback (most recent call last):\nModuleNotFoundError: No module named 'ledger_settings'"
Event = dict[str, Any]
Import = Callable[[str, Path], None]


@pytest.fixture
def import_from(project: Project, monkeypatch: pytest.MonkeyPatch) -> Import:
    monkeypatch.delenv("DAY1_URL", raising=False)

    def run(program: str, path: Path) -> None:
        assert main(["--project", project.slug, "import-from", program, str(path)]) == 0

    return run


def capture(actor: Actor, client: str, session: str, events: list[Event]) -> None:
    for number, event in enumerate(events):
        at = datetime.now(UTC) - timedelta(seconds=len(events) - number)
        own = {"client": client, "root": ROOT, "at": at.timestamp()}
        IngestEngine().ingest(
            events=[{"session_id": session, "cwd": ROOT, "day1": own, **event}], actor=actor, client=client
        )


def stored(session: str) -> tuple[list[Any], list[Any], Any]:
    """Return messages and observations in their order, and where the session worked."""
    found = Session.objects.get(key=session)
    rows = Message.objects.on(found.branch).filter(session_id=session).fetch_all()
    seen = Observation.objects.on(found.branch).filter(session_id=session).fetch_all()
    (talk,) = Conversation.objects.on(found.branch).filter(session_id=session).fetch_all()
    by_id = {row.uid: row for row in rows}
    assert sorted(rows, key=lambda row: row.uid) == sorted(rows, key=lambda row: row.sequence_num)
    return (
        [(row.role, row.content, row.tool_calls) for row in sorted(rows, key=lambda row: row.uid)],
        [
            (
                row.tool_name,
                row.observation_type,
                row.outcome,
                row.summary,
                row.raw_input,
                row.raw_output,
                row.parent_id is not None,
                by_id[row.message_id].content,
            )
            for row in sorted(seen, key=lambda row: row.uid)
        ],
        (found.project_path, found.status, found.summary, talk.model),
    )


# ---- Claude Code -----------------------------------------------------------------------------------

WRITTEN = {"type": "create", "filePath": FILE, "content": "print('balance', 42)\n", "structuredPatch": []}
READ = {"type": "text", "file": {"filePath": FILE, "content": "print('balance', 42)\n", "numLines": 1}}
SILENT = {"stdout": "", "stderr": "", "interrupted": False, "isImage": False}
MEMORY = "mcp__day1__memory_search"


def claude_events() -> list[Event]:
    def used(uid: str, tool: str, given: Any, response: Any, name: str = "PostToolUse") -> Event:
        answer = {"error": response} if name == "PostToolUseFailure" else {"tool_response": response}
        one = {"hook_event_name": name, "tool_name": tool, "tool_input": given, "tool_use_id": uid}
        return {**one, **answer, "prompt_id": "p1"}

    return [
        {"hook_event_name": "SessionStart", "source": "startup"},
        {"hook_event_name": "UserPromptSubmit", "prompt": "Write ledger.py and run it.", "prompt_id": "p1"},
        used("t1", "Bash", {"command": "mkdir -p data"}, SILENT),
        used("t2", "Bash", {"command": "python3 ledger.py"}, f"Exit code 1\n{ERROR}", "PostToolUseFailure"),
        used("t3", "Write", {"file_path": FILE, "content": WRITTEN["content"]}, WRITTEN),
        used("t4", "Bash", {"command": "python3 ledger.py"}, {**SILENT, "stdout": "balance 42"}),
        used("t5", "Read", {"file_path": FILE}, READ),
        used("t6", MEMORY, {"query": "ledger"}, "Nothing is stored."),
        {"hook_event_name": "Stop", "last_assistant_message": "It prints 42.", "prompt_id": "p1"},
        {"hook_event_name": "UserPromptSubmit", "prompt": "We use Postgres 16.", "prompt_id": "p2"},
        {"hook_event_name": "Stop", "last_assistant_message": "Noted.", "prompt_id": "p2"},
        {"hook_event_name": "SessionEnd", "reason": "exit"},
    ]


def claude_transcript() -> Transcript:
    shown = "1\tprint('balance', 42)"
    return (
        Transcript("recorded")
        .user("u1", "Write ledger.py and run it.", promptId="p1")
        .answer("a1", "m1", text("I look first."), stop_reason="tool_use")
        .answer("a2", "m1", call("t1", command="mkdir -p data"))
        .user("r1", result("t1", "", is_error=False), toolUseResult=SILENT)
        .answer("a3", "m2", text("Now I run it."), call("t2", command="python3 ledger.py"))
        .user("r2", result("t2", f"Exit code 1\n{ERROR}", is_error=True), toolUseResult=f"Error: {ERROR}")
        .answer("a4", "m3", call("t3", "Write", file_path=FILE, content=WRITTEN["content"]))
        .user("r3", result("t3", f"File created successfully at: {FILE}"), toolUseResult=WRITTEN)
        .answer("a5", "m4", call("t4", command="python3 ledger.py"))
        .user("r4", result("t4", "balance 42"), toolUseResult={**SILENT, "stdout": "balance 42"})
        .answer("a6", "m5", call("t5", "Read", file_path=FILE))
        .user("r5", result("t5", shown), toolUseResult=READ)
        .answer("a7", "m6", text("I ask."), call("t6", MEMORY, query="ledger"))
        .user("r6", result("t6", "Nothing is stored."), toolUseResult="Nothing is stored.")
        .answer("a8", "m7", text("It prints 42."))
        .user("u2", "We use Postgres 16.", promptId="p2")
        .answer("a9", "m8", text("Noted."))
    )


def test_claude_code(import_from: Import, actor: Actor, tmp_path: Path) -> None:
    capture(actor, "claude-code", "live", claude_events())
    transcript = claude_transcript()
    for record in transcript.records:
        record["cwd"] = ROOT
    import_from("claude-code", transcript.write(tmp_path))
    messages, observations, session = stored("live")
    assert (len(messages), len(observations)) == (9, 5)
    assert session == (ROOT, "completed", "Asked: Write ledger.py and run it. Last answer: Noted.", "")
    assert [entry[1:3] for entry in observations] == [
        ("tool_use", "success"),
        ("error", "error"),
        ("tool_use", "success"),
        ("discovery", "success"),
        ("tool_use", "success"),
    ]
    assert stored("recorded") == (messages, observations, session)


@pytest.mark.usefixtures("learning")
def test_what_goes_on_after_its_import_is_learned(import_from: Import, tmp_path: Path) -> None:
    transcript = Transcript("recorded").user("u1", "Begin the till.").answer("a1", "m1", text("It runs."))
    import_from("claude-code", transcript.write(tmp_path))
    assert Session.objects.get().summary == "Asked: Begin the till. Last answer: It runs."
    QueueMessage.objects.all().delete()  # its task is done
    transcript.user("u2", "We use Postgres 16 for the till.").answer("a2", "m2", text("Noted."))
    import_from("claude-code", transcript.write(tmp_path))
    assert Session.objects.get().summary == "Asked: Begin the till. Last answer: Noted."
    assert [message.key for message in QueueMessage.objects.all() if "consolidate" in message.key]
    SessionManager().consolidate_session(Session.objects.get().pk)
    assert [fact.fact_text for fact in Fact.objects.all_versions()] == ["We use Postgres 16 for the till."]


def test_the_start_after_an_import_tells_of_it(import_from: Import, actor: Actor, tmp_path: Path) -> None:
    transcript = Transcript("recorded").user("u1", "Begin the till.").answer("a1", "m1", text("It runs."))
    import_from("claude-code", transcript.write(tmp_path))
    event = {"hook_event_name": "SessionStart", "session_id": "next", "cwd": "/srv/till"}
    answer = IngestEngine().ingest(events=[event], actor=actor, client="claude-code", answered=True)
    assert "Asked: Begin the till. Last answer: It runs." in json.dumps(answer)


# ---- Codex -----------------------------------------------------------------------------------------


def codex_events() -> list[Event]:
    def used(uid: str, command: str, response: str) -> Event:
        one = {"hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_use_id": uid, "turn_id": "p1"}
        return {**one, "tool_input": {"command": command}, "tool_response": response}

    return [
        {"hook_event_name": "SessionStart", "source": "startup", "model": "gpt-x"},
        {"hook_event_name": "UserPromptSubmit", "prompt": "Run the ledger.", "turn_id": "p1"},
        used("c1", "touch ledger.py", ""),
        used("c2", "python3 ledger.py", ERROR),
        used("c3", "python3 ledger.py", "balance 42"),
        {"hook_event_name": "Stop", "last_assistant_message": "It prints 42.", "turn_id": "p1"},
        {"hook_event_name": "SessionEnd", "reason": "exit"},
    ]


def codex_rollout(folder: Path) -> Path:
    def ran(second: int, uid: str, command: str, code: int, output: str) -> list[str]:
        arguments = json.dumps({"cmd": command})
        done = {"type": "CommandExecution", "id": uid, "command": ["/bin/bash", "-lc", command]}
        done |= {"exit_code": code, "aggregated_output": output}
        called = {"type": "function_call", "name": "exec_command", "call_id": uid, "arguments": arguments}
        head = f"Chunk ID: 5f\nWall time: 0.0 seconds\nProcess exited with code {code}\nOutput:\n"
        return [
            item(second, "response_item", **called),
            item(second, "event_msg", type="item_completed", item=done),
            item(second, "response_item", type="function_call_output", call_id=uid, output=head + output),
        ]

    lines = [
        item(0, "session_meta", id="recorded", session_id="recorded", cwd=ROOT, source="exec"),
        item(0, "turn_context", model="gpt-x"),
        item(1, "response_item", **words("user", f"<environment_context>{ROOT}</environment_context>")),
        item(2, "response_item", **words("user", "Run the ledger.")),
        item(3, "response_item", **words("assistant", "I make the file.")),
        *ran(4, "c1", "touch ledger.py", 0, ""),
        *ran(5, "c2", "python3 ledger.py", 1, ERROR),
        item(6, "response_item", **words("assistant", "Once more.")),
        *ran(7, "c3", "python3 ledger.py", 0, "balance 42"),
        item(8, "response_item", **words("assistant", "It prints 42.")),
    ]
    file = folder / "rollout.jsonl"
    file.write_text("\n".join(lines) + "\n")
    return file


def test_codex(import_from: Import, actor: Actor, tmp_path: Path) -> None:
    capture(actor, "codex", "live", codex_events())
    import_from("codex", codex_rollout(tmp_path))
    messages, observations, session = stored("live")
    assert (len(messages), len(observations)) == (5, 3)
    assert session == (ROOT, "completed", "Asked: Run the ledger. Last answer: It prints 42.", "gpt-x")
    assert [entry[2] for entry in observations] == ["success", "error", "success"]
    assert stored("recorded") == (messages, observations, session)


def test_a_rollout_of_a_subagent_is_a_part_of_its_session(
    import_from: Import, actor: Actor, tmp_path: Path
) -> None:
    def source(parent: str) -> dict[str, Any]:
        return {"subagent": {"thread_spawn": {"parent_thread_id": parent, "depth": 1}}}

    def write(thread: str, answer: str, **meta: Any) -> None:
        lines = [
            item(0, "session_meta", id=thread, cwd=ROOT, **meta),
            item(1, "response_item", **words("user", f"Order to {thread}.")),
            item(2, "response_item", **words("assistant", answer)),
        ]
        (tmp_path / f"rollout-{thread}.jsonl").write_text("\n".join(lines) + "\n")

    write("root", "Done.", source="exec", session_id="root")
    write("child", "Found.", source=source("root"))
    write("grandchild", "Read.", source=source("child"))
    write("named", "Told.", source=source("child"), session_id="root")
    import_from("codex", tmp_path)
    (session,) = Session.objects.all()
    rows = Message.objects.on(session.branch).fetch_all()
    assert {row.session_id for row in rows} == {session.key} == {"root"}
    assert sorted((row.agent_id, row.content) for row in rows) == [
        ("codex", "Done."),
        ("codex", "Order to root."),
        ("codex/child", "Found."),
        ("codex/grandchild", "Read."),
        ("codex/named", "Told."),
    ]
