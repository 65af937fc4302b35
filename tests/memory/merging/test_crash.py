"""A process that dies before any statement of a merge, or of its revert, leaves all of it or nothing."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.systems import needs_fork
from tests.up_process import ROOT, environment, prepared

MOVED = {
    "memory_fact",
    "memory_factlink",
    "memory_relation",
    "memory_commit",
    "memory_auditentry",
    "memory_branch",
}


@needs_fork
@pytest.mark.slow
def test_a_merge_and_its_revert_are_done_or_not(tmp_path: Path) -> None:
    folder = prepared(tmp_path / "data")
    env = environment(DAY1_DATA_DIR=str(folder), DJANGO_SETTINGS_MODULE="day1site.settings.dev")
    command = [sys.executable, "-m", "tests.memory.merging.crash_scene"]
    done = subprocess.run(command, cwd=ROOT, env=env, text=True, stdout=subprocess.PIPE, check=True)
    found = json.loads(done.stdout.splitlines()[-1])
    assert list(found) == ["merge", "revert"]
    for name, step in found.items():
        assert step["torn"] == [], name
        assert step["survived"] >= 20, name  # so many statements it has at least
        assert set(step["changed"]) >= MOVED, name
