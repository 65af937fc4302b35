"""A repair says what the change was: the lines, or the command, each whole."""

import json
import shlex
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conversations.engines.consolidation.repairs import (
    MAX_COMMAND,
    MAX_LENGTH,
    MAX_WHOLE_COMMAND,
    ToolCalls,
    describe_change,
    describe_repair,
)
from memory.command_lines import unquote
from memory.models import Observation

FAILED = "Executed command: ./run. Result: Exit code 1\nTraceback (most recent call last):\nKeyError: 'port'"


def call(tool: str, payload: object, summary: str = "", **fields: object) -> Observation:
    text = payload if isinstance(payload, str) else json.dumps(payload)
    keys = {"rid": 1, "uid": uuid4()}  # given, so that no database is asked for them
    row = Observation(**keys, tool_name=tool, raw_input=text, summary=summary, outcome="success", **fields)
    row.input_hash = text
    return row


def change(tool: str, payload: object, *before: Observation) -> str:
    return describe_change(ToolCalls([*before, call(tool, payload, "Modified file: x")]), len(before))


def repair(*steps: Observation, command: str = "./run", failed: str = FAILED) -> str:
    first = call("Bash", {"command": command}, failed)
    first.outcome = "error"
    last = call("Bash", {"command": command}, "Executed command: ./run. Result: ok", parent_id=first.uid)
    return describe_repair(ToolCalls([first, *steps, last]), len(steps) + 1)


@pytest.mark.parametrize(
    ("tool", "payload", "text"),
    [
        (
            "Edit",
            {"file_path": "a.py", "old_string": "x = 1\ny = 2", "new_string": "x = 1\ny = 3"},
            "in a.py: “y = 2” became “y = 3”",
        ),
        (
            "replace",
            {"file_path": "a.py", "old_string": "", "new_string": "import os"},
            "put into a.py: “import os”",
        ),
        (
            "Edit",
            {"file_path": "a.py", "old_string": "import os", "new_string": ""},
            "took out of a.py: “import os”",
        ),
        (
            "MultiEdit",
            {
                "file_path": "a.py",
                "edits": [
                    {"old_string": "a", "new_string": "b"},
                    {"old_string": "c", "new_string": "d"},
                ],
            },
            "in a.py: “a / c” became “b / d”",
        ),
        (
            "apply_patch",
            {"input": "*** Begin Patch\n*** Update File: src/a.py\n@@\n-port = 1\n+port = 2\n*** End Patch"},
            "in src/a.py: “port = 1” became “port = 2”",
        ),
        ("Write", {"file_path": "a.py", "content": "one\ntwo"}, "put into a.py: “one / two”"),
        ("Edit", {"file_path": "Makefile"}, "changed Makefile"),
        ("Edit", "no JSON {", "Modified file: x"),
        ("Edit", {"file_path": "a.py", "edits": [7, None], "new_string": ["x"]}, "changed a.py"),
    ],
)
def test_a_change_of_a_file(tool, payload, text):
    assert change(tool, payload) == text


def test_a_file_that_was_written_again_tells_the_difference():
    before = call("Write", {"file_path": "a.py", "content": "import ledger_settings\nprint(42)\n"})
    again = {"file_path": "a.py", "content": "print(42)\n"}
    assert change("Write", again, before) == "took out of a.py: “import ledger_settings”"
    other = call("Write", {"file_path": "b.py", "content": "print(42)\n"})
    assert change("Write", again, other) == "put into a.py: “print(42)”"


def test_long_changes_are_cut_between_lines():
    lines = [f"setting_{number} = {number}" for number in range(100)]
    text = change("Write", {"file_path": "a.py", "content": "\n".join(lines)})
    assert text.startswith("put into a.py: “setting_0 = 0 / setting_1 = 1 / ")
    shown = text.partition("“")[2].partition("”")[0].split(" / ")
    assert set(shown) <= set(lines)
    assert text.endswith(f"” and {100 - len(shown)} more lines")


@pytest.mark.parametrize(
    "line",
    """
    env CI=1 npm ci | npm version patch | sort -o x.txt x.txt | sed -Ei s/a/b/ x | sed --in-place=.b 1d x
    git branch -D old | git diff --output=x | find . -name x -delete | find . -exec ls {} + -exec rm {} +
    yq -i .a=1 x | curl -o x http://y | kubectl apply -f x | mkdir logs | cp -v a b | go get example.com/x
    uniq a b | sudo rm x | xargs rm | X=1 make | awk '{print>"x"}' y | echo $(rm x)
    """.strip()
    .replace("\n", "|")
    .split("|"),
)
def test_a_command_that_changes_something_is_a_step(line):
    assert f"It worked after: ran {line.strip()}." in " ".join(
        repair(call("Bash", {"command": line})).split()
    )


@pytest.mark.parametrize(
    "line",
    [
        *("ls -la", "ls 2>&1", "ls 2>/dev/null", "sort names.txt", "sed -n 1,5p x", "env", "npm version"),
        *("git log --format='%h <%an>'", "grep -n 'a|b' x | wc -l", "find . | xargs grep x", "time cat x"),
        *(
            "kubectl get pods -o yaml",
            "# see\nls",
            "python -V",
            "command -v git",
            "git show HEAD:x | sed -n 1p",
        ),
    ],
)
def test_a_command_that_only_looks_is_no_step(line):
    assert repair(call("Bash", {"command": line})) == ""


@pytest.mark.parametrize("line", ["ls\nrm -rf x", "ls > x", "ls | tee x", "ls; npm ci", "cat > x <<E\ny\nE"])
def test_one_command_that_changes_something_is_enough(line):
    assert f"ran {' '.join(line.split())}." in repair(call("Bash", {"command": line}))


def test_a_repair_names_the_failure_and_the_steps():
    edit = call("Edit", {"file_path": "a.ini", "old_string": "prt", "new_string": "port"})
    install = call("Bash", {"command": "pip install  x"})
    assert repair(edit, install) == (
        "./run failed: KeyError: 'port'. It worked after: in a.ini: “prt” became “port”; ran pip install x."
    )


def test_the_reason_is_no_status_line():
    failed = "Executed command: ./run. Result: Output: KeyError: 'port'\nExit Code: 1"
    step = call("Bash", {"command": "make"})
    assert repair(step, failed=failed) == "./run failed: KeyError: 'port'. It worked after: ran make."


@pytest.mark.parametrize(
    ("output", "reason"),
    [
        ("a_test.go:12: invalid id attr1\n--- FAIL: TestA (0.01s)\nFAIL", "a_test.go:12: invalid id attr1"),
        (
            "main.go:9:2: declared and not used: x\n[lint] ERROR task failed",
            "main.go:9:2: declared and not used: x",
        ),
        (
            " ! [rejected] main -> main (fetch first)\nhint: See 'git push --help'.",
            "! [rejected] main -> main (fetch first)",
        ),
        ("a.ts(2,5): error TS2322: no boolean\nExit status 2", "a.ts(2,5): error TS2322: no boolean"),
        (
            "\x1b[31mx.md:3 MD040 no language\x1b[0m\n[STAR … [2453 characters, cut]",
            "x.md:3 MD040 no language",
        ),
        ("FAIL", "FAIL"),
    ],
)
def test_a_reason_says_what_failed(output, reason):
    step = call("Bash", {"command": "make"})
    failed = f"Executed command: ./run. Result: Exit code 1\n{output}"
    assert repair(step, failed=failed) == f"./run failed: {reason}. It worked after: ran make."


@pytest.mark.parametrize(
    "answer",
    [
        "<tool_use_error>Sibling tool call errored</tool_use_error>",
        "The user doesn't want to proceed with this.",
    ],
)
def test_a_call_that_was_not_carried_out_did_not_fail(answer):
    step = call("Bash", {"command": "make"})
    assert repair(step, failed=f"Executed command: ./run. Result: {answer}") == ""


def test_a_command_is_never_cut_in_the_middle():
    long = "convert '%s' " + "x" * 600
    short = "convert with 613 characters"
    assert repair(call("Bash", {"command": long}), command=long.replace("x", "y")) == (
        f"{short} failed: KeyError: 'port'. It worked after: ran {short}."
    )
    just = "x" * MAX_COMMAND
    assert repair(call("Bash", {"command": just})).endswith(f"ran {just}.")


def install(length: int) -> str:
    return "npm install " + " ".join(f"@scope/package-{number:02}@1.0.0" for number in range(length // 26))


def test_the_command_that_repaired_it_is_whole_though_it_is_long():
    command = install(480)
    assert MAX_COMMAND < len(command) <= MAX_WHOLE_COMMAND
    assert repair(call("Bash", {"command": command})).endswith(f"ran {command}.")


def test_where_not_all_steps_have_room_the_last_are_whole():
    old, new, path = "x" * 150, "y" * 150, "/srv/a.py"
    edit = call("Edit", {"file_path": path, "old_string": old, "new_string": new})
    command = install(480)
    text = repair(edit, call("Bash", {"command": "make clean"}), call("Bash", {"command": command}))
    assert text.endswith(f"It worked after: changed {path}; ran make clean; ran {command}.")
    assert len(text) <= MAX_LENGTH + 1


def test_many_long_steps_are_shown_from_the_last_on():
    steps = [call("Bash", {"command": f"{number} {'x' * 190}"}) for number in range(5)]
    text = repair(*steps)
    assert len(text) <= MAX_LENGTH + 1
    assert [f"ran {number} " in text for number in range(5)] == [False, False, True, True, True]


@given(
    st.recursive(
        st.none() | st.text() | st.integers(),
        lambda inner: (
            st.lists(inner)
            | st.dictionaries(
                st.sampled_from(
                    ["file_path", "edits", "content", "old_string", "new_string", "input", "patch"]
                ),
                inner,
            )
        ),
    )
)
def test_any_input_is_described(payload):
    assert isinstance(change("Write", payload), str)
    assert isinstance(repair(call("apply_patch", payload)), str)


class ReadCall:
    """A call of a tool that counts how often its input is read."""

    read = 0

    def __init__(self, row: Observation) -> None:
        self.row = row

    @property
    def raw_input(self) -> str:
        ReadCall.read += 1
        return self.row.raw_input

    def __getattr__(self, name: str) -> object:
        return getattr(self.row, name)


def test_each_call_is_read_a_few_times_however_many_repairs_are_told() -> None:
    """Four hundred writes of whole files between failures that are all put right afterwards."""
    failed = [call("Bash", {"command": f"./run {at}"}, FAILED) for at in range(200)]
    for row in failed:
        row.outcome = "error"
    writes = [call("Write", {"file_path": f"{at % 7}.py", "content": f"x = {at}"}) for at in range(400)]
    worked = [call("Bash", json.loads(row.raw_input), parent_id=row.uid) for row in failed]
    rows = [*failed, *writes, *worked]
    ReadCall.read = 0
    calls = ToolCalls([ReadCall(row) for row in rows])
    told = [describe_repair(calls, len(rows) - len(worked) + at) for at in range(len(worked))]
    assert "in 0.py: “x = 392” became “x = 399”" in told[0]
    assert told[-1].endswith("ran ./run 197; ran ./run 198.")
    assert ReadCall.read <= 4 * len(rows)


@given(st.text(alphabet="ab-$#*|;é\u2003\t\n\r 'ab\"\\", max_size=20))
def test_a_line_without_quotes_is_its_words(line: str) -> None:
    try:
        words = shlex.split(line)
    except ValueError:
        assert unquote(line) == line
    else:
        assert unquote(line) == " ".join(words)
