"""Parity of SQLite and MatrixOne: one history, one set of queries, the same results."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings

from tests.contract.parity_scenario import Story
from tests.databases import only_on_matrixone
from tests.memory.test_branches import some_actor

pytestmark = [pytest.mark.django_db(transaction=True), only_on_matrixone]


def on_sqlite(folder: Path) -> dict:
    """Run the scenario in another Python process, on a new file."""
    environment = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "day1site.settings.test",
        "DAY1_TEST_DATABASE_URL": f"sqlite:///{folder / 'story.sqlite3'}",
        "DAY1_TEST_DATA_DIR": str(folder),
    }
    told = subprocess.run(
        [sys.executable, "-m", "tests.contract.parity_scenario"],
        cwd=settings.BASE_DIR,
        env=environment,
        text=True,
        stdout=subprocess.PIPE,
        check=True,
    )
    return json.loads(told.stdout)


def test_the_same_rows_and_the_same_first_answers(tmp_path: Path) -> None:
    expected = on_sqlite(tmp_path)
    found = json.loads(json.dumps(Story(some_actor(), seed=7).tell()))
    assert found.keys() == expected.keys()
    for branch, answers in expected.items():
        for seq, asked in answers.items():
            for question, answer in asked.items():
                assert found[branch][seq][question] == answer, (branch, seq, question)
