"""The plugin of opencode, run as opencode runs it, with the real hook client and a server."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from conversations.models import Conversation, Message
from day1site.cli.connect.clients import OPENCODE_PLUGIN
from memory.actors import Actor
from memory.engines.access.keys import KeyEngine
from memory.engines.facts.engine import FactEngine
from memory.models import Observation, Session
from tests.site.test_hook_client import Client
from tests.site.test_hook_prompts import server  # noqa: F401
from tests.waiting import TIMEOUT_SECONDS, wait_until

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(shutil.which("node") is None, reason="needs Node.js"),
]
RUNNER = """
const [plugin, folder, options, steps] = process.argv.slice(1)
const { Day1 } = await import(plugin)
const hooks = await Day1({ directory: folder }, JSON.parse(options))
for (const [name, input, output] of JSON.parse(steps)) {
  await hooks[name](input, output)
  console.log(JSON.stringify(output ?? null))
}
"""
Step = list[Any]
Play = Callable[..., list[Any]]


@pytest.fixture
def play(tmp_path: Path, actor: Actor, live_server: Any) -> Play:
    """Return a function that gives the plugin what happens, and returns what it made of each output."""
    key = KeyEngine().create_key(actor=actor, label="opencode", scopes=["write", "read"])[1]
    return partial(run_plugin, Client(tmp_path, live_server.url, key))


def run_plugin(client: Client, *steps: Step) -> list[Any]:
    folder = client.config.parent / "shop"
    (folder / ".git").mkdir(parents=True)
    words = [sys.executable, "-I", "-S", str(client.script), "--client", "opencode"]
    words += ["--config", str(client.config)]
    done = run_node(folder, words, *steps)
    wait_until(lambda: not client.lines())
    return [json.loads(line) for line in done.stdout.splitlines()]


def run_node(folder: Path, command: list[str], *steps: Step) -> subprocess.CompletedProcess[str]:
    given = [OPENCODE_PLUGIN.as_uri(), str(folder), json.dumps({"command": command}), json.dumps(steps)]
    words = ["node", "--input-type=module", "-e", RUNNER, *given]
    return subprocess.run(words, capture_output=True, text=True, timeout=TIMEOUT_SECONDS, check=True)


def happen(kind: str, **properties: Any) -> Step:
    return ["event", {"event": {"type": kind, "properties": properties}}]


def ask(text: str, message: str = "m1", session: str = "ses_1", **part: Any) -> Step:
    parts = [{"id": f"prt_{message}", "type": "text", "text": text, "messageID": message, **part}]
    return ["chat.message", {"sessionID": session}, {"message": {"id": message}, "parts": parts}]


def answer(text: str, message: str, session: str = "ses_1", **info: Any) -> list[Step]:
    whole = {"id": message, "role": "assistant", "sessionID": session, "modelID": "a-model", **info}
    part = {"id": f"prt_{message}", "type": "text", "text": text, "messageID": message, "time": {"end": 1}}
    return [
        happen("message.updated", info=whole),
        happen("message.part.updated", part={**part, "sessionID": session}),
    ]


def call(uid: str, tool: str, state: dict[str, Any], session: str = "ses_1") -> Step:
    part = {"type": "tool", "tool": tool, "callID": uid, "state": state, "sessionID": session}
    return happen("message.part.updated", part=part)


def bash(uid: str, command: str, output: str, code: int, session: str = "ses_1") -> Step:
    metadata = {"output": output, "exit": code}
    state = {"status": "completed", "input": {"command": command}, "output": output, "metadata": metadata}
    return call(uid, "bash", state, session)


def said() -> list[tuple[str, str, str]]:
    rows = sorted(Message.objects.all_versions(), key=lambda row: row.uid)
    return [(row.agent_id, row.role, row.content) for row in rows]


EDIT = {"filePath": "/srv/shop/a.py", "oldString": "bcrypt", "newString": "argon2"}


def test_a_turn_becomes_prompt_calls_and_answer(play: Play) -> None:
    play(
        ask('"Why do logins fail?"'),
        *answer("I look.", "m2"),
        bash("c1", "pytest", "1 failed", 1),
        call("c2", "edit", {"status": "completed", "input": EDIT, "output": "Done."}),
        call("c3", "write", {"status": "error", "input": {}, "error": "Disk full"}),
        call("c4", "day1_memory_search", {"status": "completed", "input": {"query": "x"}, "output": "Y"}),
        bash("c1", "pytest", "1 failed", 1),
        *answer("Logins work again.", "m3"),
        happen("session.idle", sessionID="ses_1"),
    )
    assert said() == [
        ("opencode", "user", "Why do logins fail?"),
        ("opencode", "tool_result", "1 failed"),
        ("opencode", "tool_result", "Done."),
        ("opencode", "tool_result", "Disk full"),
        ("opencode", "assistant", "Logins work again."),
    ]
    seen = sorted(Observation.objects.all_versions(), key=lambda row: row.uid)
    assert [(row.tool_name, row.outcome) for row in seen] == [
        ("Bash", "error"),
        ("Edit", "success"),
        ("Write", "error"),
    ]
    assert seen[1].summary == "Modified file: /srv/shop/a.py"
    session = Session.objects.get()  # it ends with the program
    assert (session.key, session.status, Path(session.project_path).name) == ("ses_1", "completed", "shop")


def test_what_is_known_comes_before_the_model_and_the_same_each_time(play: Play, actor: Actor) -> None:
    FactEngine().write_fact(fact_text="Passwords are hashed with argon2.", actor=actor)
    look: Step = ["experimental.chat.system.transform", {"sessionID": "ses_1"}, {"system": ["Be brief."]}]
    _, first, second = play(ask("Hello there, what is new?"), look, look)
    assert first["system"][0] == "Be brief."
    assert "Passwords are hashed with argon2." in first["system"][1]
    assert first == second


def test_what_a_prompt_brings_is_a_part_that_no_person_wrote(
    tmp_path: Path,
    server: Any,  # noqa: F811
) -> None:
    client = Client(tmp_path, f"http://127.0.0.1:{server.server_port}")
    (output,) = run_plugin(client, ask("How are passwords hashed?"))
    own, added = output["parts"]
    assert own["text"] == "How are passwords hashed?"
    assert (added["text"], added["synthetic"], added["messageID"]) == ("known", True, "m1")
    assert added["id"] > own["id"]  # they are shown in the order of their ids
    prompts = {taken["prompt"] for taken in server.taken if "prompt" in taken}
    assert prompts == {"How are passwords hashed?"}


def test_a_subagent_speaks_in_the_session_of_its_parent(play: Play) -> None:
    play(
        ask("Find the rounding."),
        happen("session.created", info={"id": "ses_2", "parentID": "ses_1"}),
        ask("Search all files.", "m5", "ses_2"),
        bash("c1", "grep round", "till.py", 0, "ses_2"),
        *answer("It is in till.py.", "m6", "ses_2"),
        happen("session.idle", sessionID="ses_2"),
    )
    assert said() == [
        ("opencode", "user", "Find the rounding."),
        ("opencode/ses_2", "tool_result", "till.py"),
        ("opencode/ses_2", "assistant", "It is in till.py."),
    ]
    assert Session.objects.get().key == "ses_1"
    assert len({row.uid for row in Conversation.objects.all_versions()}) == 2


def test_what_the_program_wrote_is_nobodys_word(play: Play) -> None:
    play(
        ask("Continue.", synthetic=True),
        *answer("Summary of the talk.", "m2", summary=True),
        happen("session.idle", sessionID="ses_1"),
        happen("session.compacted", sessionID="ses_1"),
        happen("session.error", sessionID="ses_1", error={"name": "MessageAbortedError"}),
    )
    assert said() == []
    assert not Observation.objects.all_versions().exists()
    assert Session.objects.get().summary == "Summary of the talk."


def test_a_missing_hook_client_does_not_disturb(tmp_path: Path) -> None:
    look: Step = ["experimental.chat.system.transform", {"sessionID": "ses_1"}, {"system": []}]
    idle = happen("session.idle", sessionID="ses_1")
    done = run_node(
        tmp_path, [str(tmp_path / "none")], ask("Hello there."), look, *answer("Yes.", "m2"), idle
    )
    assert done.stderr == ""
    assert json.loads(done.stdout.splitlines()[1]) == {"system": []}
