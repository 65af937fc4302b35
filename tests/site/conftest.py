"""Shared fixtures of the hooks and of the command line."""

from collections.abc import Callable
from typing import Any

import pytest

from day1site.cli import main
from memory.models import Project
from tests.memory.api.client import Api, api_for
from tests.site.hook_events import CONSOLIDATOR

Day1 = Callable[..., tuple[int, str, str]]


@pytest.fixture
def day1(project: Project, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Day1:
    """Return a function that runs one command on the local store: its status, output and errors."""
    monkeypatch.delenv("DAY1_URL", raising=False)

    def run(*words: str) -> tuple[int, str, str]:
        status = main(["--project", project.slug, *words])
        said = capsys.readouterr()
        return status, said.out, said.err

    return run


@pytest.fixture
def api(project: Project) -> Api:
    """Return a client with all rights in ``project``."""
    return api_for(project)


@pytest.fixture
def learning(settings: Any) -> None:
    """Enable the consolidation of sessions when they end."""
    settings.DAY1 = {**settings.DAY1, "consolidator": CONSOLIDATOR}
