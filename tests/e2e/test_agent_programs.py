"""Three sessions of each real program of agents: what was decided, what took its place, what is told then."""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import databases
from tests.e2e.agent_programs import Claude, Codex, Gemini, Opencode, Program
from tests.e2e.scripted_model import ScriptedModel
from tests.up_process import Up, provisioned
from tests.waiting import wait_until

DECIDED = "We keep the ledger in Postgres 16."
REVOKED = "Forget Postgres for the ledger, plain SQLite it is."
ASKED = "Which rules hold for the ledger?"
NOTED = "Totals of the ledger are rounded half to even."
CHECK = "sh check.sh"
FAILS = "test -f ledger.ini || { echo 'error: ledger.ini is missing'; exit 3; }\n"
SCRIPT = {
    DECIDED: [("shell", CHECK), ("shell", "touch ledger.ini"), ("shell", CHECK)],
    REVOKED: [("memory_write", {"fact_text": NOTED, "category": "note"}), ("shell", CHECK)],
    ASKED: [],
}


@pytest.fixture
def model(tmp_path: Path) -> Iterator[ScriptedModel]:
    model = ScriptedModel(str(tmp_path / "project"))
    model.script = SCRIPT
    model.server.start()
    yield model
    model.server.stop()


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Up]:
    with Up(provisioned(tmp_path / "data")) as up:
        yield up


def make_folder(path: Path) -> Path:
    path.mkdir()
    subprocess.run(["git", "init", "-q"], cwd=path, check=True)
    (path / "check.sh").write_text(FAILS)
    return path


def list_lines(context: str) -> list[str]:
    """Return the lines of what was told, without ids."""
    return [re.sub(r"\[\w{6}\b ?", "[", line) for line in context.splitlines() if line.startswith("- ")]


@pytest.mark.parametrize("kind", [Claude, Codex, Gemini, Opencode], ids=lambda kind: kind.name)
def test_the_third_session_is_told_what_was_decided_last(
    kind: type[Program], server: Up, model: ScriptedModel, tmp_path: Path
) -> None:
    if not kind.is_installed():
        pytest.skip(
            f"NO {kind.name.upper()}, so it was not tried: DAY1_AGENT_PROGRAMS names no folder with it"
        )
    program = kind(server, model, tmp_path / "home", make_folder(tmp_path / "project"))

    def read(query: str) -> list[tuple]:
        return databases.rows(server.folder, query)

    def wait_for(count: int) -> None:
        wait_until(lambda: read("SELECT count(*) FROM memory_fact") == [(count,)])

    program.say(DECIDED)
    wait_for(2)
    (told,) = program.say(REVOKED)
    repair = f"- {CHECK} failed: error: ledger.ini is missing. It worked after: ran touch ledger.ini."
    assert list_lines(told) == [f"- {DECIDED} []", f"{repair} [bug_fix]"]
    wait_for(4)
    (told,) = program.say(ASKED)
    was = f"- was: {DECIDED.rstrip('.')}; later: {REVOKED}"
    assert [line.partition(" [")[0] for line in list_lines(told)] == [was, f"- {NOTED}", repair]
    keys = [key for (key,) in read("SELECT key FROM memory_session ORDER BY id")]
    facts = read("SELECT repository, session_id FROM memory_fact ORDER BY rid")
    folder = str(program.folder)
    assert facts == [(folder, keys[0]), (folder, keys[0]), (folder, keys[1]), (folder, keys[1])]
