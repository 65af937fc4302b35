"""The plugin for Claude Code in the repository: complete, and never in the agent's way."""

import json
import re
from pathlib import Path
from typing import Any

from day1site.cli.connect.clients import CLAUDE, HOOK, OPENCODE_PLUGIN

ROOT = Path(__file__).parent.parent.parent
PLUGIN = ROOT / "plugins/day1"


def loaded(file: Path) -> Any:
    return json.loads(file.read_text())


def test_the_marketplace_leads_to_the_plugin() -> None:
    (plugin,) = loaded(ROOT / ".claude-plugin/marketplace.json")["plugins"]
    folder = ROOT / plugin["source"]
    assert loaded(folder / ".claude-plugin/plugin.json")["name"] == plugin["name"] == "day1"


def test_its_hooks_are_those_that_connect_writes() -> None:
    hooks = loaded(PLUGIN / "hooks/hooks.json")["hooks"]
    assert tuple(hooks) == CLAUDE
    for (entry,) in hooks.values():
        (handler,) = entry["hooks"]
        assert handler["command"].endswith('/client/hook.py" --client claude-code')
        assert handler.keys() == {"type", "command", "timeout"}
        assert handler["timeout"] <= 5


def test_its_client_is_the_one_of_day1() -> None:
    assert (PLUGIN / "client").resolve() == HOOK.parent
    assert (PLUGIN / "client" / HOOK.name).is_file()


def test_the_plugin_of_opencode_is_the_one_that_connect_names() -> None:
    assert (ROOT / "plugins/opencode/day1.js").resolve() == OPENCODE_PLUGIN
    assert OPENCODE_PLUGIN.is_file()


def test_its_server_takes_address_and_key_from_the_environment() -> None:
    server = loaded(PLUGIN / ".mcp.json")["mcpServers"]["day1"]
    assert server["url"] == "${DAY1_URL:-http://127.0.0.1:8765}/mcp"
    assert server["headers"] == {"Authorization": "Bearer ${DAY1_KEY}"}


def test_the_skill_says_when_it_is_of_use() -> None:
    text = (PLUGIN / "skills/memory/SKILL.md").read_text()
    found = re.match(r"---\nname: memory\ndescription: (.+)\n---\n", text)
    assert found
    assert len(found[1]) <= 1024
