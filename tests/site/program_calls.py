"""How programs word a command of their models: each call anew, with what their tools add to it."""

from typing import Any

REASONS = ("Run the tests", "Run the tests again to verify the fix", "Check once more")
# Tools of programs that run a command: the program, and the field that has the command.
TOOLS = {
    "Bash": ("claude-code", "command"),
    "bash": ("opencode", "command"),
    "exec_command": ("codex", "cmd"),
    "shell": ("codex", "command"),
    "shell_command": ("codex", "command"),
    "run_shell_command": ("gemini", "command"),
}


def word_call(tool: str, line: str, number: int, folder: str = "/srv/shop") -> dict[str, Any]:
    """Return the input of the call with this number: what a program adds is otherwise in each."""
    reason, seconds = REASONS[number % len(REASONS)], 60 * (number % 3)
    added: dict[str, Any] = {"description": reason}
    command: Any = line
    if tool in ("Bash", "bash"):
        added |= {"timeout": 1000 * seconds} if seconds else {}
        added |= {"workdir": folder} if tool == "bash" and number % 2 else {}
        added |= {"run_in_background": False} if tool == "Bash" and number % 2 else {}
    elif tool == "run_shell_command":
        added |= {"dir_path": folder} if number % 2 else {}
    else:
        added = {"workdir": folder, "justification": reason, "timeout_ms": 1000 + 1000 * seconds}
        command = ["bash", "-lc", line] if tool == "shell" else line
        if tool == "exec_command":
            added = {"workdir": folder, "yield_time_ms": 1000 + number, "max_output_tokens": 2000 + number}
    return {TOOLS[tool][1]: command, **added}
