"""Cleaning of texts before storage: private parts, secrets, injected text, Day1's own calls, length limits.

The same for hook events and imported transcripts. Without Django: the command line imports transcripts for
a server elsewhere.
"""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from memory.redaction import redact_all
from memory.texts import BRIEFING_TAG, is_deep, make_storable

MAX_TEXT_BYTES = 1024 * 1024
LONG_TEXT_BYTES = 4096  # beyond a session's limit a captured text is cut to this
MAX_INPUT_LENGTH = 2000  # characters of a text in a tool's input
MAX_INPUT_ITEMS = 200  # items of a list in a tool's input

PRIVATE = re.compile(r"<private\b[^>]{0,200}>.*?(?:</private\s*>|\Z)", re.I | re.S)
END_OF_PRIVATE = re.compile(r"\A.*?</private\s*>", re.I | re.S)  # its start was cut off

# What is put into any text: Day1's briefing, and reminders of the program.
INJECTED_ANYWHERE = rf"(?i:{BRIEFING_TAG})|system-reminder"
# What programs put among a person's words: output of commands and hooks, instructions, the environment.
INJECTED_IN_PROMPTS = (
    rf"{INJECTED_ANYWHERE}|local-command-[a-z]+|command-[a-z]+|bash-[a-z]+|task-notification|teammate-message|[a-z-]*hook|hook_context"
    r"|environment_context|user_instructions|permissions instructions|ide_[a-z_]+|turn_aborted"
    r"|subagent_notification|INSTRUCTIONS"
)

SYNTHETIC_ANSWERS = frozenset({"No response requested."})  # what Claude Code puts in place of an answer

OWN_TOOL = re.compile(
    r"(?i)(?:mcp_+(?:plugin_day1_)?)?day1[._]+\w+"
    r"|memory_(?:search|get|write|update|supersede|context|timeline|graph_query|explain|remember|more)"
)
OWN_COMMAND = re.compile(r"\s*(?:\S*/)?day1\s")

BLOB = re.compile(r"(?<![A-Za-z0-9+/=_-])[A-Za-z0-9+/=_-]{2000,}")
WRAPPER = re.compile(
    r"\A<untrusted_context>\n(.*?)(?:\nProcess Group PGID: \d{1,9})?\n</untrusted_context>\Z", re.S
)  # of Gemini CLI
EXIT_LINES = {  # of a program's shell tool: the line with the exit code of the command
    "gemini": re.compile(r"^Exit Code: (-?\d{1,9})$", re.M),
    "codex": re.compile(r"\A(?:.*\n){0,4}?Process exited with code (-?\d{1,9})$", re.M),
}


def compile_elements(names: str) -> re.Pattern[str]:
    """Compile a pattern of these elements with their content; one without an end extends to the end."""
    return re.compile(rf"<({names})\b[^>]{{0,200}}>.*?(?:</(?i:\1)\s*>|\Z)", re.S)


# As Gemini CLI passes on what a hook told it.
ESCAPED_BRIEFING = re.compile(rf"(?i)&lt;{BRIEFING_TAG}&gt;.*?(?:&lt;/{BRIEFING_TAG}&gt;|\Z)", re.S)
_injected = compile_elements(INJECTED_ANYWHERE)
_injected_in_prompts = compile_elements(INJECTED_IN_PROMPTS)


def clean(value: Any, redact: Callable[[Any], Any] = redact_all) -> Any:
    """Return a JSON value with private parts and secrets removed from every text."""
    return redact(remove_private(value))


def remove_private(value: Any) -> Any:
    """Return a JSON value that can be stored, without the private parts of its texts and names."""
    if isinstance(value, str):
        return remove_private_blocks(make_storable(value))
    if isinstance(value, Mapping):
        return {remove_private(str(name)): remove_private(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [remove_private(part) for part in value]
    return value


def remove_private_blocks(text: str) -> str:
    """Return the text without <private> blocks; an unclosed block extends to the end."""
    if "private" not in text.lower():
        return text
    return END_OF_PRIVATE.sub("[private]", PRIVATE.sub("[private]", text))


def strip_injected(text: str) -> str:
    """Return a text without what Day1 or the program inserted. Other tags are its own: it may be a file."""
    return _injected.sub("", text).strip()


def strip_prompt(text: str) -> str:
    """Return a person's own words, without all that Day1 or the program inserted among them."""
    return ESCAPED_BRIEFING.sub("", _injected_in_prompts.sub("", text)).strip()


def strip_answer(text: str) -> str:
    """Return an agent's own words; "" where the program wrote in its place."""
    words = strip_injected(text)
    return "" if words in SYNTHETIC_ANSWERS else words


def is_own_call(tool: str, payload: Any) -> bool:
    """Return whether a call is one of Day1's own tools or commands, which is not stored: it is no news."""
    command = payload.get("command") if isinstance(payload, Mapping) else None
    return bool(OWN_TOOL.fullmatch(tool) or (isinstance(command, str) and OWN_COMMAND.match(command)))


def strip_output(text: str) -> str:
    """Return a tool's output without what the program put around it; long base64 as its length."""
    text = WRAPPER.sub(r"\1", text.strip())
    return BLOB.sub(lambda found: f"[{len(found[0])} characters of data]", text)


def find_exit_code(text: str, client: str) -> int | None:
    """Return the exit code that some programs write into a command's output; None where there is none."""
    found = EXIT_LINES[client].findall(text) if client in EXIT_LINES else []
    return int(found[-1]) if found else None


def parse_json(value: Any) -> Any:
    """Parse a value that a program may have encoded as JSON in a text."""
    if isinstance(value, str) and value[:1] in ("{", "["):
        try:
            parsed = json.loads(value)
            return value if is_deep(parsed) else parsed
        except (ValueError, RecursionError):
            return value
    return value


def read_id(value: Any) -> str:
    """Return an id as text; "" for a value of another kind."""
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return str(value) if is_number or isinstance(value, str) else ""


def cut_texts(value: Any) -> Any:
    """Return a JSON value with every text and list cut."""
    if isinstance(value, str):
        cut = f"{value[:MAX_INPUT_LENGTH]} … [{len(value)} characters, cut]"
        return value if len(value) <= MAX_INPUT_LENGTH else cut
    if isinstance(value, Mapping):
        return {name: cut_texts(part) for name, part in value.items()}
    if isinstance(value, list):
        return [cut_texts(part) for part in value[:MAX_INPUT_ITEMS]]
    return value


def cut_middle(text: str, max_bytes: int = MAX_TEXT_BYTES) -> str:
    """Cut a text to so many bytes: its head and tail, with a mark between them that gives the full size."""
    raw = text.encode()
    if len(raw) <= max_bytes:
        return text
    mark = f"\n… [{len(raw)} bytes, cut] …\n"
    half = (max_bytes - len(mark.encode())) // 2
    return raw[:half].decode(errors="ignore") + mark + raw[-half:].decode(errors="ignore")
