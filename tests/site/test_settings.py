"""Invalid environment variables: one sentence and status 2, for every way to start Day1."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from day1site.settings.env import Env
from day1site.settings.paths import database
from tests.waiting import TIMEOUT_SECONDS

ROOT = Path(__file__).resolve().parents[2]
CLI, UP = ["manage.py", "day1", "facts"], ["manage.py", "up", "--port", "0"]


def environment(**variables: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("DAY1_", "DJANGO_"))}
    return {**kept, "DAY1_NO_BOOTSTRAP": "1", **variables}


def start(words: list[str], folder: Path, **variables: str) -> tuple[int, str, str]:
    """Run a command on a new data directory; return status, output and errors."""
    done = subprocess.run(
        [sys.executable, *words, "--data-dir", str(folder)],
        cwd=ROOT,
        text=True,
        capture_output=True,
        env=environment(**variables),
        timeout=TIMEOUT_SECONDS,
    )
    return done.returncode, done.stdout, done.stderr


READ = """
import json, os, runpy, sys
from django.core.exceptions import ImproperlyConfigured
for name, value in json.load(sys.stdin):
    os.environ[name] = value
    try:
        for module in ("base", "dev"):
            runpy.run_module(f"day1site.settings.{module}")
    except ImproperlyConfigured as error:
        print(error)
    del os.environ[name]
"""


def test_nonsense_is_told_in_one_sentence(tmp_path: Path) -> None:
    """Read the settings with each value; one of them by the command."""
    cases = [
        ("DAY1_WORKER_THREADS", "abc", "a whole number from 1 to 64"),
        ("DAY1_PROCESSES", "0", "a whole number from 1 to 64"),
        ("DAY1_QUEUE_LEASE", "nan", "seconds from 1 to 86400"),
        ("DAY1_EMBEDDING_DIMENSIONS", "1.5", "a whole number from 0 to 65536"),
        ("DAY1_DEBUG", "maybe", "true or false"),
        ("DAY1_LOG_LEVEL", "LOUD", "one of DEBUG, INFO, WARNING, ERROR, CRITICAL"),
        ("DAY1_RECIPE", "soup", "one of seed, hybrid, words, answers, default, timeless"),
        ("DAY1_BROKER_URL", "nowhere", "an address that begins with djangodb:// or redis:// or rediss://"),
        ("DAY1_CACHE_URL", "file:///x", "an address that begins with redis:// or rediss://"),
        ("OPENAI_BASE_URL", "api.example", "an address that begins with https:// or http://"),
        ("OPENAI_BASE_URL", "http://[x", "an address that begins with https:// or http://"),
    ]
    told = [f"{name} must be {wanted}, not {value!r}." for name, value, wanted in cases]
    read = subprocess.run(
        [sys.executable, "-c", READ],
        input=json.dumps([case[:2] for case in cases]),
        cwd=ROOT,
        env=environment(DAY1_DATA_DIR=str(tmp_path / "read")),
        text=True,
        capture_output=True,
        check=True,
    )
    assert read.stdout.splitlines() == told
    assert start(CLI, tmp_path / "data", DAY1_WORKER_THREADS="abc") == (2, "", f"day1: error: {told[0]}\n")
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize("words", [UP, [*CLI[:2], "check"]])
def test_settings_of_another_program_are_not_run(words: list[str], tmp_path: Path) -> None:
    (tmp_path / "shop").mkdir()
    for name in ("__init__", "settings"):
        (tmp_path / "shop" / f"{name}.py").write_text("raise SystemExit('the code of another program')\n")
    found = {"DJANGO_SETTINGS_MODULE": "shop.settings", "PYTHONPATH": str(tmp_path)}
    status, out, err = start(words, tmp_path / "data", **found)
    assert (status, out, err.removeprefix("day1: error: ")) == (
        2,
        "",
        "DJANGO_SETTINGS_MODULE must be the name of a module of Day1's settings or of one that imports them,"
        " not 'shop.settings'; where it is another program's, unset it for Day1.\n",
    )


def test_up_says_the_same(tmp_path: Path) -> None:
    told = (2, "", "DAY1_WORKER_THREADS must be a whole number from 1 to 64, not '-1'.\n")
    assert start(UP, tmp_path / "data", DAY1_WORKER_THREADS="-1") == told
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("variables", [{}, {"DAY1_SECRET_KEY": " "}])
def test_production_wants_a_secret(variables: dict[str, str], tmp_path: Path) -> None:
    module = "day1site.settings.production"
    told = (2, "", "DAY1_SECRET_KEY must be set.\n")
    assert start(UP, tmp_path / "data", DJANGO_SETTINGS_MODULE=module, **variables) == told


@pytest.mark.parametrize("words", [["facts"], ["backup", "x"], ["reembed"]])
def test_a_look_into_a_folder_that_was_mistyped_leaves_nothing_there(words: list[str], tmp_path) -> None:
    folder = tmp_path / "dtaa"
    status, out, err = start(["manage.py", "day1", *words], folder)
    assert (status, out) == (1, "")
    assert err == (
        f"no_store: There is no store in {folder}. If it should be there, look at --data-dir and"
        " DAY1_DATA_DIR; a first write-fact or import makes one, and so does `up`.\n"
    )
    assert list(tmp_path.iterdir()) == []


def test_what_is_empty_or_at_the_edge_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    env = Env()
    for value, number in (("", 2), (" ", 2), ("1", 1), ("64", 64), (" 8 ", 8)):
        monkeypatch.setenv("X", value)
        assert env.whole("X", 2, low=1, high=64) == number
    for value, flag in (("", False), ("1", True), ("Off", False), ("YES", True)):
        monkeypatch.setenv("X", value)
        assert env.flag("X", False) is flag
    monkeypatch.setenv("X", " a.example, ,b.example,")
    assert env.names("X") == ["a.example", "b.example"]


@pytest.mark.parametrize(
    "url",
    [
        "sqlite:",
        "sqlite:/",
        "sqlite://",
        "sqlite:////no/such/folder/x",
        "mysql",
        "nonsense://x/y",
        "sqlite://[x",
    ],
)
def test_a_database_that_is_none(url: str, tmp_path: Path) -> None:
    with pytest.raises(ImproperlyConfigured, match=r"^DATABASE_URL names "):
        database(url, tmp_path)
