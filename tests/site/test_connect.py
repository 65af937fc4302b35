"""Settings files of agents' programs: changed, changed again, and restored."""

import json
import shlex
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from day1site.cli import main
from day1site.cli.connect import jsonc
from memory.models import ApiKey, Project

pytestmark = pytest.mark.django_db(transaction=True)

Day1 = Callable[..., tuple[int, str, str]]
MCP = "http://127.0.0.1:8765/mcp"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    for name in ("DAY1_URL", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.chdir(tmp_path)
    return folder


@pytest.fixture
def day1(home: Path, project: Project, capsys: pytest.CaptureFixture[str]) -> Day1:
    def run(*words: str) -> tuple[int, str, str]:
        status = main(["--project", project.slug, *words])
        said = capsys.readouterr()
        return status, said.out, said.err

    return run


def tree(folder: Path) -> dict[str, bytes]:
    return {str(f.relative_to(folder)): f.read_bytes() for f in folder.rglob("*") if f.is_file()}


def key_of(home: Path, program: str) -> str:
    return str(json.loads((home / ".config/day1" / f"{program}.json").read_text())["key"])


SERVERS = {  # program -> (file, path to the entry, the entry without its headers)
    "claude-code": (".claude.json", ("mcpServers",), {"type": "http", "url": MCP}),
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


def test_what_was_changed_since_stays_when_it_is_undone(day1: Day1, home: Path) -> None:
    day1("connect", "claude-code")
    day1("connect", "codex")
    state, settings = home / ".claude.json", home / ".claude/settings.json"
    toml = home / ".codex/config.toml"
    state.write_text(jsonc.put(state.read_text(), ("numStartups",), 7))
    settings.write_text(jsonc.append(settings.read_text(), ("hooks", "Stop"), {"hooks": []}))
    toml.write_text(toml.read_text() + '\n[profiles.fast]\nmodel = "y"\n')
    _, out, _ = day1("connect", "claude-code", "--undo")
    assert out.count("without Day1; the rest was changed since and stays") == 2
    day1("connect", "codex", "--undo")
    assert json.loads(state.read_text()) == {"mcpServers": {}, "numStartups": 7}
    assert json.loads(settings.read_text()) == {"hooks": {"Stop": [{"hooks": []}]}}
    assert tomllib.loads(toml.read_text()) == {"profiles": {"fast": {"model": "y"}}}


EDITED = """\
[mcp_servers.day1]
url = "http://127.0.0.1:8765/mcp"
args = [
  "one",
  [
    "[profiles.slow]",
  ],
]

[mcp_servers.day1.env]
TOKEN = "x"
# of the profile

[profiles.fast]
model = "y"  # quick
text = '''
[mcp_servers.day1]
'''
"""


def test_a_table_that_was_edited_since_is_taken_out_as_a_whole(day1: Day1, home: Path) -> None:
    day1("connect", "codex")
    toml = home / ".codex/config.toml"
    toml.write_text(f'model = "x"\n\n{EDITED}\n[mcp_servers.other]\ncommand = "z"\n')
    assert day1("connect", "codex", "--undo")[0] == 0
    profile = EDITED[EDITED.index("# of the profile") :]
    assert toml.read_text() == f'model = "x"\n\n{profile}\n[mcp_servers.other]\ncommand = "z"\n'


@pytest.mark.parametrize("text", ["[mcp_servers]\nday1 = {", 'mcp_servers.day1.url = "x"\nmcp_servers = 1\n'])
def test_a_broken_table_is_left_as_it_is(day1: Day1, home: Path, text: str) -> None:
    day1("connect", "codex")
    toml = home / ".codex/config.toml"
    toml.write_text(text)
    status, _, err = day1("connect", "codex", "--undo")
    assert (status, err.endswith("It was left as it is.\n")) == (1, True)
    assert toml.read_text() == text


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ('[mcp_servers]\nday1.url = "x"\nb = {x = 1}\n', "[mcp_servers]\nb = {x = 1}\n"),
        ('mcp_servers = {day1 = {url = "x"}, b = {x = 1}}\n', "mcp_servers = { b = {x = 1}}\n"),
        ('mcp_servers.day1.url = "x" # one\r\n# two\r\na = 1\r\n', "# two\r\na = 1\r\n"),
    ],
)
def test_a_table_is_found_however_it_is_written(day1: Day1, home: Path, text: str, left: str) -> None:
    day1("connect", "codex")
    toml = home / ".codex/config.toml"
    toml.write_bytes(text.encode())
    assert day1("connect", "codex", "--undo")[0] == 0
    assert toml.read_bytes() == left.encode()


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
    assert (status, err) == (0, "Nothing was changed.\n")
    assert '+        "Authorization": "Bearer day1_…"' in out
    assert tree(home) == {}
    assert not ApiKey.objects.exists()


@pytest.mark.parametrize(
    ("program", "name", "text"),
    [
        ("cursor", ".cursor/mcp.json", '{"mcpServers": '),
        ("cursor", ".cursor/mcp.json", '{"mcpServers": []}'),
        ("cursor", ".cursor/mcp.json", "[]"),
        ("codex", ".codex/config.toml", "mcp_servers = {}"),
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
    assert tree(home) == {name: text.encode()}
    assert not ApiKey.objects.exists()


def test_what_is_not_connected_cannot_be_undone(day1: Day1) -> None:
    assert day1("connect", "cursor", "--undo") == (1, "", "not_found: cursor is not connected.\n")
    assert day1("connect", "print", "--undo")[0] == 2
    assert day1("connect", "cursor", "--url", "nowhere")[0] == 2


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
