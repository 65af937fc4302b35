"""Settings files of agents' programs: changed, changed again, and restored."""

# ruff: noqa: F811  fixtures that are imported

import json
import os
import shlex
import subprocess
import tomllib
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from day1site.cli.connect import jsonc, settings_files
from day1site.cli.connect.clients import headers_command
from memory.models import ApiKey
from tests.site.connect_home import Day1, day1, home, tree  # noqa: F401  fixtures

pytestmark = pytest.mark.django_db(transaction=True)

MCP = "http://127.0.0.1:8765/mcp"


def key_of(home: Path, program: str) -> str:
    return str(json.loads((home / ".config/day1" / f"{program}.json").read_text())["key"])


SERVERS = {  # program -> (file, path to the entry, the entry without its headers)
    "claude-code": (
        ".claude.json",
        ("mcpServers",),
        {"type": "http", "url": MCP, "headersHelper": headers_command()},
    ),
    "cursor": (".cursor/mcp.json", ("mcpServers",), {"url": MCP}),
    "gemini": (".gemini/settings.json", ("mcpServers",), {"httpUrl": MCP, "timeout": 30000}),
    "vscode": (".config/Code/User/mcp.json", ("servers",), {"type": "http", "url": MCP}),
    "windsurf": (".codeium/windsurf/mcp_config.json", ("mcpServers",), {"serverUrl": MCP}),
    "opencode": (".config/opencode/opencode.json", ("mcp",), {"type": "remote", "url": MCP, "enabled": True}),
}
HOOKS = {
    "claude-code": (".claude/settings.json", 11),
    "cursor": (".cursor/hooks.json", 9),
    "codex": (".codex/hooks.json", 9),
    "gemini": (".gemini/settings.json", 5),
}


@pytest.mark.parametrize("program", SERVERS)
def test_a_program_is_told_the_address_and_a_key_of_its_own(day1: Day1, home: Path, program: str) -> None:
    assert day1("connect", program)[0] == 0
    file, path, entry = SERVERS[program]
    found = json.loads((home / file).read_text())
    for name in path:
        found = found[name]
    key = ApiKey.objects.get(label=program)
    assert found == {"day1": {**entry, "headers": {"Authorization": f"Bearer {key_of(home, program)}"}}}
    assert key.scopes == ["write"]
    assert (home / file).stat().st_mode & 0o777 == 0o600
    assert (home / ".config/day1" / f"{program}.json").stat().st_mode & 0o777 == 0o600


def test_the_headers_of_claude_code_name_the_repository_that_it_works_in(home: Path, tmp_path: Path) -> None:
    def read_headers(folder: Path) -> object:
        words = shlex.split(headers_command())
        env = {name: value for name, value in os.environ.items() if not name.endswith("_PROJECT_DIR")}
        return json.loads(subprocess.run(words, cwd=folder, env=env, capture_output=True, check=True).stdout)

    config = tmp_path / ".git" / "config"
    config.parent.mkdir()
    config.write_text('[remote "origin"]\n\turl = git@github.com:acme/shop.git\n')
    assert read_headers(tmp_path) == {"Day1-Repository": "github.com/acme/shop"}
    odd = tmp_path / "läden"
    odd.mkdir()
    config.unlink()
    config.parent.rmdir()
    assert read_headers(odd) == {}


def test_a_program_may_list_other_tools(day1: Day1, home: Path) -> None:
    def address() -> str:
        return str(json.loads((home / ".cursor/mcp.json").read_text())["mcpServers"]["day1"]["url"])

    assert day1("connect", "cursor", "--profile", "small")[0] == 2
    assert tree(home) == {}
    assert day1("connect", "cursor", "--profile", "memory")[0] == 0
    assert address() == f"{MCP}?profile=memory"
    day1("connect", "cursor")  # it stays as it was chosen
    assert address() == f"{MCP}?profile=memory"
    day1("connect", "cursor", "--profile", "core")
    assert address() == MCP
    day1("connect", "cursor", "--profile", "all")
    assert address() == f"{MCP}?profile=all"
    day1("connect", "cursor")
    assert address() == f"{MCP}?profile=all"
    day1("connect", "cursor", "--undo")
    assert not (home / ".cursor/mcp.json").exists()
    told = json.loads(day1("connect", "print", "--profile", "memory", "--format", "json")[1])
    assert told["mcp"]["url"] == f"{MCP}?profile=memory"


def test_an_older_connection_keeps_its_address(day1: Day1, home: Path) -> None:
    """It noted the default of then, all, which its address does not name."""
    day1("connect", "cursor")
    file = home / ".config/day1/cursor.connected.json"
    state = json.loads(file.read_text())
    assert state.pop("listed") == "core"
    file.write_text(json.dumps(state | {"profile": "all"}))
    day1("connect", "cursor")
    assert json.loads((home / ".cursor/mcp.json").read_text())["mcpServers"]["day1"]["url"] == MCP
    file.write_text(json.dumps(state | {"profile": "all"}))
    day1("connect", "cursor", "--undo")
    assert not (home / ".cursor/mcp.json").exists()


def test_codex_gets_a_table(day1: Day1, home: Path) -> None:
    day1("connect", "codex")
    found = tomllib.loads((home / ".codex/config.toml").read_text())
    headers = {"Authorization": f"Bearer {key_of(home, 'codex')}"}
    assert found == {"mcp_servers": {"day1": {"url": MCP, "http_headers": headers}}}


@pytest.mark.parametrize("program", HOOKS)
def test_hooks_run_the_client_with_the_programs_config(day1: Day1, home: Path, program: str) -> None:
    day1("connect", program)
    file, count = HOOKS[program]
    hooks = json.loads((home / file).read_text())["hooks"]
    lines = [(entry["hooks"][0] if "hooks" in entry else entry) for (entry,) in hooks.values()]
    assert len(lines) == count
    for line in lines:
        words = shlex.split(line["command"])
        assert Path(words[0]).is_absolute()
        assert words[1:3] == ["-I", "-S"]
        assert words[3].endswith("day1site/hooks/client/hook.py")
        assert words[4:] == ["--client", program, "--config", str(home / f".config/day1/{program}.json")]
        assert line["timeout"] <= (5000 if program == "gemini" else 5)
        assert "onFailure" not in line


def test_opencode_gets_a_plugin_that_runs_the_client(day1: Day1, home: Path) -> None:
    day1("connect", "opencode")
    ((plugin, options),) = json.loads((home / ".config/opencode/opencode.json").read_text())["plugin"]
    assert Path(plugin.removeprefix("file://")).is_file()
    words = options["command"]
    assert Path(words[0]).is_absolute()
    assert words[3].endswith("day1site/hooks/client/hook.py")
    assert words[4:] == ["--client", "opencode", "--config", str(home / ".config/day1/opencode.json")]


def test_gemini_calls_one_hook_for_a_tool_and_none_for_a_request_of_its_model(day1: Day1, home: Path) -> None:
    day1("connect", "gemini")
    hooks = json.loads((home / ".gemini/settings.json").read_text())["hooks"]
    assert sorted(hooks) == ["AfterAgent", "AfterTool", "BeforeAgent", "SessionEnd", "SessionStart"]
    assert [len(entries) for entries in hooks.values()] == [1] * 5


def test_no_hook_of_claude_code_runs_beside_the_others(day1: Day1, home: Path) -> None:
    day1("connect", "claude-code")  # what runs beside is cut off at the end, and comes in another order
    hooks = json.loads((home / ".claude/settings.json").read_text())["hooks"]
    assert [entry["hooks"][0] for (entry,) in hooks.values() if "async" in entry["hooks"][0]] == []


THEIRS = {
    "claude-code": (
        ".claude/settings.json",
        """\
// my settings
{
  "model": "opus", /* the large one */
  "hooks": {
    "Stop": [
      {"hooks": [{"type": "command", "command": "say done"}]}, // loud
    ],
  },
}
""",
    ),
    "cursor": (".cursor/mcp.json", '{"mcpServers":{"other":{"url":"http://x"}}}'),
    "codex": (".codex/config.toml", '# mine\nmodel = "x"\n\n[mcp_servers.other]\ncommand = "y" # z\n'),
    "gemini": (".gemini/settings.json", '{\r\n\t"theme": "Ünicode ☕"\r\n}\r\n'),
    "vscode": (".config/Code/User/mcp.json", '{\n  "inputs": [],\n  "servers": {}\n}'),
    "windsurf": (".codeium/windsurf/mcp_config.json", ""),
    "opencode": (".config/opencode/opencode.json", '{"$schema": "https://opencode.ai/config.json"} // end'),
}


def loaded(file: Path) -> Any:
    text = file.read_bytes().decode()
    return tomllib.loads(text) if file.suffix == ".toml" else jsonc.loads(text)


@pytest.mark.parametrize("program", THEIRS)
def test_what_is_there_stays_and_undo_puts_it_back_letter_by_letter(
    day1: Day1, home: Path, program: str
) -> None:
    name, text = THEIRS[program]
    file = home / name
    file.parent.mkdir(parents=True)
    file.write_bytes(text.encode())
    before, values = tree(home), loaded(file)
    assert day1("connect", program)[0] == 0
    connected = tree(home)
    for comment in ("// my settings", "/* the large one */", "// loud", "# mine", "# z", "// end"):
        assert (comment in text) == (comment in file.read_text())
    assert holds(loaded(file), values)
    assert day1("connect", program)[0] == 0
    assert tree(home) == connected
    assert day1("connect", program, "--undo")[0] == 0
    assert tree(home) == before
    assert ApiKey.objects.get(label=program).revoked_at is not None


def holds(whole: Any, part: Any) -> bool:
    if isinstance(part, dict):
        return all(name in whole and holds(whole[name], value) for name, value in part.items())
    return whole[: len(part)] == part if isinstance(part, list) else bool(whole == part)


def test_what_a_person_turned_off_stays_off(day1: Day1, home: Path) -> None:
    day1("connect", "claude-code")
    config = home / ".config/day1/claude-code.json"
    config.write_text(json.dumps({**json.loads(config.read_text()), "transcripts": False}))
    day1("connect", "claude-code")
    assert json.loads(config.read_text()).keys() == {"url", "key", "transcripts"}
    assert json.loads(config.read_text())["transcripts"] is False


def test_connecting_again_after_a_change_keeps_the_change(day1: Day1, home: Path) -> None:
    day1("connect", "cursor")
    file = home / ".cursor/mcp.json"
    file.write_text(jsonc.put(file.read_text(), ("mcpServers", "other"), {"url": "http://x"}))
    day1("connect", "cursor", "--url", "http://127.0.0.1:9000")
    servers = json.loads(file.read_text())["mcpServers"]
    assert servers.keys() == {"other", "day1"}
    assert servers["day1"]["url"] == "http://127.0.0.1:9000/mcp"
    day1("connect", "cursor", "--undo")
    assert json.loads(file.read_text())["mcpServers"] == {"other": {"url": "http://x"}}


def test_a_dry_run_shows_the_change_without_a_key(day1: Day1, home: Path) -> None:
    status, out, err = day1("connect", "cursor", "--dry-run")
    assert (status, err.startswith("Nothing was changed. The server is http://127.0.0.1:8765, ")) == (0, True)
    assert '+        "Authorization": "Bearer day1_…"' in out
    assert tree(home) == {}
    assert not ApiKey.objects.exists()


@pytest.mark.parametrize(
    ("program", "name", "text"),
    [
        ("cursor", ".cursor/mcp.json", '{"mcpServers": '),
        ("cursor", ".cursor/mcp.json", '{"mcpServers": []}'),
        ("cursor", ".cursor/mcp.json", "[]"),
        ("codex", ".codex/config.toml", "mcp_servers = 1"),
        ("codex", ".codex/config.toml", '[mcp_servers.other]\nargs = [\n  "x",\n'),
        ("codex", ".codex/hooks.json", "not JSON"),
        ("codex", ".codex/config.toml", "= broken"),
        ("claude-code", ".claude/settings.json", '{"hooks": {"Stop": {}}}'),
    ],
)
def test_a_file_that_is_not_understood_is_left_as_it_is(
    day1: Day1, home: Path, program: str, name: str, text: str
) -> None:
    file = home / name
    file.parent.mkdir(parents=True)
    file.write_text(text)
    status, out, err = day1("connect", program)
    assert (status, out) == (1, "")
    assert err.startswith("invalid: ")
    assert err.endswith("It was left as it is.\n")
    assert tree(home) == {name: text.encode(), f"{file.parent.relative_to(home)}/": b""}
    assert not ApiKey.objects.exists()


def test_what_is_not_connected_cannot_be_undone(day1: Day1) -> None:
    assert day1("connect", "cursor", "--undo") == (1, "", "not_found: cursor is not connected.\n")
    assert day1("connect", "print", "--undo")[0] == 2
    for url in ("nowhere", "http://", "http://[x", "http://127.0.0.1:99999"):
        assert day1("connect", "cursor", "--url", url)[0] == 2


def test_print_says_what_any_program_has_to_be_told(day1: Day1, home: Path) -> None:
    told = json.loads(day1("connect", "print", "--format", "json")[1])
    assert told["mcp"] == {"url": MCP, "headers": {"Authorization": "Bearer KEY"}}
    assert (tree(home), list(ApiKey.objects.all())) == ({}, [])


def test_what_there_is_to_import_is_counted_and_offered(day1: Day1, home: Path, tmp_path: Path) -> None:
    (tmp_path / "AGENTS.md").write_text("- Money is counted in cents.\n- Use spaces.\n")
    _, _, err = day1("connect", "claude-code")
    assert f"{tmp_path} holds new: 2 facts; nothing was written.\n" in err
    assert f"To import it: day1 import-from instructions {tmp_path}\n" in err
    assert (tmp_path / "AGENTS.md").read_text() == "- Money is counted in cents.\n- Use spaces.\n"


def test_sessions_of_gemini_are_offered(day1: Day1, home: Path) -> None:
    file = home / ".gemini" / "tmp" / "till" / "chats" / "session-1.jsonl"
    file.parent.mkdir(parents=True)
    said = {"id": "u1", "type": "user", "content": "Count in cents.", "timestamp": f"{datetime.now(UTC)}"}
    file.write_text(json.dumps({"sessionId": "s1"}) + "\n" + json.dumps(said) + "\n")
    _, _, err = day1("connect", "gemini")
    folder = home / ".gemini" / "tmp"
    assert f"{folder} holds new: 1 conversations, 1 messages; nothing was written.\n" in err
    assert f"To import it: day1 import-from gemini {folder} --since 30\n" in err


@pytest.mark.parametrize(
    ("command", "is_own"),
    [
        (r"C:\day1\day1site\hooks\client\hook.py", True),
        ("/opt/day1/day1site/hooks/client/hook.py", True),
        ("/opt/other/hooks/hook.py", False),
    ],
)
def test_an_own_hook_is_known_on_every_system(command: str, is_own: bool) -> None:
    assert settings_files.is_own_hook({"command": command}) == is_own


def test_settings_are_for_the_port_that_is_said_where_no_server_runs(day1: Day1, home: Path) -> None:
    status, _, err = day1("connect", "cursor", "--port", "8999")
    assert (status, "up --port 8999`, or keep it running" in err) == (0, True), err
    assert "http://127.0.0.1:8999/mcp" in (home / ".cursor" / "mcp.json").read_text()
    assert day1("connect", "cursor", "--undo")[0] == 0
    assert not (home / ".cursor" / "mcp.json").exists()
