"""Repairs: what was done between a failed call and the success of the same call. No database access."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile
from typing import Any
from uuid import UUID

from memory.command_lines import Typed, load_input, only_looks, read_line, read_typed, unquote
from memory.engines.sessions.tool_calls import (
    WRITERS,
    find_patched_files,
    summarise_input,
    truncate,
)
from memory.models import Observation
from memory.patterns import lazy_pattern

MAX_STEPS = 5  # between a failure and its repair that are listed
MAX_COMMAND, MAX_REASON = 200, 200  # characters
MAX_WHOLE_COMMAND = 500  # characters of a command that repaired something
MAX_LENGTH = 780  # characters of a repair: a longer one is not shown whole
MAX_CHANGE = 160  # characters of the lines of a change
STATUS_LINES = ("exit code", "process exited", "process group pgid")
SHOWN_OUTPUT = "Output: "  # before what a command printed
# What a program says of a call that it did not carry out: nothing failed.
NOT_DONE = ("<tool_use_error>", "The user doesn't want to proceed")
COLOURS = lazy_pattern(r"\x1b?\[(?:\d{1,3}(?:;\d{1,3})*)?[mK]")
# A last line that says only that something failed, and a line that says what.
POOR = lazy_pattern(
    r"(?i)\S*|hint: .*|.*\btask failed\b.*|exit status \d+|\W*\w+: \d+|.* \[\d+ characters, cut\]|"
    r"\W*(?:test )?\w+ failed,? .*\bpassed\b.*"
)
PLACE = lazy_pattern(r"[\w./\\-]+\.\w{1,5}[:(]\d+.*\s\w")
TELLING = lazy_pattern(
    r"(?i)\b(?:\w*error|fail(?:ed|ure)?|fatal|rejected|cannot|can't|could not|not found|undefined|unexpected"
    r"|expected|missing|denied|refused|invalid|unable|no such|should)\b.*\s\w"
)
# A failure that another folder, or another way to call a program, may put right.
MISSING = lazy_pattern(
    r"not found|no such file|can(?:'t|not|not be) (?:open|find|resolve)|could(?: not|n't) (?:find|open|read)"
    r"|enoent|does not exist|missing script|no tests ran|not a git repository|no rule to make"
    r"|unable to (?:find|locate)|not recognized|no module named|no \S+ found",
    re.I,
)
PATHS = ("file_path", "path", "absolute_path", "notebook_path")
OLD, NEW = ("old_string", "oldString"), ("new_string", "newString")


@dataclass(frozen=True)
class Step:
    """What was done between a failure and its repair; ``text`` is "" for what changed nothing."""

    text: str
    short: str


class ToolCalls:
    """The calls of a session in their order, each read once however many repairs are told of them."""

    def __init__(self, rows: Sequence[Observation]) -> None:
        self.rows = rows
        self._steps: dict[int, Step] = {}

    @cached_property
    def positions(self) -> dict[UUID, int]:
        """Return where each call stands, by its id."""
        return {row.uid: at for at, row in enumerate(self.rows)}

    @cached_property
    def contents_before(self) -> list[str]:
        """Return for each call what its file was written as before; "" where the session did not write it."""
        written: dict[str, str] = {}
        before = []
        for row in self.rows:
            call_input = load_input(row.raw_input) if row.tool_name in WRITERS else None
            path = find_path(call_input)
            before.append(written.get(path, ""))
            if isinstance(call_input, Mapping):
                written[path] = first_text(call_input, ("content",))
        return before

    def get_step(self, index: int) -> Step:
        """Return ``describe_step`` of a call."""
        if index not in self._steps:
            self._steps[index] = describe_step(self, index)
        return self._steps[index]


def describe_repair(calls: ToolCalls, index: int) -> str:
    """Return the steps between a failure and the success of the same call as a text; "" for none."""
    rows, worked = calls.rows, calls.rows[index]
    failed = calls.positions.get(worked.parent_id, index) if worked.parent_id else index
    if failed >= index:
        return ""
    between = [at for at in range(failed + 1, index) if rows[at].input_hash != worked.input_hash]
    steps = [calls.get_step(at) for at in between if rows[at].outcome == Observation.Outcome.SUCCESS.value]
    done = list(dict.fromkeys(step for step in steps if step.text))[-MAX_STEPS:]
    form, reason = describe_form(rows[failed], worked), get_reason(rows[failed])
    if form is None or not reason or not (done or form):
        return ""
    failure = f"{describe_call(rows[failed])} failed: {reason}. It worked "
    if not done:
        return f"{failure}as: {form}."
    end = f", and as: {form}." if form else "."
    steps_length = MAX_LENGTH - len(failure) - len("after: ") - len(end)
    return f"{failure}after: {'; '.join(fit_steps(done, steps_length))}{end}"


def describe_form(failed: Observation, worked: Observation) -> str | None:
    """Return how a command was called when it worked, where it was called otherwise before; "" for the same.

    None where it ran in another folder, and nothing was missing in the one before: those are two commands.
    """
    before, after = read_form(failed), read_form(worked)
    if unquote(before.line) != unquote(after.line):
        return whole_command(after.whole, MAX_WHOLE_COMMAND)
    if before.folder == after.folder:
        return ""
    if not MISSING.search(failed.summary.partition("Result:")[2]):
        return None if before.folder and after.folder else ""
    return whole_command(f"cd {after.folder} && {after.line}", MAX_WHOLE_COMMAND) if after.folder else ""


def read_form(row: Observation) -> Typed:
    return read_typed(row.tool_name, load_input(row.raw_input))


def fit_steps(steps: Sequence[Step], max_length: int) -> list[str]:
    """Return the texts of the steps; where not all have room the last ones whole, and earlier ones in short.

    The last one stays whatever its length.
    """
    first = 0
    while first < len(steps) - 1 and measure_short(steps[first:]) > max_length:
        first += 1
    texts: list[str] = []
    for at in range(len(steps) - 1, first - 1, -1):
        left = max_length - sum(len(text) + 2 for text in texts) - measure_short(steps[first:at])
        texts.append(steps[at].text if len(steps[at].text) <= left else steps[at].short)
    return texts[::-1]


def measure_short(steps: Sequence[Step]) -> int:
    return sum(len(step.short) + 2 for step in steps)


def describe_call(row: Observation) -> str:
    if line := show_line(row):
        return whole_command(line)
    about = " ".join(summarise_input(load_input(row.raw_input)).split())
    return truncate(f"{row.tool_name} {about}", MAX_COMMAND)


def show_line(row: Observation) -> str:
    return " ".join(read_line(row.tool_name, load_input(row.raw_input)).split())


def get_reason(row: Observation) -> str:
    """Return the last line of an error that says what failed; "" where the call was not carried out."""
    text = COLOURS.sub("", row.summary.partition("Result:")[2]).strip()
    if text.startswith(NOT_DONE):
        return ""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    reasons = [line for line in lines if not line.lower().startswith(STATUS_LINES)] or lines
    if not reasons:
        return "no reason given" if show_line(row) else ""
    return truncate(choose_reason(reasons).removeprefix(SHOWN_OUTPUT).rstrip("."), MAX_REASON)


def choose_reason(lines: Sequence[str]) -> str:
    """Return the last line; where that says little, the last that names a place or what failed."""
    if not POOR.fullmatch(lines[-1]):
        return lines[-1]
    rich = [line for line in lines if not POOR.fullmatch(line)]
    for kind in (PLACE, TELLING):
        if found := [line for line in rich if kind.search(line)]:
            return found[-1]
    return lines[-1]


def describe_step(calls: ToolCalls, index: int) -> Step:
    """Return a change of a file or a command."""
    row = calls.rows[index]
    if line := show_line(row):
        if only_looks(read_line(row.tool_name, load_input(row.raw_input))):
            return Step("", "")
        return Step(f"ran {whole_command(line, MAX_WHOLE_COMMAND)}", f"ran {whole_command(line)}")
    text = describe_change(calls, index) if row.tool_name in WRITERS else ""
    path = find_path(load_input(row.raw_input)) if text else ""
    return Step(text, min(text, truncate(f"changed {path}", MAX_REASON), key=len) if path else text)


def whole_command(line: str, max_length: int = MAX_COMMAND) -> str:
    """Return a command, or of a long one its name and length: half of a command says something else."""
    if len(line) <= max_length:
        return line
    return f"{truncate(line.split()[0], 60)} with {len(line)} characters"


# ---- changes of files ----------------------------------------------------------------------------------


def describe_change(calls: ToolCalls, index: int) -> str:
    """Return a file's name, and the lines that were taken out and put in where they are known."""
    row = calls.rows[index]
    call_input = load_input(row.raw_input)
    name = find_path(call_input)
    removed, added = changed_lines(calls, index, call_input)
    if not isinstance(call_input, Mapping) or not (removed or added):
        return f"changed {name}" if name else truncate(row.summary.partition(". Result:")[0], MAX_REASON)
    if not removed:
        return f"put into {name}: {quote_lines(added)}"
    if not added:
        return f"took out of {name}: {quote_lines(removed)}"
    return f"in {name}: {quote_lines(removed)} became {quote_lines(added)}"


def changed_lines(calls: ToolCalls, index: int, call_input: Any) -> tuple[list[str], list[str]]:
    """Return the lines that a change removed and those that it added."""
    if not isinstance(call_input, Mapping):
        return [], []
    if patch := first_text(call_input, ("patch", "input", "command")):
        return patch_lines(patch)
    several = call_input.get("edits")
    edits: list[Any] = several if isinstance(several, list) else [call_input]
    removed: list[str] = []
    added: list[str] = []
    for edit in edits:
        if isinstance(edit, Mapping) and isinstance(new := first_text(edit, NEW), str):
            before, after = differing(first_text(edit, OLD), new)
            removed, added = removed + before, added + after
    content = call_input.get("content")
    if isinstance(content, str):
        return differing(calls.contents_before[index], content)
    return removed, added


def differing(old: str, new: str) -> tuple[list[str], list[str]]:
    """Return the lines of either text without those that both begin and end with."""
    before, after = old.splitlines(), new.splitlines()
    start = count_equal(before, after)
    before, after = before[start:], after[start:]
    end = count_equal(before[::-1], after[::-1])
    return before[: len(before) - end], after[: len(after) - end]


def count_equal(lines: Sequence[str], others: Sequence[str]) -> int:
    """Return with how many equal lines both begin."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(lines, others, strict=False)))


def patch_lines(patch: str) -> tuple[list[str], list[str]]:
    lines = [line for line in patch.splitlines() if line[:3] not in ("+++", "---")]
    return [line[1:] for line in lines if line[:1] == "-"], [line[1:] for line in lines if line[:1] == "+"]


def find_path(call_input: Any) -> str:
    """Return the path of the file that a call changes; of a patch those of all its files."""
    if not isinstance(call_input, Mapping):
        return ""
    if path := first_text(call_input, PATHS):
        return path
    return ", ".join(find_patched_files(first_text(call_input, ("patch", "input", "command"))))


def quote_lines(lines: Sequence[str]) -> str:
    """Return the first lines that fit, in quotation marks, and how many more there are."""
    plain = [" ".join(line.split()) for line in lines]
    shown: list[str] = []
    for line in filter(None, plain):
        if shown and len(" / ".join([*shown, line])) > MAX_CHANGE:
            break
        shown.append(truncate(line, MAX_CHANGE))
    left = sum(map(bool, plain)) - len(shown)
    return f"“{' / '.join(shown)}”" + (f" and {left} more lines" if left else "")


def first_text(call_input: Mapping[str, Any], names: Sequence[str]) -> str:
    return next((call_input[name] for name in names if isinstance(call_input.get(name), str)), "")
