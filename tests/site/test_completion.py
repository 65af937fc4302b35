"""The scripts that ``day1 completion`` prints, in the shells that they are for."""

import os
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.shell_completion import ShellComplete

from day1site.cli.registry import build
from tests.site.test_up import ROOT, environment
from tests.waiting import TIMEOUT_SECONDS

pytestmark = pytest.mark.slow
pty, termios = pytest.importorskip("pty"), pytest.importorskip("termios")

WINDOW = (50, 200)  # lines and columns
VERBS = (
    "list",
    "show",
    "history",
    "archive",
    "restore",
    "delete",
    "supersede",
    "related",
    "tags",
    "accept",
    "refuse",
    "pin",
    "unpin",
)
INTERACTIVE = {
    "bash": (["bash", "--noprofile", "--norc", "-i"], "bind 'set show-all-if-ambiguous on'"),
    "zsh": (["zsh", "-f", "-i"], "autoload -Uz compinit && compinit -D -u"),
}


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    """Return the environment of a user who has ``day1`` on the path."""
    launcher = tmp_path / "bin" / "day1"
    launcher.parent.mkdir()
    launcher.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{ROOT}/day1site/cli/__main__.py" "$@"\n')
    launcher.chmod(0o755)
    path = f"{launcher.parent}:{os.environ['PATH']}"
    return environment(PATH=path, HOME=str(tmp_path), TERM="xterm", DAY1_DATA_DIR=str(tmp_path / "data"))


@pytest.fixture
def script(request: pytest.FixtureRequest, tmp_path: Path, env: dict[str, str]) -> Path:
    """Return the file with the script of the shell; skip where the machine has no such shell."""
    shell = request.node.callspec.params["shell"]
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed: its completion is not tested on this machine")
    done = subprocess.run(["day1", "completion", shell], env=env, check=True, capture_output=True)
    file = tmp_path / f"day1.{shell}"
    file.write_bytes(done.stdout)
    return file


class Terminal:
    """A shell that is typed into."""

    def __init__(self, words: list[str], env: dict[str, str]) -> None:
        self.handle, tty = pty.openpty()
        termios.tcsetwinsize(tty, WINDOW)
        streams = {"stdin": tty, "stdout": tty, "stderr": tty}
        self.process = subprocess.Popen(words, env=env, start_new_session=True, **streams)
        os.close(tty)

    def type(self, text: str, *awaited: str) -> str:
        """Type a text; return what is printed until all of the words have been."""
        os.write(self.handle, text.encode())
        printed, end = "", time.monotonic() + TIMEOUT_SECONDS
        while not all(word in printed for word in awaited):
            if not select.select([self.handle], [], [], max(0, end - time.monotonic()))[0]:
                raise AssertionError(f"{awaited} are not all in {printed!r}")
            printed += os.read(self.handle, 65536).decode(errors="replace")
        return printed

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self.handle)


@pytest.fixture
def terminal(shell: str, script: Path, env: dict[str, str]) -> Iterator[Terminal]:
    words, prepare = INTERACTIVE[shell]
    opened = Terminal(words, env)
    try:
        opened.type(f"{prepare}; source {script} && echo loa''ded\n", "loaded")
        yield opened
    finally:
        opened.close()


@pytest.mark.parametrize("shell", INTERACTIVE)
def test_tab_lists_the_verbs_of_a_noun(terminal: Terminal) -> None:
    terminal.type("day1 facts \t", *VERBS)


@pytest.mark.parametrize("shell", INTERACTIVE)
def test_tab_completes_a_noun(terminal: Terminal) -> None:
    terminal.type("day1 works\t", "workspace")


@pytest.mark.parametrize(
    ("words", "begun", "offered"),
    [
        ("facts", "--sta", ["--status"]),
        ("facts --status", "a", ["active", "archived"]),
        ("facts list --status", "a", ["active", "archived"]),
        ("facts --limit 3", "--sta", ["--status"]),
        ("facts --agent", "", []),
    ],
)
def test_options_of_the_action_that_a_noun_stands_for(words: str, begun: str, offered: list[str]) -> None:
    found = ShellComplete(build(), {}, "day1", "_").get_completions(words.split(), begun)
    assert [one.value for one in found] == offered


@pytest.mark.parametrize("shell", ["fish"])
def test_fish_lists_the_verbs_of_a_noun(shell: str, script: Path, env: dict[str, str]) -> None:
    words = f"source {script}; complete --do-complete 'day1 facts '; complete --do-complete 'day1 works'"
    done = subprocess.run([shell, "--no-config", "-c", words], env=env, capture_output=True, text=True)
    assert done.stderr == ""
    assert {line.partition("\t")[0] for line in done.stdout.splitlines()} == {*VERBS, "workspace"}
