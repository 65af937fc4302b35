"""Import of Claude Code transcripts: what is stored, what is ignored, and repeated imports."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from conversations.capture.engine import IngestEngine
from conversations.models import Conversation, Message
from memory.actors import Actor
from memory.models import Observation, Session
from tests.command_line import Day1, anywhere

pytestmark = pytest.mark.django_db(transaction=True)

SESSION = "6f1c2a5e-0b7d-4a55-9d5e-2f6f1d1f0a01"
KEY = "ghp_" + "a1B2c3D4e5F6" * 3


class Transcript:
    """File as the program writes it: each record points to the one before."""

    def __init__(self, session: str = SESSION, start: str = "") -> None:
        self.session, self.records, self.last = session, list[dict[str, Any]](), start

    def add(self, uuid: str, kind: str, message: Any = None, **more: Any) -> "Transcript":
        minute = len(self.records)
        record = {
            "parentUuid": self.last or None,
            "uuid": uuid,
            "type": kind,
            "sessionId": self.session,
            "timestamp": f"2026-10-05T09:{minute:02}:00.000Z",
            "cwd": "/srv/till",
            "version": "2.1.300",
            "isSidechain": False,
            "userType": "external",
        }
        self.records.append(record | ({"message": message} if message else {}) | more)
        self.last = uuid
        return self

    def user(self, uuid: str, content: Any, **more: Any) -> "Transcript":
        return self.add(uuid, "user", {"role": "user", "content": content}, **more)

    def answer(self, uuid: str, answer: str, *blocks: dict[str, Any], **more: Any) -> "Transcript":
        message = {"id": answer, "role": "assistant", "model": "claude-x", "content": list(blocks)}
        return self.add(uuid, "assistant", message, **more)

    def write(self, folder: Path, name: str = "") -> Path:
        file = folder / f"{name or self.session}.jsonl"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("".join(json.dumps(record) + "\n" for record in self.records))
        return file


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def call(uid: str, name: str = "Bash", **given: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": uid, "name": name, "input": given}


def result(uid: str, content: Any, **more: Any) -> list[dict[str, Any]]:
    return [{"type": "tool_result", "tool_use_id": uid, "content": content, **more}]


def story() -> Transcript:
    """Return a question, a call that fails, the same call that works, and an answer in two lines."""
    return (
        Transcript()
        .user("u1", "Why is the till's total wrong?")
        .answer("a1", "m1", {"type": "thinking", "thinking": "Rounding?", "signature": "x"})
        .answer("a2", "m1", text("I look at the tests."))
        .answer("a3", "m1", call("t1", command="pytest -q"))
        .user("r1", result("t1", f"Exit code 1\ntoken={KEY}", is_error=True), toolUseResult={"stdout": ""})
        .answer("a4", "m2", call("t2", command="pytest -q"))
        .user("r2", result("t2", [text("4 passed")]))
        .answer("a5", "m3", text("Cents were floats."))
        .answer("a6", "m3", text("They are integers now."))
    )


def said() -> list[tuple[str, str]]:
    return [(row.role, row.content) for row in sorted(messages(), key=lambda row: row.uid)]


def messages() -> list[Message]:
    return list(Message.objects.all_versions())


STORY = [
    ("user", "Why is the till's total wrong?"),
    ("tool_result", "Exit code 1\ntoken=[redacted: GitHub token]"),
    ("tool_result", "4 passed"),
    ("assistant", "Cents were floats.\n\nThey are integers now."),
]


@anywhere
def test_a_transcript_becomes_a_session_with_messages_and_observations(day1: Day1, tmp_path: Path) -> None:
    file = story().write(tmp_path)
    status, out, err = day1("import-from", "claude-code", str(file))
    assert (status, out) == (0, "new: 1 conversations, 4 messages, 2 observations; on main.\n")
    assert "1 secret was not stored: see [redacted: …] in the text." in err
    assert said() == STORY
    first, second = sorted(Observation.objects.all_versions(), key=lambda row: row.uid)
    assert (first.outcome, first.observation_type) == ("error", "error")
    assert (second.outcome, second.observation_type, second.parent_id) == ("success", "discovery", first.uid)
    assert second.message_id == next(row.uid for row in messages() if row.content == "4 passed")
    session = Session.objects.get()
    assert (session.key, session.project_path, session.agent_id) == (SESSION, "/srv/till", "claude-code")
    assert (session.status, Conversation.objects.all_versions().latest("rid").status) == ("completed",) * 2
    asked = min(messages(), key=lambda row: row.uid)
    assert asked.said_at == datetime(2026, 10, 5, 9, tzinfo=UTC)
    assert asked.metadata == {"source_id": "u1", "source": "claude-code"}


def test_a_second_import_adds_nothing_and_a_longer_one_only_what_is_new(day1: Day1, tmp_path: Path) -> None:
    transcript = story()
    file = transcript.write(tmp_path)
    day1("import-from", "claude-code", str(file))
    again = day1("import-from", "claude-code", str(file))
    assert (again[0], again[1]) == (0, "new: nothing; known already: 4; on main.\n")
    assert "not stored" not in again[2]
    transcript.user("u2", "And the receipts?").write(tmp_path)
    assert day1("import-from", "claude-code", str(file))[1] == (
        "new: 1 conversations, 1 messages; known already: 4; on main.\n"
    )
    assert said() == [*STORY, ("user", "And the receipts?")]
    assert len(Observation.objects.all_versions()) == 2


def test_what_was_deleted_is_not_imported_again(day1: Day1, tmp_path: Path) -> None:
    transcript = story()
    file = transcript.write(tmp_path)
    day1("import-from", "claude-code", str(file))
    first, second = sorted(messages(), key=lambda row: row.uid)[:2]
    for row in (first, second):
        assert day1("messages", "delete", str(row.uid))[1] == f"{row.uid}\tdeleted\n"
    assert day1("import-from", "claude-code", str(file))[1] == "new: nothing; known already: 4; on main.\n"
    listed = day1("messages", "deleted")[1]
    assert [row.split("\t")[0] for row in listed.splitlines()[1:]] == [str(second.uid), str(first.uid)]
    day1("sessions", "delete", SESSION)
    transcript.user("u2", "And the receipts?").write(tmp_path)
    status, _out, err = day1("import-from", "claude-code", str(file))
    assert (status, f"The session {SESSION} is deleted" in err) == (0, True)
    assert day1("conversations", "list", "--session", SESSION)[1] == ""


def test_a_dry_run_counts_and_writes_nothing(day1: Day1, tmp_path: Path) -> None:
    file = story().write(tmp_path)
    status, out, _ = day1("import-from", "claude-code", str(file), "--dry-run", "--format", "json")
    told = json.loads(out)
    assert (status, told["new"], told["dry_run"]) == (
        0,
        {"conversations": 1, "messages": 4, "observations": 2},
        True,
    )
    assert (messages(), list(Session.objects.all())) == ([], [])


@anywhere
def test_a_broken_line_is_reported_and_the_rest_imported(day1: Day1, tmp_path: Path) -> None:
    file = story().write(tmp_path)
    whole = file.read_bytes().splitlines(keepends=True)
    whole[5:5] = [b'{"half": \n', b'"\xff"\n', b"[]\n"]
    file.write_bytes(b"".join(whole) + b'{"uuid": "u9", "typ')
    status, out, err = day1("import-from", "claude-code", str(file))
    assert (status, out) == (1, "new: 1 conversations, 4 messages, 2 observations; on main.\n")
    # The test server may report a client that went away on the same stream.
    assert [line for line in err.splitlines() if line.startswith(str(file))] == [
        f"{file}:6: is not JSON",
        f"{file}:7: is not UTF-8",
        f"{file}:8: is no JSON object",
        f"{file}:13: is not JSON",
    ]
    assert said() == STORY


def test_a_record_of_another_form_is_named_and_the_rest_imported(day1: Day1, tmp_path: Path) -> None:
    transcript = story()
    record = transcript.records[0]
    deep: Any = "x"
    for _ in range(900):
        deep = [deep]
    odd: dict[str, Any] = {
        "its message is null, not an object": {**record, "uuid": "x1", "message": None},
        "its content is a number, not a text or a list": {**record, "uuid": "x2", "message": {"content": 42}},
        "part 1 has no type": {**record, "uuid": "x3", "message": {"content": {"a": 1}}},
        "part 2 is a list": {**record, "uuid": "x4", "message": {"content": [text("Kept."), deep]}},
        "its uuid is a number, not a text": {**record, "uuid": 42},
        "its uuid is empty": {**record, "uuid": ""},
        "has no message": {name: value for name, value in record.items() if name != "message"},
        "has no type": {"uuid": "x5"},
    }
    file = transcript.write(tmp_path)
    with file.open("a") as stream:
        stream.writelines(json.dumps(line) + "\n" for line in odd.values())
        stream.writelines("42\n" * 1200)
    status, out, err = day1("import-from", "claude-code", str(file), "--format", "json")
    answer = json.loads(out)
    assert (status, answer["broken"], len(answer["errors"])) == (1, 1208, 1000)
    first = len(transcript.records) + 1
    assert [(error["line"], error["reason"]) for error in answer["errors"][:8]] == [
        (number, fault) for number, fault in enumerate(odd, first)
    ]
    assert "208 more could not be read either." in err
    assert [one for one in said() if one not in STORY] == [("user", "Kept.")]


def test_a_chain_with_a_gap_goes_on_with_the_line_before(day1: Day1, tmp_path: Path) -> None:
    transcript = story()
    del transcript.records[6]  # the line that others point to
    day1("import-from", "claude-code", str(transcript.write(tmp_path)))
    assert said() == [one for one in STORY if one[1] != "4 passed"]


def test_what_the_program_said_is_not_the_persons(day1: Day1, tmp_path: Path) -> None:
    transcript = Transcript()
    for place, (words, more) in enumerate(
        (
            ("<command-name>/clear</command-name>", {}),
            ("<local-command-stdout>done</local-command-stdout>", {}),
            ("Reminder of the program", {"isMeta": True}),
            ("Summary of the talk", {"isCompactSummary": True, "isVisibleInTranscriptOnly": True}),
            ("[Request interrupted by user]", {}),
            ("A timer went off", {"origin": {"kind": "scheduled-trigger"}}),
            ("<day1-memory>\n- Tokens live 15 minutes.\n</day1-memory>", {}),
            ("Go on<system-reminder>Files changed</system-reminder>, please", {}),
            ("The code is <private>4711</private>.", {"origin": {"kind": "composer"}}),
        )
    ):
        transcript.user(f"u{place}", words, **more)
    transcript.add("x1", "assistant", {"id": "m", "model": "<synthetic>", "content": [text("No answer")]})
    transcript.answer("x2", "n", call("t1", "mcp__day1__memory_search", query="x"))
    transcript.user("x3", result("t1", "Tokens live 15 minutes."))
    day1("import-from", "claude-code", str(transcript.write(tmp_path)))
    assert said() == [("user", "Go on, please"), ("user", "The code is [private].")]
    assert not Observation.objects.all_versions().exists()


def test_the_way_leads_over_a_compaction(day1: Day1, tmp_path: Path) -> None:
    transcript = Transcript().user("u1", "Before.")
    transcript.add("b1", "system", subtype="compact_boundary", parentUuid=None, logicalParentUuid="u1")
    transcript.user("u2", "What happened so far", isCompactSummary=True).user("u3", "After.")
    day1("import-from", "claude-code", str(transcript.write(tmp_path)))
    assert said() == [("user", "Before."), ("user", "After.")]
    assert Session.objects.get().summary == "What happened so far"


def test_the_summary_of_the_last_compaction_is_that_of_the_session(day1: Day1, tmp_path: Path) -> None:
    """As Claude Code 2.1.197 writes it."""
    before = (
        "This session is being continued from a previous conversation that ran out of context. The summary"
    )
    after = (
        "If you need specific details from before compaction, read the full transcript at: /x.jsonl\nGo on."
    )
    transcript = Transcript().user("u1", "Before.")
    for number, words in enumerate(("We began.", "We moved the till.\n\nIt runs.")):
        summary = f"{before} below covers the earlier portion.\n\n{words}\n\n{after}"
        transcript.user(f"s{number}", summary, isCompactSummary=True, isVisibleInTranscriptOnly=True)
    day1("import-from", "claude-code", str(transcript.write(tmp_path)))
    assert Session.objects.get().summary == "We moved the till.\n\nIt runs."


def test_what_was_taken_back_is_left_out(day1: Day1, tmp_path: Path) -> None:
    transcript = Transcript().user("u1", "Start.").user("u2", "Wrong way.")
    transcript.last = "u1"
    transcript.user("u3", "Right way.")
    _, _, err = day1("import-from", "claude-code", str(transcript.write(tmp_path)))
    assert said() == [("user", "Start."), ("user", "Right way.")]
    assert "left out: 1 messages that were taken back\n" in err


def test_calls_that_were_made_at_once_are_all_there(day1: Day1, tmp_path: Path) -> None:
    transcript = Transcript().user("u1", "Look.").answer("a1", "m1", call("t1", command="ls"))
    transcript.answer("a2", "m1", call("t2", command="pwd"))
    transcript.last = "a1"
    transcript.user("r1", result("t1", "one"))
    transcript.last = "a2"
    transcript.user("r2", result("t2", "two"))
    day1("import-from", "claude-code", str(transcript.write(tmp_path)))
    assert [words for _, words in said()] == ["Look.", "one", "two"]


def test_a_resumed_session_is_not_stored_twice(day1: Day1, tmp_path: Path) -> None:
    story().write(tmp_path / "p", "old")
    resumed = story()
    for record in resumed.records:
        record["sessionId"] = "resumed"
    resumed.session = "resumed"
    resumed.user("u7", "Where were we?").write(tmp_path / "p", "anew")
    _, out, err = day1("import-from", "claude-code", str(tmp_path))
    assert out == "new: 2 conversations, 5 messages, 2 observations; on main.\n"
    assert "left out: 9 copies of another session's records\n" in err
    assert [row.session_id for row in messages() if row.content == "Where were we?"] == ["resumed"]


def test_a_subagent_speaks_under_a_name_of_its_own(day1: Day1, tmp_path: Path) -> None:
    story().write(tmp_path)
    order = Transcript().user("s1", "Find the rounding.", isSidechain=True)
    order.answer("s2", "m9", text("It is in till.py."), isSidechain=True)
    order.write(tmp_path / SESSION / "subagents", "agent-9c1")
    _, _, err = day1("import-from", "claude-code", str(tmp_path))
    (row,) = [row for row in messages() if row.agent_id == "claude-code/9c1"]
    assert (row.session_id, row.role, row.content) == (SESSION, "assistant", "It is in till.py.")
    assert "left out: 1 orders to subagents\n" in err  # no person wrote it


def hook_events() -> list[dict[str, Any]]:
    """Return what the hooks of the story send, with the program's own ids of calls."""
    shell = {"tool_name": "Bash", "tool_input": {"command": "pytest -q"}}
    done = {"stdout": "4 passed", "stderr": ""}
    answer = "Cents were floats.\n\nThey are integers now."
    return [
        {"hook_event_name": "SessionStart"},
        {"hook_event_name": "UserPromptSubmit", "prompt": "Why is the till's total wrong?", "prompt_id": "p"},
        {"hook_event_name": "PostToolUseFailure", "tool_use_id": "t1", "error": "Exit code 1", **shell},
        {"hook_event_name": "PostToolUse", "tool_use_id": "t2", "tool_response": done, **shell},
        {"hook_event_name": "Stop", "last_assistant_message": answer, "prompt_id": "p"},
    ]


def capture(events: list[dict[str, Any]], actor: Actor) -> None:
    whole = [{"session_id": SESSION, "cwd": "/srv/till", **event} for event in events]
    IngestEngine().ingest(events=whole, actor=actor, client="claude-code")


LIVE = [STORY[0], ("tool_result", "Exit code 1"), STORY[2], STORY[3]]


def test_what_was_captured_live_is_not_doubled(day1: Day1, tmp_path: Path, actor: Actor) -> None:
    capture(hook_events(), actor)  # a little later than the program writes the same
    file = str(story().write(tmp_path))
    _, out, err = day1("import-from", "claude-code", file)
    assert out == "new: nothing; on main.\n"
    assert "left out: 4 captured already while it was said\n" in err
    assert "left out: 1 texts between the calls of a turn\n" in err
    assert said() == LIVE
    assert len(Observation.objects.all_versions()) == 2


@pytest.mark.parametrize("missing", [1, 2, 3, 4])
def test_what_the_hooks_missed_is_filled_in_once(
    day1: Day1, tmp_path: Path, actor: Actor, missing: int
) -> None:
    events = hook_events()
    del events[missing]
    capture(events, actor)
    file = str(story().write(tmp_path))
    day1("import-from", "claude-code", file)
    roles = [role for role, _ in said()]
    assert (roles.count("user"), roles.count("tool_result")) == (1, 2)
    assert [words for _, words in said()].count(STORY[3][1]) == 1
    assert len(Observation.objects.all_versions()) == 2
    assert day1("import-from", "claude-code", file)[1].startswith("new: nothing;")


def test_two_equal_prompts_of_which_one_was_captured_are_two(
    day1: Day1, tmp_path: Path, actor: Actor
) -> None:
    capture([{"hook_event_name": "UserPromptSubmit", "prompt": "Go on.", "prompt_id": "p"}], actor)
    file = Transcript().user("u1", "Go on.").answer("a1", "m1", text("Done.")).user("u2", "Go on.")
    day1("import-from", "claude-code", str(file.write(tmp_path)))
    assert sorted(said()) == [("assistant", "Done."), ("user", "Go on."), ("user", "Go on.")]


def test_a_session_belongs_to_the_remote_of_its_folder(day1: Day1, tmp_path: Path) -> None:
    (tmp_path / "till" / ".git").mkdir(parents=True)
    (tmp_path / "till" / "src").mkdir()
    (tmp_path / "till" / ".git" / "config").write_text(
        '[remote "origin"]\n\turl = https://me:secret@git.example/shop/till.git\n'
    )
    transcript = story()
    for record in transcript.records:
        record["cwd"] = str(tmp_path / "till" / "src")
    day1("import-from", "claude-code", str(transcript.write(tmp_path / "p")))
    assert Session.objects.get().project_path == "git.example/shop/till"


def test_what_is_no_transcript_is_an_error(day1: Day1, tmp_path: Path) -> None:
    file = tmp_path / "other.jsonl"
    file.write_text('{"role": "user", "text": "Hello"}\n')
    status, out, err = day1("import-from", "claude-code", str(file))
    assert (status, out) == (1, "")
    assert err.splitlines()[-1] == (
        f"invalid: Nothing in {file} could be read as claude-code: nothing was imported."
    )
    file.write_text("")
    assert day1("import-from", "claude-code", str(file))[:2] == (0, "new: nothing; on main.\n")
    assert day1("import-from", "claude-code", str(tmp_path / "none"))[0] == 2


def test_since_leaves_out_what_is_older(day1: Day1, tmp_path: Path) -> None:
    file = story().write(tmp_path)
    status, out, err = day1("import-from", "claude-code", str(file), "--since", "1")
    assert (status, out) == (0, "new: nothing; on main.\n")
    assert "left out: 1 conversations that are older\n" in err
