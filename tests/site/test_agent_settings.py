"""The texts that pages offer for other machines are what ``connect`` writes on this one."""

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from day1site.cli import main
from day1site.cli.connect.command import NAMES_OF_PROGRAMS
from memory.engines.access import makers
from memory.models import Project
from memory.views.access.agent_programs import PROGRAMS
from tests.site.test_connect import key_of

pytestmark = pytest.mark.django_db(transaction=True)

URL = "http://127.0.0.1:8765"
WITH_FILE = [one for one in PROGRAMS if one.file]
PLACES = {"mcp.json": ".config/Code/User/mcp.json"}  # on Linux


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("DAY1_URL", "DAY1_KEY", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def read(name: str, words: str) -> Any:
    return tomllib.loads(words) if name.endswith(".toml") else json.loads(words)


def test_a_key_that_connect_makes_speaks_for_who_made_it() -> None:
    assert set(NAMES_OF_PROGRAMS) == makers.PROGRAMS


@pytest.mark.parametrize("program", WITH_FILE, ids=lambda one: one.name)
def test_settings_are_what_connect_writes(home: Path, project: Project, program: Any) -> None:
    assert main(["--project", project.slug, "connect", program.name]) == 0
    file = home / PLACES.get(program.file, program.file.removeprefix("~/"))
    offered = read(file.name, program.setup(URL, key_of(home, program.name)))
    written = read(file.name, file.read_text())
    plugins = {"plugin"} if program.name == "opencode" else set()  # its hooks stand in the same file
    assert written.keys() - offered.keys() == plugins
    assert {name: written[name] for name in offered} == offered


def test_every_program_that_connect_knows_has_a_tab(capsys: pytest.CaptureFixture[str]) -> None:
    main(["connect", "--help"])
    shown = capsys.readouterr().out
    names = [one.name for one in PROGRAMS if one.is_connectable]
    assert f"{', '.join(names[:1])}" in shown
    for name in names:
        assert name in shown
    assert main(["connect", "mcp"]) == 2
