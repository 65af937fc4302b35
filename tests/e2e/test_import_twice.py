"""Two concurrent imports of one transcript: real processes, into a store and into a server."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.site.test_import_claude_code import Transcript, call, text
from tests.up_process import ROOT, Up, environment, provisioned
from tests.waiting import TIMEOUT_SECONDS


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    server = Up(provisioned(tmp_path_factory.mktemp("twice") / "data"), "--no-worker").ready()
    yield server
    server.end()


def transcript(folder: Path, session: str) -> Path:
    made = Transcript(session)
    for n in range(60):
        made.user(f"u{n}", f"Question {n}?")
        made.answer(f"a{n}", f"answer-{n}", text(f"Answer {n}."), call(f"t{n}", command=f"make {n}"))
        result = {"type": "tool_result", "tool_use_id": f"t{n}", "content": f"made {n}"}
        made.user(f"r{n}", [result])
    return made.write(folder)


@pytest.mark.parametrize("where", ["local", "server"])
def test_nothing_is_there_twice(up: Up, tmp_path: Path, where: str) -> None:
    file = transcript(tmp_path / "files", where)
    env = environment(DAY1_DATA_DIR=str(up.folder), HOME=str(tmp_path), XDG_CONFIG_HOME=str(tmp_path / "x"))
    if where == "server":
        env |= {"DAY1_URL": up.first["url"], "DAY1_KEY": up.first["key"]}
    words = [
        sys.executable,
        "-m",
        "day1site.cli",
        "--format",
        "json",
        "import-from",
        "claude-code",
        str(file),
    ]
    pipe = subprocess.PIPE
    both = [subprocess.Popen(words, cwd=ROOT, env=env, stdout=pipe, stderr=pipe, text=True) for _ in range(2)]
    said = [one.communicate(timeout=TIMEOUT_SECONDS) for one in both]
    assert [one.returncode for one in both] == [0, 0], said
    told = sorted((json.loads(out) for out, _ in said), key=lambda one: len(one["new"]))
    assert (told[0]["new"], told[0]["known"]["messages"]) == ({}, told[1]["new"]["messages"])
    assert told[1]["new"]["observations"] == 60
    key = {"Authorization": f"Bearer {up.first['key']}"}
    talks = json.loads(up.get(f"/api/v1/conversations?session_id={where}", **key)[1])["results"]
    assert [talk["message_count"] for talk in talks] == [told[1]["new"]["messages"]]
    seen = json.loads(up.get(f"/api/v1/observations?session_id={where}&limit=100", **key)[1])
    assert (len(seen["results"]), seen["next"]) == (60, None)
