"""The programs of agents: the command that connects each, and its settings where that cannot run."""

import json
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.conf import settings
from django.utils.translation import gettext_lazy as _

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise

Setup = Callable[[str, str], str]  # of the server's address and a key


@dataclass(frozen=True)
class AgentProgram:
    """``name`` is its name for ``day1 connect``, ``setup`` its settings with a key that is there.

    ``file`` is where that text goes; "" where it is a command. ``has_hooks``: connect writes hooks too.
    """

    name: str
    title: "StrOrPromise"
    setup: Setup
    next_step: "StrOrPromise"
    file: str = ""
    has_hooks: bool = False
    is_connectable: bool = True


def _bearer_headers(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


def _as_json(value: object) -> str:
    return json.dumps(value, indent=2)


def claude_code(url: str, key: str) -> str:
    return (
        f'claude mcp add --transport http --scope user day1 {url}/mcp --header "Authorization: Bearer {key}"'
    )


def gemini(url: str, key: str) -> str:
    return (
        f'gemini mcp add --transport http --scope user day1 {url}/mcp --header "Authorization: Bearer {key}"'
    )


def codex(url: str, key: str) -> str:
    headers = f'{{ "Authorization" = "Bearer {key}" }}'
    return f'[mcp_servers.day1]\nurl = "{url}/mcp"\nhttp_headers = {headers}'


def cursor(url: str, key: str) -> str:
    return _as_json({"mcpServers": {"day1": {"url": f"{url}/mcp", "headers": _bearer_headers(key)}}})


def vscode(url: str, key: str) -> str:
    return _as_json(
        {"servers": {"day1": {"type": "http", "url": f"{url}/mcp", "headers": _bearer_headers(key)}}}
    )


def windsurf(url: str, key: str) -> str:
    return _as_json({"mcpServers": {"day1": {"serverUrl": f"{url}/mcp", "headers": _bearer_headers(key)}}})


def opencode(url: str, key: str) -> str:
    entry = {"type": "remote", "url": f"{url}/mcp", "headers": _bearer_headers(key), "enabled": True}
    return _as_json({"mcp": {"day1": entry}})


def any_mcp_client(url: str, key: str) -> str:
    return f"{url}/mcp\nAuthorization: Bearer {key}"


def one_event(url: str, key: str) -> str:
    """Return a request that brings one event, as a program's hook would."""
    event = {
        "hook_event_name": "UserPromptSubmit",
        "session_id": "first",
        "prompt": "Deploys run on Friday.",
    }
    return (
        f'curl {url}/api/v1/ingest/hook -H "Authorization: Bearer {key}"'
        f" -H \"Content-Type: application/json\" -d '{json.dumps(event)}'"
    )


PROGRAMS = (
    AgentProgram(
        "claude-code",
        "Claude Code",
        claude_code,
        _("Restart Claude Code: /mcp shows day1, /hooks its hooks."),
        has_hooks=True,
    ),
    AgentProgram(
        "codex",
        "Codex",
        codex,
        _("Start Codex, enter /hooks once and trust Day1's: until then they stay silent."),
        file="~/.codex/config.toml",
        has_hooks=True,
    ),
    AgentProgram(
        "cursor",
        "Cursor",
        cursor,
        _("Restart Cursor: Settings, MCP shows day1."),
        file="~/.cursor/mcp.json",
        has_hooks=True,
    ),
    AgentProgram("gemini", "Gemini CLI", gemini, _("Restart Gemini CLI: /mcp shows day1."), has_hooks=True),
    AgentProgram(
        "vscode",
        "VS Code",
        vscode,
        _("Reload the window: the list of MCP servers shows day1."),
        file="mcp.json",
    ),
    AgentProgram(
        "windsurf",
        "Windsurf",
        windsurf,
        _("Refresh the MCP servers in Cascade."),
        file="~/.codeium/windsurf/mcp_config.json",
    ),
    AgentProgram(
        "opencode",
        "opencode",
        opencode,
        _("Restart opencode."),
        file="~/.config/opencode/opencode.json",
        has_hooks=True,
    ),
    AgentProgram(
        "mcp",
        _("Any MCP client"),
        any_mcp_client,
        _("Enter the address and the header in its settings for an MCP server over HTTP."),
        is_connectable=False,
    ),
    AgentProgram(
        "rest",
        _("Hooks and REST by hand"),
        one_event,
        _("This sends one event. Other events and all of REST take the same header."),
        is_connectable=False,
    ),
)


def connect_command(program: AgentProgram, url: str, project: str) -> str:
    """Return the command for the server's own machine, which makes a key; "" where there is none."""
    if not program.is_connectable:
        return ""
    words = ["connect", program.name, "--url", url, "--project", project]
    return f"{settings.COMMAND_LINE} {shlex.join(words)}{settings.COMMAND_OPTIONS}"
