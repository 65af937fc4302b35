"""Versions of agents' programs, and the oldest ones that call the hooks that Day1 writes."""

import re
import shutil
import subprocess
from pathlib import Path

from memory.program_commands import COMMANDS

TIMEOUT_SECONDS = 10.0
ALL_HOOKS = "any hook"
# From the programs' own changelogs; what is not there is not known to be missing anywhere.
MIN_VERSIONS = {
    "claude-code": {
        "PreCompact": "1.0.48",
        "UserPromptSubmit": "1.0.54",
        "SessionStart": "1.0.62",
        "SessionEnd": "1.0.85",
        "SubagentStart": "2.0.43",
        "the answer with Stop": "2.1.47",
        "PostCompact": "2.1.76",
        "StopFailure": "2.1.78",
    },
    "codex": {ALL_HOOKS: "0.128.0"},
    "gemini": {ALL_HOOKS: "0.26.0"},
    "cursor": {ALL_HOOKS: "1.7"},
}
VERSION = re.compile(r"\d+(?:\.\d+)+")


def read_version(program: str) -> tuple[str, str]:
    """Return the version of a program, and "" or why it is not known."""
    name = COMMANDS[program]
    if not (path := shutil.which(name)):
        return "", f"{name} is not found on the PATH, so its version is not known"
    try:
        done = subprocess.run(
            [path, "--version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=TIMEOUT_SECONDS,
            cwd=Path.home(),
            text=True,
            errors="replace",
        )
    except subprocess.TimeoutExpired:
        return "", f"{name} --version did not answer within {TIMEOUT_SECONDS:.0f} seconds"
    except OSError as error:
        return "", f"{name} cannot be run: {error.strerror}"
    found = VERSION.search(done.stdout)
    return (found[0], "") if found else ("", f"{name} --version names no version")


def check_version(program: str, version: str) -> list[str]:
    """Name the hooks that a version is too old for."""
    minimums = MIN_VERSIONS.get(program, {}) if version else {}
    missing = [name for name, since in minimums.items() if parse_version(version) < parse_version(since)]
    if not missing:
        return []
    newest = max((minimums[name] for name in missing), key=parse_version)
    return [f"{COMMANDS[program]} {version} is too old for {', '.join(missing)}: it takes {newest} or newer"]


def parse_version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split("."))
