"""Which programs can be connected: where each keeps its settings, and what Day1 writes there."""

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from day1site.launcher import join_command
from day1site.mcp_profiles import DEFAULT

HOOK = Path(__file__).resolve().parent.parent.parent / "hooks" / "client" / "hook.py"
HEADERS = HOOK.with_name("headers.py")
OPENCODE_PLUGIN = HOOK.with_name("opencode.js")
CLAUDE = (
    "SessionStart",
    "UserPromptSubmit",
    "PostToolUse",
    "PostToolUseFailure",
    "SubagentStart",
    "SubagentStop",
    "Stop",
    "StopFailure",
    "PreCompact",
    "PostCompact",
    "SessionEnd",
)
CODEX = (
    "SessionStart",
    "UserPromptSubmit",
    "PostToolUse",
    "SubagentStart",
    "SubagentStop",
    "Stop",
    "PreCompact",
    "PostCompact",
    "SessionEnd",
)
CURSOR = (
    "sessionStart",
    "beforeSubmitPrompt",
    "postToolUse",
    "postToolUseFailure",
    "afterAgentResponse",
    "subagentStart",
    "subagentStop",
    "preCompact",
    "sessionEnd",
)
MANAGED = ("/etc/claude-code", "/Library/Application Support/ClaudeCode")  # where an organisation decides
# Not PreCompress: the program calls it before every request of its model.
GEMINI = ("SessionStart", "BeforeAgent", "AfterAgent", "AfterTool", "SessionEnd")


@dataclass(frozen=True)
class Change:
    """One change of a file: ``value`` is put at ``path``, or appended there."""

    file: Path
    path: tuple[str, ...]
    value: Any
    appended: bool = False

    @property
    def is_toml(self) -> bool:
        return self.file.suffix == ".toml"


@dataclass(frozen=True)
class Server:
    """Where Day1 is, the program's own key, the file that its hooks read, and the tools that it lists."""

    url: str
    key: str
    config: Path
    profile: str = DEFAULT

    @property
    def mcp(self) -> str:
        return f"{self.url}/mcp" + ("" if self.profile == DEFAULT else f"?profile={self.profile}")

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.key}"}


Client = Callable[[Server], list[Change]]


def find_python() -> str:
    return getattr(sys, "_base_executable", "") or sys.executable


def headers_command() -> str:
    """Return the command that prints the headers of an MCP connection: its repository."""
    return join_command([find_python(), "-I", "-S", str(HEADERS)])


def hook_words(program: str, server: Server) -> list[str]:
    """Return the words of the hook client's command: the interpreter's full path, without site packages."""
    return [find_python(), "-I", "-S", str(HOOK), "--client", program, "--config", str(server.config)]


def hook_command(program: str, server: Server) -> str:
    """Return the hook client's command line."""
    return join_command(hook_words(program, server))


def claude_code(server: Server) -> list[Change]:
    moved = os.environ.get("CLAUDE_CONFIG_DIR")
    folder = Path(moved) if moved else Path.home() / ".claude"
    state = folder / ".claude.json" if moved else Path.home() / ".claude.json"
    entry = {"type": "http", "url": server.mcp, "headers": server.headers, "headersHelper": headers_command()}
    hooks = [_hook(folder / "settings.json", "claude-code", event, server) for event in CLAUDE]
    return [Change(state, ("mcpServers", "day1"), entry), *hooks]


def codex(server: Server) -> list[Change]:
    file, config = codex_files()
    table = {"url": server.mcp, "http_headers": server.headers}
    hooks = [_hook(file, "codex", event, server) for event in CODEX]
    return [Change(config, ("mcp_servers", "day1"), table), *hooks]


def codex_files() -> tuple[Path, Path]:
    """Return the file of hooks, and the one of settings, where Codex also notes which hooks are trusted."""
    folder = Path(os.environ.get("CODEX_HOME") or Path.home() / ".codex")
    return folder / "hooks.json", folder / "config.toml"


def cursor(server: Server) -> list[Change]:
    folder = Path.home() / ".cursor"
    line = hook_command("cursor", server)
    hooks = [
        Change(folder / "hooks.json", ("hooks", event), {"command": line, "timeout": _seconds(event)}, True)
        for event in CURSOR
    ]
    entry = {"url": server.mcp, "headers": server.headers}
    version = Change(folder / "hooks.json", ("version",), 1)
    return [Change(folder / "mcp.json", ("mcpServers", "day1"), entry), version, *hooks]


def gemini(server: Server) -> list[Change]:
    file = Path.home() / ".gemini" / "settings.json"
    entry = {"httpUrl": server.mcp, "headers": server.headers, "timeout": 30000}
    hooks = [_hook(file, "gemini", event, server, unit=1000) for event in GEMINI]
    return [Change(file, ("mcpServers", "day1"), entry), *hooks]


def vscode(server: Server) -> list[Change]:
    """Change the person's own file: one of the folder would be committed, key and all."""
    folders = {
        "darwin": Path.home() / "Library" / "Application Support" / "Code",
        "win32": Path(os.environ.get("APPDATA") or Path.home()) / "Code",
    }
    folder = folders.get(sys.platform, Path.home() / ".config" / "Code")
    entry = {"type": "http", "url": server.mcp, "headers": server.headers}
    return [Change(folder / "User" / "mcp.json", ("servers", "day1"), entry)]


def windsurf(server: Server) -> list[Change]:
    file = Path.home() / ".codeium" / "windsurf" / "mcp_config.json"
    return [Change(file, ("mcpServers", "day1"), {"serverUrl": server.mcp, "headers": server.headers})]


def opencode(server: Server) -> list[Change]:
    file = Path.home() / ".config" / "opencode" / "opencode.json"
    entry = {"type": "remote", "url": server.mcp, "headers": server.headers, "enabled": True}
    plugin = [OPENCODE_PLUGIN.as_uri(), {"command": hook_words("opencode", server)}]
    return [Change(file, ("mcp", "day1"), entry), Change(file, ("plugin",), plugin, True)]


def _hook(file: Path, program: str, event: str, server: Server, unit: int = 1) -> Change:
    """Return a hook in the form of Claude Code, which others share.

    The program waits for each, in their order: the client leaves what needs no answer to a background process
    of its own. A program's background hooks are cut off at its end, and lose its last events.
    """
    handler: dict[str, Any] = {"type": "command", "command": hook_command(program, server)}
    handler["timeout"] = _seconds(event) * unit
    return Change(file, ("hooks", event), {"hooks": [handler]}, True)


def _seconds(event: str) -> int:
    return 2 if event.lower() == "sessionend" else 5


def hook_switches(program: str) -> list[tuple[Path, str]]:
    """Return the settings that can turn off all hooks of a program: the file, and the name in it."""
    if program != "claude-code":
        return []
    moved = os.environ.get("CLAUDE_CONFIG_DIR")
    own = (Path(moved) if moved else Path.home() / ".claude") / "settings.json"
    managed = [Path(folder) / "managed-settings.json" for folder in MANAGED]
    local = [Path.cwd() / ".claude" / name for name in ("settings.json", "settings.local.json")]
    found = [(file, "disableAllHooks") for file in (own, *local, *managed)]
    return list(dict.fromkeys([*found, *((file, "allowManagedHooksOnly") for file in managed)]))


CLIENTS: dict[str, Client] = {
    "claude-code": claude_code,
    "cursor": cursor,
    "codex": codex,
    "gemini": gemini,
    "vscode": vscode,
    "windsurf": windsurf,
    "opencode": opencode,
}
NEXT_STEPS = {
    "claude-code": "Restart Claude Code; /mcp shows day1, /hooks its hooks.",
    "codex": "Start Codex, enter /hooks once and trust Day1's: until then they stay silent.",
    "cursor": "Restart Cursor; Settings, MCP shows day1.",
    "gemini": "Restart Gemini CLI; /mcp shows day1.",
    "vscode": "Reload the window; the list of MCP servers shows day1.",
    "windsurf": "Refresh the MCP servers in Cascade.",
    "opencode": "Restart opencode.",
}
