"""Import of Codex sessions, ChatGPT and Claude exports, and instruction files."""

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from conversations.models import Conversation, Message
from memory.actors import Actor
from memory.engines.facts.engine import FactEngine
from memory.models import Fact, Observation, Session
from tests.command_line import Day1

pytestmark = pytest.mark.django_db(transaction=True)


def said() -> list[tuple[str, str]]:
    rows = sorted(Message.objects.all_versions(), key=lambda row: row.uid)
    return [(row.role, row.content) for row in rows]


# ---- Codex -----------------------------------------------------------------------------------------


def item(second: int, kind: str, **payload: Any) -> str:
    return json.dumps({"timestamp": f"2026-10-06T10:00:{second:02}Z", "type": kind, "payload": payload})


def words(role: str, text: str) -> dict[str, Any]:
    kind = "output_text" if role == "assistant" else "input_text"
    return {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}


def rollout(folder: Path) -> Path:
    file = folder / "2026" / "10" / "06" / "rollout-2026-10-06T10-00-00-0199.jsonl"
    file.parent.mkdir(parents=True)
    failed = json.dumps({"output": "no such table", "metadata": {"exit_code": 1}})
    lines = [
        item(0, "session_meta", id="0199", cwd="/srv/till", cli_version="0.170.0"),
        item(1, "turn_context", model="codex-x"),
        item(2, "response_item", **words("developer", "Be brief.")),
        item(3, "response_item", **words("user", "<environment_context>cwd</environment_context>")),
        item(4, "response_item", **words("user", "List the tables.")),
        item(4, "event_msg", type="user_message", message="List the tables."),
        item(5, "response_item", type="reasoning", summary=[]),
        item(
            6,
            "response_item",
            type="function_call",
            name="shell",
            call_id="c1",
            arguments='{"command": ["sqlite3", "till.db"]}',
        ),
        item(7, "response_item", type="function_call_output", call_id="c1", output=failed),
        item(8, "response_item", **words("assistant", "There are none.")),
        item(9, "something_new", whatever=1),
    ]
    file.write_text("\n".join(lines) + "\n")
    return file


def test_a_rollout_of_codex_is_taken_once(day1: Day1, tmp_path: Path) -> None:
    rollout(tmp_path)
    status, out, _ = day1("import-from", "codex", str(tmp_path))
    assert (status, out) == (0, "new: 1 conversations, 3 messages, 1 observations; on main.\n")
    assert said() == [
        ("user", "List the tables."),
        ("tool_result", "no such table"),
        ("assistant", "There are none."),
    ]
    observation = Observation.objects.all_versions().get()
    assert (observation.tool_name, observation.outcome, observation.agent_id) == ("shell", "error", "codex")
    assert (Session.objects.get().key, Session.objects.get().project_path) == ("0199", "/srv/till")
    assert day1("import-from", "codex", str(tmp_path))[1] == "new: nothing; known already: 3; on main.\n"


def test_a_rollout_with_events_only_is_read_too(day1: Day1, tmp_path: Path) -> None:
    file = tmp_path / "rollout.jsonl"
    lines = [
        item(1, "event_msg", type="user_message", message="Hello ☕"),
        item(2, "event_msg", type="token_count", info={}),
        item(3, "event_msg", type="agent_message", message="Good day."),
    ]
    file.write_text("\n".join(lines))
    assert day1("import-from", "codex", str(file))[0] == 0
    assert said() == [("user", "Hello ☕"), ("assistant", "Good day.")]


def test_a_record_of_codex_of_another_form_is_named_and_the_rest_imported(day1: Day1, tmp_path: Path) -> None:
    file = tmp_path / "rollout.jsonl"
    message = {"type": "message", "role": "user"}
    lines = {
        item(1, "response_item", **words("user", "Hello.")): "",
        '{"timestamp": "2026-10-06T10:00:00Z", "type": "response_item", "payload": null}': (
            "its payload is null, not an object"
        ),
        item(2, "response_item", **message, content=42): "its content is a number, not a text or a list",
        item(3, "response_item", **message, content={"a": 1}): "part 1 has no type",
        item(4, "response_item", **message): "has no content",
        item(5, "response_item", type="function_call", name="shell"): "has no call_id",
        item(6, "event_msg", type="agent_message", message=[]): "its message is a list, not a text",
        '{"foo": 1}': "has no type",
        "42": "is no JSON object",
        '{"id": "0199", "instructions": null}': "",  # the head of an old rollout
        item(7, "response_item", **words("assistant", "Good day.")): "",
    }
    file.write_text("\n".join(lines))
    status, out, _ = day1("import-from", "codex", str(file), "--format", "json")
    named = [(error["line"], error["reason"]) for error in json.loads(out)["errors"]]
    assert status == 1
    assert named == [(number, fault) for number, fault in enumerate(lines.values(), 1) if fault]
    assert said() == [("user", "Hello."), ("assistant", "Good day.")]


def call_of(name: str, uid: str, **arguments: Any) -> dict[str, Any]:
    return {"type": "function_call", "name": name, "call_id": uid, "arguments": json.dumps(arguments)}


def output_of(uid: str, output: Any, kind: str = "function_call_output") -> dict[str, Any]:
    return {"type": kind, "call_id": uid, "output": output}


def completed(second: int, kind: str, uid: str, **fields: Any) -> str:
    return item(second, "event_msg", type="item_completed", item={"type": kind, "id": uid, **fields})


def import_codex(day1: Day1, folder: Path, *lines: str) -> list[tuple[str, str, str]]:
    """Return name, outcome and content of the calls of a rollout."""
    file = folder / "rollout.jsonl"
    file.write_text("\n".join([item(0, "session_meta", id="0199", cwd="/srv/till"), *lines]))
    assert day1("import-from", "codex", str(file))[0] == 0
    texts = {row.uid: row.content for row in Message.objects.all_versions()}
    seen = sorted(Observation.objects.all_versions(), key=lambda row: row.uid)
    return [(row.tool_name, row.outcome, texts[row.message_id]) for row in seen]


@pytest.mark.parametrize(("code", "outcome"), [(0, "success"), (1, "error"), (127, "error")])
def test_an_exit_code_of_codex_stands_before_the_output(
    day1: Day1, tmp_path: Path, code: int, outcome: str
) -> None:
    head = f"Chunk ID: 5f\nWall time: 0.1 seconds\nProcess exited with code {code}\nOriginal token count: 2\n"
    lines = (
        item(1, "response_item", **call_of("exec_command", "c1", cmd="./run")),
        item(2, "response_item", **output_of("c1", f"{head}Output:\nProcess exited with code 3\n")),
    )
    assert import_codex(day1, tmp_path, *lines) == [("Bash", outcome, "Process exited with code 3")]


def test_a_command_of_codex_is_taken_once_with_its_own_record(day1: Day1, tmp_path: Path) -> None:
    ran = {"command": ["/bin/bash", "-lc", "false"], "exit_code": 1, "aggregated_output": "no\n"}
    lines = (
        item(1, "response_item", **call_of("exec_command", "c1", cmd="false")),
        completed(2, "CommandExecution", "c1", **ran),
        item(3, "response_item", **output_of("c1", "Output:\nno")),
    )
    assert import_codex(day1, tmp_path, *lines) == [("Bash", "error", "no")]
    assert Observation.objects.all_versions().get().summary == "Executed command: false. Result: no"


def test_a_script_of_codex_is_the_commands_that_ran(day1: Day1, tmp_path: Path) -> None:
    script = {"type": "custom_tool_call", "name": "exec", "input": "await tools.exec_command({})"}
    done = {"command": ["bash", "-lc", "true"], "exit_code": 0, "aggregated_output": "yes"}
    search = {"server": "day1", "tool": "memory_search", "arguments": {}, "result": {"content": []}}
    lines = (
        item(1, "response_item", call_id="c1", **script),
        completed(2, "CommandExecution", "exec-1", **done),
        completed(3, "FileChange", "exec-2", changes={"till.py": {"type": "update"}}, status="completed"),
        item(4, "response_item", **output_of("c1", "Script completed", "custom_tool_call_output")),
        item(5, "response_item", call_id="c2", **script),
        completed(6, "McpToolCall", "exec-3", **search),
        item(7, "response_item", **output_of("c2", "A fact of Day1", "custom_tool_call_output")),
        item(8, "response_item", call_id="c3", **script),
        item(9, "response_item", **output_of("c3", "42", "custom_tool_call_output")),
    )
    calls = import_codex(day1, tmp_path, *lines)
    assert calls == [
        ("Bash", "success", "yes"),
        ("apply_patch", "success", ""),
        ("exec", "success", "42"),  # it ran no command
    ]
    assert not any("A fact of Day1" in text for _, text in said())


# ---- exports ---------------------------------------------------------------------------------------


def node(uid: str, parent: str | None, role: str, text: str, **beside: Any) -> dict[str, Any]:
    content = {"content_type": "text", "parts": [text]}
    author = {"role": role}
    message = {"id": uid, "author": author, "create_time": 1790000000.5, "content": content}
    return {"id": uid, "parent": parent, "children": [], "message": {**message, "metadata": beside}}


CHATGPT = [
    {
        "conversation_id": "c1",
        "title": "Bread",
        "create_time": 1790000000,
        "current_node": "n4",
        "mapping": {
            "n0": {"id": "n0", "parent": None, "children": ["n1"], "message": None},
            "n1": node("n1", "n0", "system", "", is_visually_hidden_from_conversation=True),
            "n2": node("n2", "n1", "user", "How much salt?"),
            "n3": node("n3", "n2", "assistant", "A first answer."),
            "n4": node("n4", "n2", "assistant", "Ten grams.", model_slug="gpt-x"),
        },
    }
]
CLAUDE = [
    {
        "uuid": "k1",
        "name": "Trip",
        "created_at": "2026-09-01T08:00:00Z",
        "chat_messages": [
            {
                "uuid": "m1",
                "sender": "human",
                "text": "old",
                "created_at": "2026-09-01T08:00:00Z",
                "content": [{"type": "text", "text": "When does it leave?"}],
                "attachments": [{"file_name": "plan.txt", "extracted_content": "9:15"}],
            },
            {
                "uuid": "m2",
                "sender": "assistant",
                "text": "At 9:15.",
                "content": [],
                "created_at": "2026-09-01T08:00:09Z",
            },
        ],
    }
]


@pytest.mark.parametrize("packed", [True, False])
def test_an_export_of_chatgpt_is_followed_to_the_answer_in_force(
    day1: Day1, tmp_path: Path, packed: bool
) -> None:
    file = export(tmp_path, CHATGPT, packed)
    status, out, err = day1("import-from", "chatgpt", str(file))
    assert (status, out) == (0, "new: 1 conversations, 2 messages; on main.\n")
    assert said() == [("user", "How much salt?"), ("assistant", "Ten grams.")]
    assert "left out: 1 messages that were edited\n" in err
    (talk,) = Conversation.objects.all_versions().filter(deleted=False).order_by("rid")[:1]
    assert (talk.title, talk.session_id) == ("Bread", "chatgpt:c1")
    assert day1("import-from", "chatgpt", str(file))[1] == "new: nothing; known already: 2; on main.\n"


def export(folder: Path, conversations: Any, packed: bool) -> Path:
    file = folder / ("export.zip" if packed else "conversations.json")
    if packed:
        with zipfile.ZipFile(file, "w") as archive:
            archive.writestr("export/conversations.json", json.dumps(conversations))
    else:
        file.write_text(json.dumps(conversations))
    return file


def test_an_export_of_claude_keeps_what_was_attached(day1: Day1, tmp_path: Path) -> None:
    file = export(tmp_path, CLAUDE, packed=True)
    assert day1("import-from", "claude", str(file))[0] == 0
    assert said() == [("user", "When does it leave?\n\n[plan.txt]\n9:15"), ("assistant", "At 9:15.")]
    assert day1("import-from", "claude", str(file))[1] == "new: nothing; known already: 2; on main.\n"


def test_a_message_of_claude_of_another_form_is_named_and_the_rest_imported(
    day1: Day1, tmp_path: Path
) -> None:
    rows = [42, {"sender": None, "text": "x"}, {"sender": "human", "text": None, "content": {"a": 1}}]
    rows += [{"sender": "human", "text": word} for word in ("One.", "Two.")]  # without ids
    talks = [{"uuid": "c", "chat_messages": rows}]
    status, out, _ = day1(
        "import-from", "claude", str(export(tmp_path, talks, packed=False)), "--format", "json"
    )
    faults = ("is a number", "its sender is null, not a text", "part 1 has no type")
    assert (status, [error["reason"] for error in json.loads(out)["errors"]]) == (
        1,
        [f"message {number}: {fault}" for number, fault in enumerate(faults, 1)],
    )
    assert said() == [("user", "One."), ("user", "Two.")]


def test_the_export_of_the_other_program_is_an_error(day1: Day1, tmp_path: Path) -> None:
    file = export(tmp_path, CLAUDE, packed=False)
    status, out, err = day1("import-from", "chatgpt", str(file))
    assert (status, out, err.splitlines()) == (
        1,
        "",
        [
            f"{file}:1: is no conversation of ChatGPT: it has no mapping",
            f"invalid: Nothing in {file} could be read as chatgpt: nothing was imported.",
        ],
    )
    assert not Session.objects.exists()


def test_a_zip_without_conversations_and_a_file_cut_off_are_errors(day1: Day1, tmp_path: Path) -> None:
    file = tmp_path / "x.zip"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("users.json", "[]")
    assert day1("import-from", "claude", str(file))[2] == "invalid: x.zip holds no conversations.json.\n"
    cut = tmp_path / "conversations.json"
    cut.write_text('[{"uuid": ')
    assert day1("import-from", "claude", str(cut))[0] == 1


# ---- instruction files -----------------------------------------------------------------------------

GUIDE = """---
type: feedback
---
# Our till

Money is counted in cents. It
is never a float.

## Tests
- Run `pytest -q`:
  ```sh
  pytest -q

  pytest -x
  ```
* The token is sk_live_a1B2c3D4e5F6g7H8i9

@other.md
"""


def test_an_instruction_file_becomes_a_fact_for_each_point(day1: Day1, tmp_path: Path, actor: Actor) -> None:
    (tmp_path / "CLAUDE.md").write_text(GUIDE)
    (tmp_path / "README.md").write_text("Nothing for agents.")
    status, out, err = day1("import-from", "instructions", str(tmp_path))
    assert (status, out) == (0, "new: 3 facts; on main.\n")
    assert "1 secret was not stored" in err
    facts = sorted(Fact.objects.all_versions(), key=lambda row: row.metadata["line"])
    assert [(f.fact_text, f.category, f.metadata["line"]) for f in facts] == [
        ("Money is counted in cents. It\nis never a float.", "our_till", 6),
        ("Run `pytest -q`:\n  ```sh\n  pytest -q\n\n  pytest -x\n  ```", "tests", 10),
        ("The token is [redacted: Stripe key]", "tests", 16),
    ]
    verdicts = {FactEngine().get_fact(fact_id=f.uid, actor=actor).verification_status for f in facts}
    assert verdicts == {"unverified"}
    assert {fact.source_type for fact in facts} == {"import"}
    again = day1("import-from", "instructions", str(tmp_path / "CLAUDE.md"))
    assert (again[0], again[1]) == (0, "new: nothing; known already: 3; on main.\n")


def test_instructions_can_be_counted_first(day1: Day1, tmp_path: Path) -> None:
    (tmp_path / "AGENTS.md").write_text("Use spaces.\n")
    assert day1("import-from", "instructions", str(tmp_path), "--dry-run")[1] == (
        "new: 1 facts; nothing was written.\n"
    )
    assert not Fact.objects.all_versions().exists()


# ---- what a large or spoken export has -------------------------------------------------------------


def talk(uid: str, *parts: Any) -> dict[str, Any]:
    """Return a conversation of ChatGPT in which a person says one message of these parts."""
    content = {"content_type": "multimodal_text", "parts": list(parts)}
    message = {"id": f"{uid}-m", "author": {"role": "user"}, "content": content}
    return {"id": uid, "title": uid, "mapping": {"m": {"id": "m", "message": message}}, "current_node": "m"}


def heard(text: str) -> dict[str, Any]:
    return {"content_type": "audio_transcription", "text": text, "direction": "in"}


def test_an_export_in_several_files_is_imported_whole(day1: Day1, tmp_path: Path) -> None:
    file = tmp_path / "export.zip"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("conversations-000.json", json.dumps([talk("a", "One."), talk("b", "Two.")]))
        archive.writestr(
            "conversations-001.json", b"\xef\xbb\xbf" + json.dumps([talk("c", "Three.")]).encode()
        )
        archive.writestr("conversations-002.json", json.dumps([talk("d", "Four.")]).encode("utf-16"))
        archive.writestr("conversations-003.json", "[{")
        archive.writestr("user.json", "{}")
    status, out, err = day1("import-from", "chatgpt", str(file))
    assert (status, out) == (1, "new: 4 conversations, 4 messages; on main.\n")
    assert f"{file}/conversations-003.json:0: cannot be read" in err
    assert [text for _, text in said()] == ["One.", "Two.", "Three.", "Four."]


def test_what_was_said_in_a_voice_chat_is_imported(day1: Day1, tmp_path: Path) -> None:
    picture = {"content_type": "image_asset_pointer", "asset_pointer": "file-service://x"}
    talks = [
        talk("a", heard("The inspection is in May."), picture),
        talk("b", None, "Then text.", heard("And.")),
    ]
    assert day1("import-from", "chatgpt", str(export(tmp_path, talks, packed=False)))[0] == 0
    assert said() == [("user", "The inspection is in May."), ("user", "Then text.\nAnd.")]


def test_half_a_surrogate_pair_and_a_strange_conversation_end_no_import(day1: Day1, tmp_path: Path) -> None:
    strange = talk("b", "Two.") | {"mapping": {"m": {"message": {"author": "me", "content": ["x"]}}}}
    file = export(
        tmp_path, [talk("a", "Half \ud83d."), strange, talk("c", {"text": 5}, "Three.")], packed=False
    )
    status, out, _ = day1("import-from", "chatgpt", str(file), "--format", "json")
    answer = json.loads(out)
    assert (status, answer["new"]["messages"], answer["broken"]) == (1, 2, 2)
    faults = [
        "message m: its author is a text, not an object",
        "message m: part 1 its text is a number, not a text",
    ]
    assert [(error["line"], error["reason"]) for error in answer["errors"]] == [
        (2, faults[0]),
        (3, faults[1]),
    ]
    reason = "halves of surrogate pairs or NUL became U+FFFD"
    assert answer["replaced"] == [{"file": str(file), "line": 1, "reason": reason}]
    assert said() == [("user", "Half \ufffd."), ("user", "Three.")]
