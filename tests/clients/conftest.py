"""One server for the tests of a process; each test has a branch of its own on it.

The client needs httpx: where that is not installed, what is about the client alone is skipped.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.up_process import ROOT, Up, provisioned
from tests.waiting import TIMEOUT_SECONDS

if TYPE_CHECKING:
    from day1_client import Day1


def import_client() -> type[Day1]:
    pytest.importorskip("httpx", reason="httpx is not installed")
    from day1_client import Day1

    return Day1


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    Day1 = import_client()
    up = Up(provisioned(tmp_path_factory.mktemp("clients") / "data")).ready()
    with Day1(up.first["url"], up.first["key"]) as memory:
        memory.branches.create("empty")
    yield up
    up.end()


@pytest.fixture(autouse=True)
def address(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Say in the environment where the server is, as a user does who starts a program."""
    for name in [name for name in os.environ if name.startswith("DAY1_") and name != "DAY1_TEST_DATA_DIR"]:
        monkeypatch.delenv(name)
    if "server" in request.fixturenames:
        first = request.getfixturevalue("server").first
        monkeypatch.setenv("DAY1_URL", first["url"])
        monkeypatch.setenv("DAY1_KEY", first["key"])


@pytest.fixture
def memory(server: Up, address: None, request: pytest.FixtureRequest) -> Iterator[Day1]:
    """Return the memory of a branch that this test has for itself."""
    Day1 = import_client()
    name = re.sub(r"\W+", "-", request.node.name)
    with Day1(branch=name, timeout=TIMEOUT_SECONDS) as memory, Day1() as root:
        root.branches.create(name, parent="empty")
        yield memory


def play(page: str, heading: str = "") -> None:
    """Run the first block of Python of a page, below a heading if given, as it is written."""
    text = (ROOT / page).read_text(encoding="utf-8")
    below = text.split(f"\n{heading}\n", 1)[1] if heading else text
    found = re.search(r"^```python\n(.*?)^```", below, re.DOTALL | re.MULTILINE)
    assert found, page
    exec(compile(found[1], f"{page} {heading}", "exec"), {"__name__": "__main__"})
