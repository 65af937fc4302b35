"""The sdist makes the wheel, which starts from an empty folder with all that it needs inside."""

import os
import shutil
import subprocess
import sys
import tarfile
import venv
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from day1site import __version__
from tests.amounts import is_thorough
from tests.up_process import ROOT, Up, environment

pytestmark = pytest.mark.slow

APPS = ("memory", "conversations", "curation", "analytics", "day1site")
INSIDE = (
    "day1site/templates/base.html",
    "day1site/static/day1/day1.css",
    "day1site/locale/zh_Hans/LC_MESSAGES/django.mo",
    "day1site/cli/operations.json",
    "memory/migrations/0001_squashed.py",
)
START = "import sys; from day1site.__main__ import run_installed; run_installed()"


def build(target: str, source: Path, folder: Path) -> Path:
    words = [sys.executable, "-m", "hatchling", "build", "-t", target, "-d", str(folder)]
    subprocess.run(words, cwd=source, check=True, capture_output=True)
    return next(folder.glob("*.tar.gz" if target == "sdist" else "*.whl"))


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build("sdist", ROOT, tmp_path_factory.mktemp("sdist"))


@pytest.fixture(scope="module")
def wheel(sdist: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the wheel that pip makes of the sdist."""
    folder = tmp_path_factory.mktemp("source")
    with tarfile.open(sdist) as source:
        source.extractall(folder, filter="data")
    return build("wheel", next(folder.iterdir()), tmp_path_factory.mktemp("dist"))


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder in which the wheel lies as pip would install it."""
    folder = tmp_path_factory.mktemp("site-packages")
    zipfile.ZipFile(wheel).extractall(folder)
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


def test_the_wheel_of_the_sdist_is_that_of_the_checkout(wheel: Path, tmp_path: Path) -> None:
    names = {info.filename: info.CRC for info in zipfile.ZipFile(wheel).infolist()}
    of_checkout = zipfile.ZipFile(build("wheel", ROOT, tmp_path)).infolist()
    assert names == {info.filename: info.CRC for info in of_checkout}
    info = f"day1_django-{__version__}.dist-info"
    assert {name.partition("/")[0] for name in names} == {*APPS, info}
    assert set(INSIDE) <= set(names)


def test_the_wheel_names_the_command_and_the_sdist_carries_no_tests(installed: Path, sdist: Path) -> None:
    points = next(installed.glob("*.dist-info")) / "entry_points.txt"
    assert points.read_text().strip() == "[console_scripts]\nday1 = day1site.__main__:run_installed"
    with tarfile.open(sdist) as source:
        tops = {name.split("/")[1] for name in source.getnames()}
    texts = {".gitignore", "CHANGELOG.md", "README.md", "PKG-INFO", "pyproject.toml"}
    assert tops == {*APPS, "templates", "static", "locale", *texts}


@pytest.mark.nightly
@pytest.mark.parametrize("tool", ["pip", "uv", "pipx"])
def test_a_tool_installs_it_and_it_remembers(tool: str, sdist: Path, tmp_path: Path) -> None:
    day1 = install(tool, sdist, tmp_path)
    env = {"PATH": os.defpath, "HOME": str(tmp_path), "LC_ALL": "C.UTF-8"}

    def run(*words: str) -> str:
        done = subprocess.run([day1, *words], cwd=tmp_path, env=env, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert run("--version") == f"day1 {__version__}\n"
    server = Tool(day1, tmp_path, env).ready()
    try:
        run("write-fact", "Wheels turn.")
        assert "Wheels turn." in run("search", "what do wheels do")
    finally:
        server.end()


class Tool(Up):
    """Process of ``day1 up`` that a tool has installed."""

    def __init__(self, day1: Path, folder: Path, env: dict[str, str]) -> None:
        self.folder, self.log = folder / ".local" / "share" / "day1", (folder / "up.log").open("a+")
        self.start = 0
        words = [str(day1), "up", "--port", "0"]
        self.process = subprocess.Popen(words, cwd=folder, env=env, stdout=self.log, stderr=subprocess.STDOUT)


def install(tool: str, sdist: Path, folder: Path) -> Path:
    """Install the sdist with its dependencies into a folder; return the command."""
    if not is_thorough():
        pytest.skip("89 packages are fetched from a registry: make nightly does")
    found = sys.executable if tool == "pip" else shutil.which(tool)
    if not found:
        pytest.skip(f"{tool} is not installed here")
    scripts = folder / "tool" / ("Scripts" if os.name == "nt" else "bin")
    folders = {"UV_TOOL_BIN_DIR": scripts, "PIPX_BIN_DIR": scripts}
    folders |= {"UV_TOOL_DIR": folder / "uv", "PIPX_HOME": folder / "pipx"}
    env = {**os.environ, **{name: str(path) for name, path in folders.items()}}
    if tool == "pip":
        venv.create(folder / "tool", with_pip=True)
        words = [str(scripts / "python"), "-m", "pip", "install"]
    else:
        words = [found, *(["tool"] if tool == "uv" else []), "install"]
    subprocess.run([*words, str(sdist)], env=env, check=True, capture_output=True)
    return scripts / "day1"
