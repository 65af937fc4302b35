"""A wheel of Day1 starts from an empty folder, with templates, styles and translations inside."""

import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.up_process import ROOT, Up, environment

pytestmark = pytest.mark.slow

START = "import sys; from day1site.__main__ import run_installed; run_installed()"


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder in which the wheel lies as pip would install it."""
    built = tmp_path_factory.mktemp("dist")
    words = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(built)]
    subprocess.run(words, cwd=ROOT, check=True, capture_output=True)
    folder = tmp_path_factory.mktemp("site-packages")
    zipfile.ZipFile(next(built.glob("*.whl"))).extractall(folder)
    return folder


class Installed(Up):
    """Process of ``day1 up`` from the wheel, in an empty folder."""

    def __init__(self, packages: Path, folder: Path) -> None:
        env = environment(PYTHONPATH=str(packages), XDG_DATA_HOME=str(folder / "share"))
        self.folder, self.log = folder / "share" / "day1", (folder / "up.log").open("a+")
        self.start = 0
        words = [sys.executable, "-c", START, "up", "--port", "0"]
        self.process = subprocess.Popen(words, cwd=folder, env=env, stdout=self.log, stderr=subprocess.STDOUT)


@pytest.fixture
def up(installed: Path, tmp_path: Path) -> Iterator[Installed]:
    server = Installed(installed, tmp_path).ready()
    yield server
    server.end()


def test_the_wheel_serves_pages_and_its_command_finds_the_store_from_another_folder(
    installed: Path, up: Installed, tmp_path_factory: pytest.TempPathFactory
) -> None:
    env = environment(PYTHONPATH=str(installed), XDG_DATA_HOME=str(up.folder.parent))
    words = [sys.executable, "-c", START, "write-fact", "Wheels turn."]
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    done = subprocess.run(words, cwd=elsewhere, env=env, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert list(elsewhere.iterdir()) == []
    assert up.get("/static/day1/day1.css")[0] == 200
    assert "登录".encode() in up.get("/login", **{"Accept-Language": "zh-hans"})[1]
    assert "day1 demo\n" in up.output()
    assert "manage.py" not in up.output()
    assert up.stop() == 0


def test_the_wheel_names_the_command_and_carries_no_tests(installed: Path) -> None:
    points = next(installed.glob("*.dist-info")) / "entry_points.txt"
    assert points.read_text().strip() == "[console_scripts]\nday1 = day1site.__main__:run_installed"
    assert not (installed / "tests").exists()
    assert not (installed / "manage.py").exists()
