"""The command line's fixtures: one command, run in this process."""

from collections.abc import Callable
from typing import Any

import pytest

from day1site.cli import main
from memory.actors import Actor
from memory.engines.access.keys import KeyEngine
from memory.models import Project

Day1 = Callable[..., tuple[int, str, str]]


# The local store and a server take the same requests: for each kind of them one test goes to both.
anywhere = pytest.mark.parametrize("day1", ["local", "server"], indirect=True)


@pytest.fixture
def day1(
    request: pytest.FixtureRequest,
    project: Project,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> Day1:
    """Return a function that runs one command: its status, output and errors."""
    if getattr(request, "param", "local") == "server":
        return request.getfixturevalue("day1_on_server")
    monkeypatch.delenv("DAY1_URL", raising=False)
    return build_day1(project, capsys)


@pytest.fixture
def day1_on_server(
    project: Project,
    actor: Actor,
    live_server: Any,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Day1:
    monkeypatch.setenv("DAY1_URL", live_server.url)
    monkeypatch.setenv("DAY1_KEY", KeyEngine().create_key(actor=actor, label="t", scopes=["admin"])[1])
    return build_day1(None, capsys)


def build_day1(project: Project | None, capsys: pytest.CaptureFixture[str]) -> Day1:
    """Return a function that runs one command, on a project of this store or on the server of the key."""
    first = ["--project", project.slug] if project else []

    def run(*words: str) -> tuple[int, str, str]:
        status = main([*first, *words])
        said = capsys.readouterr()
        return status, said.out, said.err

    return run
