"""The command line's fixture: one command on the local store, run in this process."""

from collections.abc import Callable

import pytest

from day1site.cli import main
from memory.models import Project

Day1 = Callable[..., tuple[int, str, str]]


@pytest.fixture
def day1(project: Project, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Day1:
    """Return a function that runs one command on the local store: its status, output and errors."""
    monkeypatch.delenv("DAY1_URL", raising=False)

    return build_day1(project, capsys)


def build_day1(project: Project, capsys: pytest.CaptureFixture[str]) -> Day1:
    """Return a function that runs one command on a project: its status, output and errors."""

    def run(*words: str) -> tuple[int, str, str]:
        status = main(["--project", project.slug, *words])
        said = capsys.readouterr()
        return status, said.out, said.err

    return run
