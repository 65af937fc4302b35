"""What is made of a tool call when it is captured: its summary, its outcome, its kind. Pure rules.

Nothing here refuses: what is too long is cut with a mark, what no text may hold is replaced.
"""

import re
from collections.abc import Mapping
from typing import Any

from memory.db.fields import dumps
from memory.models import Observation

MOST = 2000  # characters of a field
SHORT = 400  # characters of an input within a summary

O = Observation.Outcome  # noqa: E741
T = Observation.Type

# Which of a tool's arguments says what it was about, by the verb of its summary.
COMMANDS = frozenset({"Bash", "PowerShell", "shell", "local_shell", "exec_command", "run_shell_command"})
READERS = frozenset({"Read", "read_file", "NotebookRead"})
WRITERS = frozenset({"Edit", "Write", "MultiEdit", "NotebookEdit", "apply_patch", "write_file", "replace"})
SEARCHERS = frozenset({"Grep", "Glob", "grep", "glob", "search_file_content"})
ARGUMENTS = ("command", "cmd", "file_path", "notebook_path", "path", "absolute_path", "pattern", "query")

EXIT_CODE = re.compile(r"\A\s*(?:Error:\s*)?[Ee]xit code:?\s*(-?\d+)")
TIMED_OUT = re.compile(r"\b(?:timed[ -]out|timeout (?:of|after|exceeded|expired)|deadline exceeded)\b", re.I)
FAILED = re.compile(
    r"\A\s*(?:fatal|error|err!|panic|uncaught \w+)\b[^\n]{0,40}?[:!]"
    r"|^Traceback \(most recent call last\):|: command not found\s*$",
    re.I | re.M,
)


def as_text(value: Any) -> str:
    """What a tool was given or gave back, as text that every database can hold."""
    if value is None:
        return ""
    text = value if isinstance(value, str) else dumps(value)
    return text.replace("\x00", "\ufffd").encode("utf-8", "replace").decode()


def cut(text: str, most: int = MOST) -> str:
    """The text within ``most`` characters; where it was longer, a mark at its end says by how much."""
    if len(text) <= most:
        return text
    mark = f" … [{len(text)} characters, cut]"
    return text[: most - len(mark)] + mark


def subject(given: Any) -> str:
    """What a call was about: its command, path or pattern, else all of its input."""
    if isinstance(given, Mapping):
        for name in ARGUMENTS:
            if isinstance(given.get(name), str | list) and given[name]:
                value = given[name]
                return as_text(value if isinstance(value, str) else " ".join(map(as_text, value)))
    return as_text(given)


def spoken(output: Any) -> str:
    """The readable part of what a tool gave back."""
    if isinstance(output, Mapping):
        parts = [output.get(name) for name in ("stdout", "stderr", "error", "content", "output", "text")]
        if found := [as_text(part).strip() for part in parts if part]:
            return "\n".join(found)
    return as_text(output)


def summary_of(tool: str, given: Any, output: Any) -> str:
    """One line or a few on a tool call, within the limit: what was done and what came of it."""
    about, result = cut(" ".join(subject(given).split()), SHORT), spoken(output).strip()
    if tool in COMMANDS:
        line = f"Executed command: {about}. Result: {result}"
    elif tool in READERS:
        line = f"Read file: {about}"
    elif tool in WRITERS:
        line = f"Modified file: {about}"
    elif tool in SEARCHERS:
        line = f"Searched for: {about}. Found: {result}"
    else:
        line = f"Used {tool}: {about}. Result: {result}"
    return cut(line)


def outcome_of(output: Any) -> str:
    """Whether a call succeeded, by what the tool says of itself, else by the words of a failure."""
    if isinstance(output, Mapping):
        if output.get("interrupted"):
            return O.TIMEOUT
        code = next((output[n] for n in ("exit_code", "exitCode", "returncode", "code") if n in output), 0)
        failed = output.get("is_error") or output.get("isError") or output.get("error")
        if failed or (isinstance(code, int) and code != 0):
            return O.TIMEOUT if TIMED_OUT.search(spoken(output)) else O.ERROR
        return O.SUCCESS
    text = as_text(output)
    code = EXIT_CODE.match(text)
    if (code and code[1] != "0") or (not code and FAILED.search(text)):
        return O.TIMEOUT if TIMED_OUT.search(text) else O.ERROR
    return O.SUCCESS


def type_of(outcome: str, repaired: bool) -> str:
    """The kind of a tool call: a failure, a failure that was put right, or just a call."""
    if outcome != O.SUCCESS:
        return T.ERROR
    return T.DISCOVERY if repaired else T.TOOL_USE


# What is worth a vector: not every tool call.
EMBEDDED = frozenset({T.INSIGHT, T.DECISION, T.DISCOVERY, T.ERROR})
