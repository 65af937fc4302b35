"""No command runs a file of the folder in which it is called: an agent works in anybody's repository.

`up` is started in such a folder by all tests that start it (tests/up_process.py), a worker by the queue's.
"""

import subprocess
import sys
from pathlib import Path

import pytest

from day1site.bootstrap import Environment
from day1site.management.commands.celery import Command
from tests.shadow_folder import list_executed, make_shadows
from tests.up_process import ROOT, environment, provisioned, shadow_folder
from tests.waiting import TIMEOUT_SECONDS

pytestmark = pytest.mark.slow

MANAGE = [sys.executable, str(ROOT / "manage.py")]
HOOK = [sys.executable, "-I", "-S", str(ROOT / "day1site" / "hooks" / "client" / "hook.py")]
ENDING = {
    "write": ["day1", "write-fact", "Deploys run from main."],
    "mcp": ["day1", "mcp"],
    "hook": ["day1", "hook", "--client", "codex", "--config", "none.json"],
    "client": [*HOOK, "--client", "codex", "--config", "none.json"],
    "celery": ["day1", "celery", "status", "--help"],
    "module": [sys.executable, "-P", "-m", "day1site", "help"],
    "test": [*MANAGE, "test", "--version"],
}
DETACHING = ["worker --detach", "worker -ED", "beat --detach"]
BEAT = [*MANAGE, "celery", "beat"]
# An empty entry of PYTHONPATH is the current folder. Python itself reads it before any line of Day1: the
# launcher takes it away, and the commands that a person starts with Python do not have it here.
EMPTY_ENTRY = {"PYTHONPATH": f":{ROOT}"}


@pytest.fixture(scope="module")
def launcher(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Write ``day1`` as `up` does."""
    root = tmp_path_factory.mktemp("checkout")
    (root / "day1site").symlink_to(ROOT / "day1site")
    made = Environment(root)
    made.python.parent.mkdir(parents=True)
    made.python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    made.python.chmod(0o755)
    made.write_launcher()
    return str(made.launcher)


def start(words: list[str], launcher: str, data: Path) -> subprocess.Popen[str]:
    own = [launcher, *words[1:]] if words[0] == "day1" else words
    path = EMPTY_ENTRY if words[0] == "day1" else {"PYTHONPATH": str(ROOT)}
    env = environment(DAY1_DATA_DIR=str(data), HOME=str(data), **path)
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    return subprocess.Popen(own, cwd=shadow_folder(), env=env, **pipes)


def link_twice(folder: Path) -> Path:
    """Link to a link to manage.py in the folder of the tests; Python follows both for its path."""
    inner, outer = shadow_folder() / "linked", folder / "linked"
    inner.unlink(missing_ok=True)
    inner.symlink_to(ROOT / "manage.py")
    outer.symlink_to(inner)
    return outer


def test_no_command_runs_a_file_of_the_current_folder(launcher: str, tmp_path: Path) -> None:
    data = provisioned(tmp_path / "data")
    starts = ENDING | {"link": [sys.executable, "-E", str(link_twice(tmp_path)), "day1", "--help"]}
    ending = {name: start(words, launcher, data) for name, words in starts.items()}
    beat = start(BEAT, launcher, data)
    output = {name: process.communicate("", timeout=TIMEOUT_SECONDS)[0] for name, process in ending.items()}
    assert beat.stdout
    assert "celery beat" in beat.stdout.readline()
    beat.terminate()
    beat.communicate(timeout=TIMEOUT_SECONDS)
    assert list_executed(shadow_folder()) == []
    assert {name: process.returncode for name, process in ending.items()} == dict.fromkeys(ending, 0), output
    assert "stored on main" in output["write"]


def test_a_file_of_the_current_folder_would_be_noticed(tmp_path: Path) -> None:
    """The folder of the tests above is one whose files Python runs where nothing keeps it from them."""
    make_shadows(tmp_path)
    subprocess.run([sys.executable, "-c", "import analytics"], cwd=tmp_path, capture_output=True)
    assert "analytics" in list_executed(tmp_path)


@pytest.mark.parametrize("words", ["shell", "multi start", "-A analytics worker", *DETACHING])
def test_celery_takes_no_words_that_bring_the_folder_back(
    words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        Command().run_from_argv(["manage.py", "celery", *words.split()])
    assert end.value.code == 2
    assert "\nError: " in "\n" + capsys.readouterr().err
