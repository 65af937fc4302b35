"""A person's home that programs are connected in, and the command line run there."""

from collections.abc import Callable
from pathlib import Path

import pytest

from day1site.cli import main
from memory.models import Project

Day1 = Callable[..., tuple[int, str, str]]


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
    def run(*words: str) -> tuple[int, str, str]:
        status = main(["--project", project.slug, *words])
        said = capsys.readouterr()
        return status, said.out, said.err

    return run


def tree(folder: Path) -> dict[str, bytes]:
    """Return the files and what they hold, and the folders."""
    files = {str(f.relative_to(folder)): f.read_bytes() for f in folder.rglob("*") if f.is_file()}
    return files | {f"{f.relative_to(folder)}/": b"" for f in folder.rglob("*") if f.is_dir()}
