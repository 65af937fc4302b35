"""The tests of the TypeScript client, with the packages of the frameworks and a server of this checkout."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from clients.openapi import ROOT
from tests.amounts import is_thorough
from tests.up_process import Up

PACKAGE = ROOT / "clients" / "typescript"
OLDEST_NODE = 20

pytestmark = [pytest.mark.nightly, pytest.mark.slow]


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of the package, beside the page that its tests play, with what it needs installed."""
    if not is_thorough():
        pytest.skip("npm installs a quarter of a gigabyte: make nightly and make typescript do")
    if not (shutil.which("node") and shutil.which("npm")):
        pytest.skip("Node and npm are not installed: the TypeScript client is NOT tested")
    found = subprocess.run(["node", "--version"], capture_output=True, text=True, check=True).stdout
    if int(re.findall(r"\d+", found)[0]) < OLDEST_NODE:
        pytest.skip(f"Node {found.strip()} is older than {OLDEST_NODE}: the TypeScript client is NOT tested")
    root = tmp_path_factory.mktemp("typescript")
    folder = root / PACKAGE.relative_to(ROOT)
    shutil.copytree(PACKAGE, folder, ignore=shutil.ignore_patterns("node_modules", "dist"))
    (root / "docs").mkdir()
    shutil.copy(ROOT / "docs" / "typescript.md", root / "docs")
    installed = subprocess.run(
        ["npm", "ci", "--no-audit", "--no-fund"], cwd=folder, capture_output=True, text=True
    )
    if installed.returncode:
        pytest.skip(f"npm cannot install: the TypeScript client is NOT tested. {installed.stderr[-300:]}")
    return folder


def run(folder: Path, *words: str, **env: str) -> str:
    done = subprocess.run(words, cwd=folder, env=os.environ | env, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-5000:]
    return done.stdout


def test_types_and_format_hold(package: Path) -> None:
    run(package, "npm", "run", "check")


def test_the_client_and_its_adapters_hold(package: Path, server: Up) -> None:
    env = {"DAY1_TEST_URL": server.first["url"], "DAY1_TEST_KEY": server.first["key"]}
    run(package, "npx", "vitest", "run", **env)
