"""Environments of frameworks, and the server that their programs ask."""

import os
import subprocess
import tomllib
import venv
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.up_process import ROOT

CLIENT = ROOT / "clients" / "python"


def read_bounds(extra: str) -> list[str]:
    """Return what the client needs with an extra."""
    project = tomllib.loads((CLIENT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return [*project["dependencies"], *project["optional-dependencies"][extra]]


def make_environment(name: str, needed: Sequence[str], folder: Path) -> Path:
    """Install packages into an environment; return its Python. Skips where that cannot be."""
    kept = os.environ.get("DAY1_FRAMEWORKS")  # a folder that keeps environments between runs
    folder = Path(kept or folder) / name
    python = folder / "bin" / "python"
    if not python.exists():
        venv.create(folder, with_pip=True)
    done = subprocess.run(
        [str(python), "-m", "pip", "install", "-q", *needed], capture_output=True, text=True
    )
    if done.returncode:
        pytest.skip(f"{name} cannot be installed, its adapter is NOT tested: {done.stderr[-400:]}")
    return python
