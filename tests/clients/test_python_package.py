"""The Python client as people install it: its sdist makes its wheel, which runs in an empty environment."""

import os
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

from day1site import __version__
from tests.up_process import ROOT, Up

pytestmark = [pytest.mark.nightly, pytest.mark.slow]
CHECK = """
import sys
import day1_client
assert "day1_client.types" not in sys.modules, "types are for checkers; they take long to make"
with day1_client.Day1() as memory:
    print(day1_client.__version__, memory.remember("Wheels turn.")["created"], memory.recall("wheels"))
"""


def run(*words: str | Path, cwd: Path, env: dict[str, str] | None = None) -> str:
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, cwd=cwd, env=env)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_it_builds_installs_and_runs(server: Up, tmp_path: Path) -> None:
    build = [sys.executable, "-m", "hatchling", "build", "-d", tmp_path]
    run(*build, "-t", "sdist", cwd=ROOT / "clients" / "python")
    with tarfile.open(next(tmp_path.glob("*.tar.gz"))) as source:
        source.extractall(tmp_path, filter="data")
    unpacked = tmp_path / f"day1_client-{__version__}"
    run(*build, "-t", "wheel", cwd=unpacked)
    wheel = next(tmp_path.glob(f"day1_client-{__version__}-*.whl"))
    names = zipfile.ZipFile(wheel).namelist()
    assert {"day1_client/py.typed", "day1_client/operations/facts.py", "day1_client/langgraph.py"} <= set(
        names
    )
    assert [name for name in names if "test" in name] == []
    venv.create(tmp_path / "venv", with_pip=True)
    python = tmp_path / "venv" / ("Scripts" if os.name == "nt" else "bin") / "python"
    run(python, "-m", "pip", "install", "--quiet", wheel, cwd=tmp_path)
    env = {"DAY1_URL": server.first["url"], "DAY1_KEY": server.first["key"], "PATH": os.environ["PATH"]}
    assert run(python, "-c", CHECK, env=env, cwd=tmp_path) == f"{__version__} True Wheels turn.\n"
