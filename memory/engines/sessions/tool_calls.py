"""Derived fields of a captured tool call: its summary, outcome and type. No database access.

Nothing is refused: long texts are cut with a mark, invalid characters are replaced.
"""

import re
from collections.abc import Mapping
from typing import Any

from memory.command_lines import COMMANDS
from memory.db.fields import dumps
from memory.models import Observation
from memory.texts import make_storable

MAX_LENGTH = 2000  # characters of a field
MAX_SUMMARY_INPUT = 400  # characters of an input within a summary

Outcome = Observation.Outcome
Type = Observation.Type

# Tool names by the verb of the summary, and the arguments that name the subject of a call.
READERS = frozenset({"Read", "read_file", "NotebookRead"})
WRITERS = frozenset({"Edit", "Write", "MultiEdit", "NotebookEdit", "apply_patch", "write_file", "replace"})
SEARCHERS = frozenset({"Grep", "Glob", "grep", "glob", "search_file_content"})
ARGUMENTS = ("command", "cmd", "file_path", "notebook_path", "path", "absolute_path", "pattern", "query")

# The lines of a patch that name a file: of apply_patch, else of a unified difference.
PATCHED_FILE = re.compile(r"^(?:\*\*\* (?:Add|Update|Delete) File: |\+\+\+ (?:b/)?)(.+)$", re.M)
APPLIED_PATCH = "*** Begin Patch"
EXIT_CODES = ("exit_code", "exitCode", "returncode")
FETCHED = range(200, 400)  # as ``code``, which is the status of HTTP where a tool fetches a page
EXIT_CODE = re.compile(r"\A\s*(?:Error:\s*)?[Ee]xit code:?\s*(-?\d+)")
TIMED_OUT = re.compile(r"\b(?:timed[ -]out|timeout (?:of|after|exceeded|expired)|deadline exceeded)\b", re.I)
FAILED = re.compile(
    r"\A\s*(?:fatal|error|err!|panic|uncaught \w+)\b[^\n]{0,40}?[:!]"
    r"|^Traceback \(most recent call last\):|: command not found\s*$",
    re.I | re.M,
)


def as_text(value: Any) -> str:
    """Return a tool's input or output as text that every database can store."""
    if value is None:
        return ""
    return make_storable(value if isinstance(value, str) else dumps(value))


def truncate(text: str, max_length: int = MAX_LENGTH) -> str:
    """Cut a text to ``max_length`` characters; a mark at its end gives the full length."""
    if len(text) <= max_length:
        return text
    mark = f" … [{len(text)} characters, cut]"
    return text[: max_length - len(mark)] + mark


def summarise_input(call_input: Any) -> str:
    """Return the subject of a call: its files, command, path or pattern, else all of its input."""
    text = find_subject(call_input)
    return " ".join(find_patched_files(text) if text.lstrip().startswith(APPLIED_PATCH) else ()) or text


def find_patched_files(patch: str) -> list[str]:
    """Return the files that a patch changes, each once; a line that it adds may begin with ``++`` too."""
    lines = list(PATCHED_FILE.finditer(patch))
    applied = [found for found in lines if found[0].startswith("***")]
    return list(dict.fromkeys(name for found in applied or lines if (name := found[1].strip())))


def find_subject(call_input: Any) -> str:
    if isinstance(call_input, Mapping):
        for name in ARGUMENTS:
            if isinstance(call_input.get(name), str | list) and call_input[name]:
                value = call_input[name]
                return as_text(value if isinstance(value, str) else " ".join(map(as_text, value)))
    return as_text(call_input)


def extract_output(output: Any) -> str:
    """Return the readable part of a tool's output."""
    if isinstance(output, Mapping):
        names = ("stdout", "stderr", "error", "content", "output", "text")
        parts = [output[name] for name in names if name in output]
        if parts:
            return "\n".join(as_text(part).strip() for part in parts if part)
    return as_text(output)


def summarize_call(tool: str, call_input: Any, output: Any) -> str:
    """Return a short summary of a tool call, within the limit: the action and its result."""
    about, result = (
        truncate(" ".join(summarise_input(call_input).split()), MAX_SUMMARY_INPUT),
        extract_output(output).strip(),
    )
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
    return truncate(line)


def detect_outcome(output: Any) -> str:
    """Return the outcome of a call, from the tool's own status, else from the words of its output."""
    if isinstance(output, Mapping):
        if output.get("interrupted"):
            return Outcome.TIMEOUT
        failed = output.get("is_error") or output.get("isError") or output.get("error")
        if failed or has_failure_code(output):
            return Outcome.TIMEOUT if TIMED_OUT.search(extract_output(output)) else Outcome.ERROR
        return Outcome.SUCCESS
    text = as_text(output)
    code = EXIT_CODE.match(text)
    if (code and code[1] != "0") or (not code and FAILED.search(text)):
        return Outcome.TIMEOUT if TIMED_OUT.search(text) else Outcome.ERROR
    return Outcome.SUCCESS


def has_failure_code(output: Mapping[str, Any]) -> bool:
    """Return whether an exit code, or the status of a page that was fetched, says that a call failed."""
    name = next((name for name in EXIT_CODES if name in output), "")
    code = output.get(name or "code")
    is_fetched = not name and code in FETCHED
    return isinstance(code, int) and code != 0 and not is_fetched


def choose_type(outcome: str, repaired: bool) -> str:
    """Return the type of a tool call: an error, a discovery (a repaired failure), or a plain call."""
    if outcome != Outcome.SUCCESS:
        return Type.ERROR
    return Type.DISCOVERY if repaired else Type.TOOL_USE


# Types worth a vector: not every tool call.
EMBEDDED = frozenset({Type.INSIGHT, Type.DECISION, Type.DISCOVERY, Type.ERROR})
