"""What the command line itself refuses; the engines' errors have the same two attributes."""

from collections.abc import Mapping
from typing import Any


class CliError(Exception):
    """Ends the command with status 1: one line with the text and the stable code."""

    def __init__(self, code: str, text: str) -> None:
        self.code, self.text = code, text
        super().__init__(text)


class UsageError(Exception):
    """Ends the command with status 2: the command line cannot mean anything."""


def local_only(command: str) -> CliError:
    return CliError(
        "local_only",
        f"`day1 {command}` works on the server's own machine: run it there, without DAY1_URL.",
    )


class Refused(CliError):
    """What the API refused, in its own words; ``field`` names the input at fault, where one is."""

    def __init__(self, code: str, text: str, field: str = "") -> None:
        super().__init__(code, text)
        self.field = field


def name_changed(code: str, text: str, data: Mapping[str, Any]) -> str:
    """Return the sentence of a refusal, with the ids that stand in the way of what is undone."""
    changed = (data.get("changed") or ()) if code == "conflict" else ()
    return f"{text} {', '.join(map(str, changed))}".rstrip()
