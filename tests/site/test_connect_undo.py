"""Connections that are undone: letter by letter, also where files were edited meanwhile."""

# ruff: noqa: F811  fixtures that are imported

import json
import tomllib
from pathlib import Path

import pytest

from day1site.cli.connect import jsonc
from memory.models import ApiKey
from tests.site.connect_home import Day1, day1, home, tree  # noqa: F401  fixtures
from tests.site.test_connect import HOOKS, MCP, THEIRS

pytestmark = pytest.mark.django_db(transaction=True)


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
    assert json.loads(state.read_text()) == {"numStartups": 7}
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


CONFIGS = {
    "empty": "",
    "blank": "\n\n",
    "no line end": "model = 'x'",
    "comments": "# mine\nmodel = 'x' # why\n\n# the end\n",
    "several blank lines at the end": "model = 'x'\n\n\n\n",
    "multi-line array": "notify = [\n  'a', # one\n  [\n    '[mcp_servers.day1]',\n  ],\n]\n[tui]\nx = 1\n",
    "array at the end": "[tui]\nlist = [\n  1,\n  # two\n  2,\n]",
    "multi-line text": 'a = """\n[mcp_servers.day1]\nurl = 1\n"""\n',
    "CRLF": "# mine\r\nmodel = 'x'\r\nlist = [\r\n  1,\r\n]\r\n",
    "mixed line ends": "a = 1\r\nb = 2\n",
    "inline table": "mcp_servers = {other = {command = 'y'}} # here\nmodel = 'x'\n",
    "empty inline table": "mcp_servers = {}\n",
    "dotted keys": "mcp_servers.other.command = 'y'\nmcp_servers.other.args = [\n 'a',\n]\n",
    "dotted keys in a table": "[mcp_servers]\nother.command = 'y'\n[tui]\n",
    "arrays of tables": "[[x]]\na = 1\n\n[[x]]\na = 2\n",
    "dates and numbers": "a = 1979-05-27T07:32:00Z\nb = 0x1F\nc = 1_000\nd = inf\n",
}


@pytest.mark.parametrize("text", CONFIGS.values(), ids=CONFIGS)
def test_any_toml_is_connected_twice_and_comes_back_byte_by_byte(day1: Day1, home: Path, text: str) -> None:
    file = home / ".codex/config.toml"
    file.parent.mkdir()
    file.write_bytes(text.encode())
    before = tree(home)
    assert day1("connect", "codex")[0] == 0
    connected = file.read_bytes()
    values, own = tomllib.loads(text), tomllib.loads(connected.decode())
    assert own["mcp_servers"].pop("day1")["url"] == MCP
    assert own["mcp_servers"] == values.get("mcp_servers", {})
    assert {**own, "mcp_servers": 0} == {**values, "mcp_servers": 0}
    only_crlf = b"\r\n" in text.encode() and text.count("\n") == text.count("\r\n")
    assert not only_crlf or connected.count(b"\n") == connected.count(b"\r\n")
    assert day1("connect", "codex")[0] == 0
    assert file.read_bytes() == connected
    assert day1("connect", "codex", "--undo")[0] == 0
    assert tree(home) == before


@pytest.mark.parametrize("text", [text for text in CONFIGS.values() if text != "\n\n"])
def test_any_toml_keeps_an_edit_and_nothing_of_day1(day1: Day1, home: Path, text: str) -> None:
    file = home / ".codex/config.toml"
    file.parent.mkdir()
    file.write_bytes(text.encode())
    day1("connect", "codex")
    edit = b"approval = [\n  'a', # b\n  ['c'],\n]\n"
    file.write_bytes(edit + file.read_bytes())
    assert day1("connect", "codex", "--undo")[0] == 0
    assert file.read_bytes() == edit + text.encode()
    assert not (home / ".codex/hooks.json").exists()


def test_an_edit_behind_the_table_stays_too(day1: Day1, home: Path) -> None:
    file = home / ".codex/config.toml"
    file.parent.mkdir()
    file.write_text("model = 'x'\n")
    day1("connect", "codex")
    trust = (
        "[hooks.state.'/x:stop:0:0']\ntrusted_hash = 'sha256:1'\n\n[projects.'/x']\nlevel = [\n  'y',\n]\n"
    )
    file.write_text(f"{file.read_text()}\n{trust}")
    assert day1("connect", "codex", "--undo")[0] == 0
    assert file.read_text() == f"model = 'x'\n\n{trust}"


def test_comments_in_json_stay_when_an_edited_file_is_undone(day1: Day1, home: Path) -> None:
    file = home / ".cursor/mcp.json"
    file.parent.mkdir()
    text = '{\n  // mine\n  "mcpServers": {\n    "a": {"url": "x"} /* one */ // two\n  }\n}\n'
    file.write_text(text)
    day1("connect", "cursor")
    file.write_text(file.read_text().replace('"x"', '"y"'))
    assert day1("connect", "cursor", "--undo")[0] == 0
    assert file.read_text() == text.replace('"x"', '"y"')
    assert not (home / ".cursor/hooks.json").exists()


def test_hooks_of_others_stay_as_they_are_written(day1: Day1, home: Path) -> None:
    file = home / ".claude/settings.json"
    file.parent.mkdir()
    text = THEIRS["claude-code"][1].replace("  },\n}", "  }\n}")
    file.write_text(text)
    day1("connect", "claude-code")
    edited = file.read_text().replace('"opus"', '"haiku"')
    file.write_text(edited)
    assert day1("connect", "claude-code", "--undo")[0] == 0
    assert file.read_text() == text.replace('"opus"', '"haiku"')


@pytest.mark.parametrize("program", ["claude-code", "codex", "cursor", "gemini"])
def test_a_file_that_may_not_be_written_is_left_and_no_key_is_made(
    day1: Day1, home: Path, program: str
) -> None:
    file = home / HOOKS[program][0]
    file.parent.mkdir()
    file.write_text("{}")
    file.chmod(0o444)
    status, out, err = day1("connect", program)
    assert (status, out) == (1, "")
    assert err == f"file_error: {file} may not be written. It was left as it is.\n"
    assert tree(home) == {HOOKS[program][0]: b"{}", f"{file.parent.name}/": b""}
    assert not ApiKey.objects.exists()


def test_undo_goes_on_behind_a_file_that_it_has_to_leave(day1: Day1, home: Path) -> None:
    day1("connect", "codex")
    toml, hooks = home / ".codex/config.toml", home / ".codex/hooks.json"
    good = toml.read_text()
    toml.write_text(good + "broken = [")
    status, out, err = day1("connect", "codex", "--undo")
    assert (status, out) == (1, f"{hooks}\tremoved\n")
    assert err.startswith(f"invalid: {toml} cannot be read: ")
    assert toml.read_text() == good + "broken = ["
    assert ApiKey.objects.get(label="codex").revoked_at is not None
    toml.write_text(f"{good}\n[repaired]\n")
    assert day1("connect", "codex", "--undo") == (
        0,
        f"{toml}\twithout Day1; the rest was changed since and stays\n",
        "",
    )
    assert tree(home) == {".codex/config.toml": b"[repaired]\n", ".codex/": b""}


def test_undo_leaves_a_file_that_may_not_be_written(day1: Day1, home: Path) -> None:
    day1("connect", "opencode")
    file = home / ".config/opencode/opencode.json"
    file.chmod(0o444)
    before = file.read_bytes()
    status, _, err = day1("connect", "opencode", "--undo")
    assert (status, err) == (1, f"file_error: {file} may not be written. It was left as it is.\n")
    assert file.read_bytes() == before


def test_a_link_that_leads_nowhere_is_a_link_again(day1: Day1, home: Path) -> None:
    (home / ".codex").mkdir()
    link = home / ".codex/config.toml"
    link.symlink_to(home / "dotfiles.toml")
    day1("connect", "codex")
    assert (home / "dotfiles.toml").exists()
    assert day1("connect", "codex", "--undo")[0] == 0
    assert link.is_symlink()
    assert not link.exists()


def test_the_last_program_takes_the_folders_of_all(day1: Day1, home: Path) -> None:
    for program in ("claude-code", "opencode", "codex"):
        assert day1("connect", program)[0] == 0
    for program in ("claude-code", "codex", "opencode"):
        assert day1("connect", program, "--undo")[0] == 0
    assert tree(home) == {}
