"""What single programs do in a way of their own, as their real clients sent it."""

import json
from pathlib import Path
from uuid import uuid4

import pytest

from memory.engines.facts.engine import FactEngine
from memory.models import Fact, Observation, QueueMessage
from tests.site.hook_events import event, learn, messages, send
from tests.site.program_calls import TOOLS, word_call

pytestmark = pytest.mark.django_db(transaction=True)

REPAIRS = Path(__file__).with_name("repairs.json")  # of ten sessions
TRACEBACK = 'Traceback (most recent call last):\n  File "ledger.py", line 1\nModuleNotFoundError: No module'


def call(api, client: str, tool: str, **fields: object) -> Observation:
    """Send a call of a tool; return its observation."""
    name = "AfterTool" if client == "gemini" else "PostToolUse"
    own = {"client": client, "root": "github.com/acme/shop"}
    send(api, event(name, tool_name=tool, tool_use_id="t1", day1=own, **fields), client=client)
    (seen,) = Observation.objects.all_versions()
    return seen


def shell(text: str) -> dict[str, str]:
    whole = f"<untrusted_context>\nOutput: {text}\nProcess Group PGID: 30181\n</untrusted_context>"
    return {"llmContent": whole, "returnDisplay": text}


def test_gemini_says_in_the_text_that_a_command_failed(api):
    output = shell(f"{TRACEBACK}\nExit Code: 1")
    seen = call(
        api, "gemini", "run_shell_command", tool_input={"command": "python3 ledger.py"}, tool_response=output
    )
    assert seen.outcome == "error"
    ((_, _, content),) = messages()
    assert content.startswith("Output: Traceback")
    assert "untrusted_context" not in content


@pytest.mark.parametrize("text", ["balance 42", "Exit Code: 0", "Exit Code: 1\nof yesterday\nExit Code: 0"])
def test_gemini_says_nothing_of_a_command_that_worked(api, text):
    seen = call(
        api, "gemini", "run_shell_command", tool_input={"command": "./run"}, tool_response=shell(text)
    )
    assert seen.outcome == "success"


def test_codex_says_it_in_the_first_lines(api):
    text = "Chunk ID: 5f\nWall time: 0.1 seconds\nProcess exited with code 1\nOutput:\n"
    assert call(api, "codex", "Bash", tool_input={"command": "false"}, tool_response=text).outcome == "error"


def test_a_patch_of_codex_is_summarised_by_its_files(api):
    parts = (
        "*** Begin Patch",
        "*** Update File: till.py",
        "@@",
        "-a = 1",
        "+a = 2",
        "*** Add File: b/c.py",
        "+1",
    )
    patch = "\n".join([*parts, "*** End Patch"])
    seen = call(api, "codex", "apply_patch", tool_input={"command": patch}, tool_response="Success.")
    assert seen.summary == "Modified file: till.py b/c.py"


def test_what_a_command_of_another_program_prints_is_no_exit_code(api):
    output = {"stdout": "Exit Code: 1", "stderr": "", "interrupted": False}
    seen = call(api, "claude-code", "Bash", tool_input={"command": "cat log"}, tool_response=output)
    assert seen.outcome == "success"


def test_what_claude_code_has_read_is_stored_as_text(api):
    file = {"filePath": "/srv/shop/a.py", "content": "print(1)\n", "numLines": 1, "startLine": 1}
    call(
        api,
        "claude-code",
        "Read",
        tool_input={"file_path": "/srv/shop/a.py"},
        tool_response={"type": "text", "file": file},
    )
    assert messages() == [(1, "tool_result", "print(1)")]


def test_what_claude_code_writes_in_place_of_an_answer_is_not_stored(api):
    send(api, event("Stop", last_assistant_message="No response requested.", prompt_id="p1"))
    send(api, event("PreCompact", transcript=["No response requested.", "I chose Redis."]))
    assert messages() == [(1, "assistant", "I chose Redis.")]


@pytest.mark.parametrize(("source", "told"), [("startup", 1), ("resume", 0), ("compact", 1), ("clear", 1)])
def test_codex_is_told_the_context_once_when_it_resumes(api, actor, source, told):
    FactEngine().write_fact(fact_text="Deploys run on Mondays.", actor=actor)
    own = {"client": "codex", "root": "github.com/acme/shop"}
    late = send(api, event("SessionStart", "s2", source="resume", day1=own), client="codex")
    assert late.count("Deploys run on Mondays.") == 1  # nothing was told before
    send(api, event("SessionStart", source="startup", day1=own), client="codex")
    again = send(api, event("SessionStart", source=source, day1=own), client="codex")
    assert again.count("Deploys run on Mondays.") == told


def test_what_a_hook_told_gemini_is_not_the_persons_word(api):
    told = "&lt;day1-memory&gt;\nDay1, memory.\n- We use Postgres.\n&lt;/day1-memory&gt;"
    prompt = f"Add a README.\n\n<hook_context>{told}</hook_context>"
    own = {"client": "gemini", "root": "github.com/acme/shop"}
    send(api, event("BeforeAgent", prompt=prompt, day1=own), client="gemini")
    assert messages() == [(1, "user", "Add a README.")]


@pytest.mark.parametrize(
    ("client", "name", "tasks"), [("gemini", "PreCompress", 0), ("claude-code", "PreCompact", 1)]
)
def test_gemini_is_not_learned_from_before_every_request_of_its_model(api, learning, client, name, tasks):
    own = {"client": client, "root": "github.com/acme/shop"}
    send(api, event("UserPromptSubmit", prompt="We decided on Redis.", day1=own), client=client)
    send(api, event(name, day1=own), client=client)
    assert QueueMessage.objects.filter(key__startswith="memory.consolidate").count() == tasks


# ---- repairs ---------------------------------------------------------------------------------------


def tool_event(client, name, given, output, session):
    own = {"client": client, "root": "github.com/acme/shop"}
    fields = {"tool_name": name, "tool_input": given, "tool_use_id": uuid4().hex, "day1": own}
    if isinstance(output, str):
        return event("PostToolUseFailure", session, error=output, **fields)
    return event("PostToolUse", session, tool_response=output, **fields)


def learn_repair(api, case, session="s1"):
    """Send a call that failed, what was done then, and the call that worked; return the facts of it."""
    done = {"stdout": "", "stderr": "", "exit_code": 0}
    steps = [(*case["failed"],), *((*step, done) for step in (*case["steps"], case["worked"]))]
    for name, given, output in steps:
        send(api, tool_event(case["client"], name, given, output, session), client=case["client"])
    learn(session)
    return [fact.fact_text for fact in Fact.objects.all_versions().filter(category="bug_fix")]


@pytest.mark.usefixtures("learning")
@pytest.mark.parametrize("case", json.loads(REPAIRS.read_text()), ids=lambda case: case["texts"][0][:40])
def test_a_repair_is_one_whatever_the_program_adds(api, case):
    (text,) = learn_repair(api, case)
    assert [part for part in case["texts"] if part not in text] == []


@pytest.mark.usefixtures("learning")
@pytest.mark.parametrize("tool", TOOLS)
def test_each_program_words_its_calls_anew(api, tool):
    lines = ("npm test", "npm install left-pad", "npm test")
    calls = [[tool, word_call(tool, line, number)] for number, line in enumerate(lines)]
    failed = {"exit_code": 1, "output": "Error: Cannot find module left-pad"}
    case = {"client": TOOLS[tool][0], "failed": [*calls[0], failed], "steps": [calls[1]], "worked": calls[2]}
    (text,) = learn_repair(api, case)
    assert text.startswith("npm test failed: Error: Cannot find module left-pad. It worked after: ")
    assert "npm install left-pad" in text


SAME = "npm test"
FAILURE_TEXT = "Exit code 1\nTypeError: total is not a function"


@pytest.mark.usefixtures("learning")
@pytest.mark.parametrize(
    ("failed", "steps", "worked"),
    [
        (SAME, ["cat package.json", "git status", "ls | head -5"], SAME),  # nothing was changed
        ("cd a && npm test", [], "cd b && npm test"),  # another package
        (SAME, ["sed -i s/a/b/ x.ts"], "npm test -- --silent"),  # another command
        (SAME, ["sed -i s/a/b/ x.ts"], "npm test | tail -5"),  # of which nobody knows whether it worked
        (SAME, [], "timeout 60 npm test"),
    ],
)
def test_what_repaired_nothing_is_no_repair(api, failed, steps, worked):
    calls = [["Bash", {"command": line, "description": "Do it"}] for line in (failed, *steps, worked)]
    first, *between, last = calls
    case = {"client": "claude-code", "failed": [*first, FAILURE_TEXT], "steps": between, "worked": last}
    assert learn_repair(api, case) == []


@pytest.mark.usefixtures("learning")
def test_a_repair_is_told_when_its_command_fails_again(api):
    case = json.loads(REPAIRS.read_text())[0]
    send(api, event("SessionStart", "s2"))
    learn_repair(api, case)
    tool, payload, error = case["failed"]
    again = tool_event(
        "claude-code", tool, {**payload, "description": "Once more", "timeout": 9}, error, "s2"
    )
    answer = json.loads(send(api, again))["hookSpecificOutput"]
    assert answer["hookEventName"] == "PostToolUseFailure"
    assert "“export const total”" in answer["additionalContext"]
    assert send(api, {**again, "tool_use_id": "t9"}) == ""  # once in a session
    other = tool_event("claude-code", tool, {"command": "npm run lint"}, error, "s3")
    assert send(api, other) == ""
    same = tool_event("claude-code", tool, payload, error, "s4")
    assert send(api, {**same, "day1": {"client": "claude-code", "root": "github.com/acme/else"}}) == ""
