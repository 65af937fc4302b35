"""Import of Gemini CLI's sessions: alone it gives what live capture gives, after it nothing more."""

import json
import os
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from conversations.capture.engine import IngestEngine
from conversations.capture.transcripts import records
from conversations.models import Conversation, Message
from memory.actors import Actor
from memory.models import Observation, Session
from tests.command_line import Day1, anywhere

pytestmark = pytest.mark.django_db(transaction=True)

SESSION = "8c8df998-764a-4819-9f8b-838bf7aad4c7"
TOLD = "<hook_context>&lt;day1-memory&gt;\n- Totals were floats once.\n&lt;/day1-memory&gt;</hook_context>"
CONTEXT = (
    "<session_context>\nThis is the Gemini CLI.\n- **Workspace Directories:**\n  - {folder}\n- **Directory"
)


class Chat:
    """File as the program writes it: a message comes again when its calls are done."""

    def __init__(
        self, session: str = SESSION, kind: str = "main", start: str = "2026-10-05T09:00:00"
    ) -> None:
        self.at = datetime.fromisoformat(start).replace(tzinfo=UTC)
        header = {"sessionId": session, "projectHash": "a6bc", "startTime": self.time(), "kind": kind}
        self.session, self.records = session, [header]

    def time(self) -> str:
        self.at += timedelta(seconds=1)
        return self.at.isoformat().replace("+00:00", "Z")

    def add(self, uid: str, kind: str, content: Any, **more: Any) -> "Chat":
        message = {"id": uid, "timestamp": self.time(), "type": kind, "content": content, **more}
        self.records += [message, {"$set": {"lastUpdated": self.time()}}]
        return self

    def user(self, uid: str, *texts: str) -> "Chat":
        return self.add(uid, "user", [{"text": text} for text in texts])

    def answer(self, uid: str, text: str, *calls: dict[str, Any]) -> "Chat":
        self.add(uid, "gemini", text, model="gemini-x")
        if calls:
            done = {"toolCalls": [{**call, "timestamp": self.time()} for call in calls]}
            self.records.append({**self.records[-2], **done})
            responses = [part for call in calls for part in call["result"]]
            self.add(f"{uid}-results", "user", responses)
        return self

    def rewrite(self, *messages: dict[str, Any]) -> "Chat":
        self.records.append({"$set": {"messages": list(messages)}})
        return self

    def write(self, folder: Path, name: str = "", root: str = "/srv/till") -> Path:
        file = folder / "till" / "chats" / f"{name or f'session-2026-10-05T09-00-{self.session[:8]}'}.jsonl"
        file.parent.mkdir(parents=True, exist_ok=True)
        if root:
            (folder / "till" / ".project_root").write_text(root)
        file.write_text("".join(json.dumps(record) + "\n" for record in self.records))
        return file


def call(uid: str, name: str, output: Any, status: str = "success", **args: Any) -> dict[str, Any]:
    response = {"error" if status == "error" else "output": output}
    part = {"functionResponse": {"id": uid, "name": name, "response": response}}
    return {"id": uid, "name": name, "args": args, "status": status, "result": [part]}


def shell(uid: str, command: str, output: str) -> dict[str, Any]:
    return call(uid, "run_shell_command", wrap(output), command=command)


def wrap(output: str) -> str:
    return f"<untrusted_context>\nOutput: {output}\nProcess Group PGID: 10737\n</untrusted_context>"


FAILURE = "ModuleNotFoundError: No module named 'x'\nExit Code: 1"


def story() -> Chat:
    """Return two prompts, of which the first fails, is repaired and asks memory."""
    return (
        Chat()
        .rewrite({"id": "c", "type": "user", "content": [{"text": CONTEXT.format(folder="/srv/till")}]})
        .user("u1", f"{TOLD}\n\nWhy is the till's total wrong?")
        .answer("a1", "I look at the tests.", shell("run__1", "pytest -q", FAILURE))
        .answer("a2", "", shell("run__2", "pytest -q", "4 passed"))
        .answer("a3", "", call("mcp__3", "mcp_day1_memory_search", "Totals were floats.", query="total"))
        .answer("a4", "Cents were floats.")
        .user("u2", "And the receipts?", TOLD)
        .answer(
            "a5", "I read them.", call("read__4", "read_file", "None.", "error", file_path="/srv/till/r.py")
        )
        .answer("a6", "There are none.")
    )


STORY = [
    ("user", "Why is the till's total wrong?"),
    ("tool_result", f"Output: {FAILURE}"),
    ("tool_result", "Output: 4 passed"),
    ("assistant", "I look at the tests.\nCents were floats."),
    ("user", "And the receipts?"),
    ("tool_result", "None."),
    ("assistant", "I read them.\nThere are none."),
]
OUTCOMES = [
    ("run_shell_command", "error"),
    ("run_shell_command", "success"),
    ("read_file", "error"),
]


def live_events() -> list[dict[str, Any]]:
    """Return what the program's hooks send of the story: no ids of calls, an answer in pieces."""

    def tool(name: str, **given: Any) -> dict[str, Any]:
        return {"hook_event_name": "AfterTool", "tool_name": name, "tool_input": given}

    def done(output: str) -> dict[str, Any]:
        return {"tool_response": {"llmContent": output, "returnDisplay": "shown", "error": None}}

    first = "Why is the till's total wrong?"
    return [
        {"hook_event_name": "SessionStart", "source": "startup"},
        {"hook_event_name": "BeforeAgent", "prompt": first},
        tool("run_shell_command", command="pytest -q") | done(wrap(FAILURE)),
        tool("run_shell_command", command="pytest -q") | done(wrap("4 passed")),
        tool("mcp_day1_memory_search", query="total") | done("Totals were floats."),
        {
            "hook_event_name": "AfterAgent",
            "prompt": first,
            "prompt_response": "I look at the te sts.\nCents w ere floats.",
        },
        {"hook_event_name": "BeforeAgent", "prompt": "And the receipts?"},
        tool("read_file", file_path="/srv/till/r.py") | {"tool_response": {"error": "None."}},
        {
            "hook_event_name": "AfterAgent",
            "prompt": "And the receipts?",
            "prompt_response": "I read them.\nThere are none.",
        },
    ]


def capture(events: Sequence[dict[str, Any]], actor: Actor) -> None:
    for number, event in enumerate(events):  # the nonce is what tells two equal calls apart
        own = {"client": "gemini", "root": "/srv/till", "nonce": str(number), "at": 1790000000 + number}
        whole = {"session_id": SESSION, "cwd": "/srv/till", "day1": own, **event}
        IngestEngine().ingest(events=[whole], actor=actor, client="gemini")


def said() -> list[tuple[str, str]]:
    rows = sorted(Message.objects.all_versions(), key=lambda row: row.uid)
    return [(row.role, row.content) for row in rows]


def outcomes() -> list[tuple[str, str]]:
    rows = sorted(Observation.objects.all_versions(), key=lambda row: row.uid)
    return [(row.tool_name, row.outcome) for row in rows]


@anywhere
def test_alone_it_is_what_live_capture_would_have_brought(day1: Day1, tmp_path: Path, actor: Actor) -> None:
    story().write(tmp_path)
    status, out, err = day1("import-from", "gemini", str(tmp_path))
    assert (status, out) == (0, "new: 1 conversations, 7 messages, 3 observations; on main.\n")
    assert "left out: 1 calls of Day1 itself\n" in err
    assert (said(), outcomes()) == (STORY, OUTCOMES)
    session = Session.objects.get()
    assert (session.key, session.project_path, session.agent_id) == (SESSION, "/srv/till", "gemini")
    (talk,) = Conversation.objects.all_versions().filter(deleted=False).order_by("rid")[:1]
    assert (talk.agent_id, talk.session_id) == ("gemini", SESSION)
    models = {row.model for row in Message.objects.all_versions().filter(role="assistant")}
    assert models == {"gemini-x"}


def test_live_capture_brings_the_same(actor: Actor) -> None:
    capture(live_events(), actor)
    pieces = [(role, text.replace("te sts", "tests").replace("w ere", "were")) for role, text in said()]
    assert (pieces, outcomes()) == (STORY, OUTCOMES)
    assert Session.objects.get().project_path == "/srv/till"


def test_after_live_capture_it_adds_nothing(day1: Day1, tmp_path: Path, actor: Actor) -> None:
    capture(live_events(), actor)
    before = said()
    story().write(tmp_path)
    status, out, err = day1("import-from", "gemini", str(tmp_path))
    assert (status, out) == (0, "new: nothing; on main.\n")
    assert "left out: 7 captured already while it was said\n" in err
    assert (said(), outcomes()) == (before, OUTCOMES)


@pytest.mark.parametrize("missing", [1, 2, 3, 5, 7, 8])
def test_what_the_hooks_missed_is_filled_in_once(
    day1: Day1, tmp_path: Path, actor: Actor, missing: int
) -> None:
    events = live_events()
    del events[missing]
    capture(events, actor)
    file = str(story().write(tmp_path))
    assert day1("import-from", "gemini", file)[1].startswith("new: 1 conversations, 1 messages")
    assert (len(said()), sorted(outcomes())) == (len(STORY), sorted(OUTCOMES))
    assert day1("import-from", "gemini", file)[1].startswith("new: nothing;")


def test_a_second_import_adds_nothing_and_a_longer_one_only_what_is_new(day1: Day1, tmp_path: Path) -> None:
    chat = story()
    file = str(chat.write(tmp_path))
    day1("import-from", "gemini", file)
    assert day1("import-from", "gemini", file)[:2] == (0, "new: nothing; known already: 7; on main.\n")
    chat.user("u3", "Go on.").write(tmp_path)
    out = day1("import-from", "gemini", file)[1]
    assert out == "new: 1 conversations, 1 messages; known already: 7; on main.\n"
    assert said() == [*STORY, ("user", "Go on.")]


def test_an_answer_that_goes_on_is_taken_when_the_turn_is_over(day1: Day1, tmp_path: Path) -> None:
    now = datetime.now(UTC).replace(microsecond=0, tzinfo=None).isoformat()
    chat = Chat(start=now).user("u1", "Go on.").answer("a1", "First I look.", shell("t1", "ls", "till.py"))
    file = str(chat.write(tmp_path))
    _, out, err = day1("import-from", "gemini", file)
    assert out == "new: 1 conversations, 2 messages, 1 observations; on main.\n"
    assert "left out: 1 answers that are not complete yet\n" in err
    chat.answer("a2", "It is there.").write(tmp_path)
    day1("import-from", "gemini", file)
    assert said() == [
        ("user", "Go on."),
        ("tool_result", "Output: till.py"),
        ("assistant", "First I look.\nIt is there."),
    ]


def test_what_the_program_says_in_a_persons_place_is_left_out(day1: Day1, tmp_path: Path) -> None:
    chat = Chat()
    for number, text in enumerate(
        (
            TOLD,
            "Here is the user's editor context as a JSON object. This is for your information only.",
            "I ran the following shell command:\n```sh\nls\n```",
            "System: Potential loop detected. Details: x",
            "Please continue.",
            "<day1-memory>\n- Tokens live 15 minutes.\n</day1-memory>",
        )
    ):
        chat.user(f"u{number}", text)
    chat.add("i1", "info", "Update available").add("e1", "error", "quota")
    chat.add("a1", "gemini", [{"text": "I think.", "thought": True}, {"text": "Done."}])
    chat.user("u9", "The code is <private>4711</private>.")
    _, _, err = day1("import-from", "gemini", str(chat.write(tmp_path)))
    assert said() == [("assistant", "Done."), ("user", "The code is [private].")]
    assert "left out: 8 words of the program\n" in err


def test_a_history_that_is_written_again_is_taken_once(day1: Day1, tmp_path: Path) -> None:
    chat = story()
    context = {"text": CONTEXT.format(folder="/srv/till")}
    again = [("k0", "user", [context]), ("k1", "user", [{"text": "Why is the till's total wrong?"}])]
    for uid, kind, content in [*again, ("k2", "gemini", [{"text": "Cents were floats."}])]:
        chat.add(uid, kind, content)
    chat.rewrite({"id": "k0", "type": "user", "content": [context]})
    chat.rewrite({"id": "s1", "type": "user", "content": [{"text": "<state_snapshot>x</state_snapshot>"}]})
    chat.user("u3", "Thank you.")
    _, _, err = day1("import-from", "gemini", str(chat.write(tmp_path)))
    assert said() == [*STORY, ("user", "Thank you.")]
    assert "left out: 3 copies of messages\n" in err


def test_a_turn_that_goes_on_after_an_import_is_not_taken_twice(day1: Day1, tmp_path: Path) -> None:
    chat = Chat().user("u1", "Start.").answer("a1", "I look.")
    day1("import-from", "gemini", str(chat.write(tmp_path)))
    more = chat.user("u2", "Please continue.").answer("a2", "It is done.").user("u3", "Thanks.")
    day1("import-from", "gemini", str(more.write(tmp_path)))
    assert said() == [("user", "Start."), ("assistant", "I look."), ("user", "Thanks.")]


def test_what_was_taken_back_is_left_out(day1: Day1, tmp_path: Path) -> None:
    chat = Chat().user("u1", "Start.").user("u2", "Wrong way.").answer("a1", "As you wish.")
    chat.records.append({"$rewindTo": "u2"})
    _, _, err = day1("import-from", "gemini", str(chat.user("u3", "Right way.").write(tmp_path)))
    assert said() == [("user", "Start."), ("user", "Right way.")]
    assert "left out: 2 messages that were taken back\n" in err


def test_a_file_of_an_older_version_is_one_object(day1: Day1, tmp_path: Path) -> None:
    header, *rest = story().records
    messages = [one for one in rest if "id" in one]
    file = tmp_path / "a6bc" / "chats" / "session-2025-10-05T09-00-8c8df998.json"
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps({**header, "messages": messages, "summary": "The till's total"}, indent=2))
    (tmp_path / "a6bc" / "logs.json").write_text("[]")  # not a session
    assert day1("import-from", "gemini", str(tmp_path))[0] == 0
    assert said() == STORY
    assert Conversation.objects.all_versions().latest("rid").title == "The till's total"


def test_calls_of_a_subagent_stand_among_those_of_its_session(day1: Day1, tmp_path: Path) -> None:
    story().write(tmp_path)
    nested = Chat("sub-1", "subagent", start="2026-10-05T09:00:04").user("s1", "Find the rounding.")
    nested.answer("s2", "I search.", call("grep__1", "grep_search", "till.py:3", pattern="round"))
    nested.answer("s3", "It is in till.py.").write(tmp_path, f"{SESSION}/sub-1")
    assert day1("import-from", "gemini", str(tmp_path))[1] == (
        "new: 1 conversations, 8 messages, 4 observations; on main.\n"
    )
    assert [role for role, _ in said()].count("tool_result") == 4
    assert said()[0] == STORY[0]
    assert ("tool_result", "till.py:3") in said()
    assert not any("rounding" in text for _, text in said())


@pytest.mark.parametrize("noted", ["root", "context", "nowhere"])
def test_a_session_belongs_to_the_remote_of_its_folder(day1: Day1, tmp_path: Path, noted: str) -> None:
    shop = tmp_path / "shop"
    (shop / ".git").mkdir(parents=True)
    (shop / ".git" / "config").write_text('[remote "origin"]\n\turl = git@git.example:shop/till.git\n')
    chat = Chat()
    if noted == "context":
        chat.rewrite({"id": "c", "type": "user", "content": [{"text": CONTEXT.format(folder=shop)}]})
    chat.user("u1", "Go on.")
    chat.write(tmp_path / "tmp", root=str(shop) if noted == "root" else "")
    day1("import-from", "gemini", str(tmp_path / "tmp"))
    assert Session.objects.get().project_path == ("" if noted == "nowhere" else "git.example/shop/till")


def test_a_broken_line_is_reported_and_the_rest_imported(day1: Day1, tmp_path: Path) -> None:
    file = story().write(tmp_path)
    whole = file.read_bytes().splitlines(keepends=True)
    deep = b"[" * 200_000 + b"\n"
    odd = b'{"id": 7, "type": "user"}\n'
    odd += b'{"id": "x", "type": "gemini", "toolCalls": [{"status": "success", "args": 1}, 5]}\n'
    odd += b'{"id": "y", "type": "user", "content": null}\n{"id": "z", "type": "user", "content": {"a": 1}}\n'
    odd += b'{"$set": []}\n{"foo": 1}\n{"$later": 1}\n'
    whole[5:5] = [b'{"half": \n', b'"\xff"\n', b"[]\n", deep, odd]
    file.write_bytes(b"".join(whole) + b'{"id": "u9", "typ')
    status, _, err = day1("import-from", "gemini", str(file))
    assert status == 1
    assert [line for line in err.splitlines() if line.startswith(str(file))] == [
        f"{file}:6: is not JSON",
        f"{file}:7: is not UTF-8",
        f"{file}:8: is no JSON object",
        f"{file}:9: is nested too deeply",
        f"{file}:10: its id is a number, not a text",
        f"{file}:11: call 2 is a number",
        f"{file}:12: its content is null, not a text or a list",
        f"{file}:13: part 1 has neither text nor anything else that is known",
        f"{file}:14: its $set is a list, not an object",
        f"{file}:15: has no sessionId",
        f"{file}:{len(whole) + 7}: is not JSON",
    ]
    assert [one for one in said() if one in STORY] == STORY
    assert len(said()) == len(STORY) + 1  # the odd call


def test_what_is_too_large_or_no_file_is_left_out_and_said(
    day1: Day1, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(records, "MAX_LINE_BYTES", 2000)
    chat = Chat().user("u1", "Start.").user("u2", "x" * 9000).user("u3", "End.")
    file = chat.write(tmp_path)
    huge = file.with_name("session-huge.jsonl")
    huge.touch()
    os.truncate(huge, records.MAX_FILE_BYTES + 1)  # takes no room
    os.mkfifo(file.with_name("session-pipe.jsonl"))
    file.with_name("session-folder.jsonl").mkdir()
    status, _, err = day1("import-from", "gemini", str(tmp_path))
    assert (status, said()) == (1, [("user", "Start."), ("user", "End.")])
    assert f"{file}:4: is longer than" in err
    assert "left out: 1 files of more than 1024 MiB\n" in err
    assert "left out: 2 names that are no file\n" in err
    assert day1("import-from", "gemini", str(huge))[0] == 1


def test_what_is_no_session_is_an_error(day1: Day1, tmp_path: Path) -> None:
    file = tmp_path / "other.jsonl"
    file.write_text('{"role": "user", "text": "Hello"}\n')
    status, out, err = day1("import-from", "gemini", str(file))
    assert (status, out) == (1, "")
    assert err.splitlines()[-1] == (
        f"invalid: Nothing in {file} could be read as gemini: nothing was imported."
    )
    assert not Session.objects.exists()
