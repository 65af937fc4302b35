"""The commands that start agents' programs, and which of them are on this machine."""

import shutil

COMMANDS = {
    "claude-code": "claude",
    "cursor": "cursor",
    "codex": "codex",
    "gemini": "gemini",
    "vscode": "code",
    "windsurf": "windsurf",
    "opencode": "opencode",
}


def find_installed() -> str:
    """Return the name of the first program whose command is on the PATH; "" for none."""
    return next((name for name, command in COMMANDS.items() if shutil.which(command)), "")
