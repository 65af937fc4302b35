"""A person's home that programs are connected in, and the command line run there."""

from pathlib import Path

import pytest

from memory.models import Project
from tests.command_line import Day1, build_day1


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    for name in ("DAY1_URL", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.chdir(tmp_path)
    return folder


@pytest.fixture
def day1(home: Path, project: Project, capsys: pytest.CaptureFixture[str]) -> Day1:
    return build_day1(project, capsys)


def tree(folder: Path) -> dict[str, bytes]:
    """Return the files and what they hold, and the folders."""
    files = {str(f.relative_to(folder)): f.read_bytes() for f in folder.rglob("*") if f.is_file()}
    return files | {f"{f.relative_to(folder)}/": b"" for f in folder.rglob("*") if f.is_dir()}
