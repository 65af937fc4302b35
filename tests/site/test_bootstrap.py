"""Bootstrap from a bare Python to an installed environment, with a fake installer."""

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import manage
from day1site import bootstrap
from day1site.bootstrap import DEV, MATRIXONE, MULTILINGUAL, RUNTIME, Environment, StartupError, locks_for
from day1site.launcher import join_command, render_launcher

ROOT = Path(__file__).resolve().parent.parent.parent

# Replaces uv: records its arguments, makes what venv makes, and fails on demand.
FAKE_UV = """#!/bin/sh
echo "$@" >> "$LOG"
[ "$1" = venv ] && mkdir -p "$4/bin" && ln -sf "$3" "$4/bin/python"
[ "$1" = pip ] && [ -n "$FAIL" ] && echo "error: no route to host" && exit 7
exit 0
"""


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch) -> Path:
    """Create a folder with lock files, and a uv on PATH."""
    for name in (RUNTIME, DEV):
        (tmp_path / name).write_text("django==5.2 \\\n    --hash=sha256:0\nnumpy==2.3\n")
    uv = tmp_path / "bin" / "uv"
    uv.parent.mkdir()
    uv.write_text(FAKE_UV)
    uv.chmod(0o755)
    monkeypatch.setenv("PATH", f"{uv.parent}:/usr/bin:/bin")
    monkeypatch.setenv("LOG", str(tmp_path / "uv.log"))
    return tmp_path


def calls(checkout: Path) -> list[str]:
    """Return the calls of uv since the last time, without those for its version."""
    log = checkout / "uv.log"
    lines = log.read_text().splitlines() if log.exists() else []
    log.unlink(missing_ok=True)
    return [" ".join(line.split()[:2]) for line in lines if line != "--version"]


BARE = (
    "manage.py",
    "day1site/bootstrap.py",
    "day1site/launcher.py",
    "memory/file_locks.py",
    "memory/processes.py",
)
MADE = ["venv --python", "pip install"]


def test_the_first_start_installs_and_the_second_does_nothing(checkout: Path, capsys) -> None:
    Environment(checkout).ensure(RUNTIME)
    assert calls(checkout) == MADE
    assert capsys.readouterr().out.splitlines() == ["Making .venv …", "Installing 2 packages with uv …"]
    Environment(checkout).ensure(RUNTIME)
    assert (calls(checkout), capsys.readouterr().out) == ([], "")


def test_packages_are_taken_by_hash_and_nothing_is_built(checkout: Path) -> None:
    Environment(checkout).ensure(RUNTIME)
    installing = (checkout / "uv.log").read_text().splitlines()[-1]
    assert f"--no-deps --require-hashes --only-binary :all: -r {checkout}/requirements.lock" in installing


def test_the_command_line_runs_from_any_folder(checkout: Path) -> None:
    main = checkout / "day1site" / "cli" / "__main__.py"
    main.parent.mkdir(parents=True)
    main.write_text("import os, sys; print(os.environ['DAY1_NO_BOOTSTRAP'], *sys.argv[1:], sep='|')\n")
    Environment(checkout).ensure(RUNTIME)
    said = subprocess.run(
        [checkout / ".venv/bin/day1", "search", "two words"], cwd="/", capture_output=True, text=True
    )
    assert said.stdout == "1|search|two words\n"


@pytest.mark.parametrize("text", [None, "#!/bin/sh\n"])
def test_a_launcher_that_is_missing_or_another_is_written_again(checkout: Path, text: str | None) -> None:
    environment = Environment(checkout)
    environment.ensure(RUNTIME)
    environment.launcher.unlink()
    if text:
        environment.launcher.write_text(text)
    assert not environment.holds(RUNTIME)
    environment.ensure(RUNTIME)
    assert environment.holds(RUNTIME)
    assert os.access(environment.launcher, os.X_OK)


def test_after_the_tests_were_installed_up_needs_nothing_more(checkout: Path) -> None:
    Environment(checkout).ensure(DEV)
    calls(checkout)
    Environment(checkout).ensure(RUNTIME)
    assert calls(checkout) == []


def test_the_tests_need_more_than_up_installed(checkout: Path) -> None:
    Environment(checkout).ensure(RUNTIME)
    calls(checkout)
    Environment(checkout).ensure(DEV)
    assert calls(checkout) == ["pip install"]


def test_a_changed_lock_is_installed_over_what_is_there(checkout: Path) -> None:
    Environment(checkout).ensure(RUNTIME)
    calls(checkout)
    (checkout / RUNTIME).write_text("django==5.3\n")
    Environment(checkout).ensure(RUNTIME)
    assert calls(checkout) == ["pip install"]


def test_an_installation_that_failed_says_so_and_is_made_anew(checkout: Path, monkeypatch, capsys) -> None:
    monkeypatch.setenv("FAIL", "1")
    with pytest.raises(StartupError) as refusal:
        Environment(checkout).ensure(RUNTIME)
    assert "stopped with status 7 at `" in str(refusal.value)
    assert "run manage.py again" in str(refusal.value)
    assert "  error: no route to host" in capsys.readouterr().out
    assert not Environment(checkout).holds(RUNTIME)
    monkeypatch.delenv("FAIL")
    calls(checkout)
    Environment(checkout).ensure(RUNTIME)
    assert calls(checkout) == MADE
    assert not Environment(checkout).unfinished.exists()


def test_a_new_python_of_the_system_gets_a_new_environment(checkout: Path) -> None:
    environment = Environment(checkout)
    environment.ensure(RUNTIME)
    installed = json.loads(environment.stamp.read_text())
    environment.stamp.write_text(json.dumps(installed | {"python": "/usr/bin/python3.0"}))
    assert not environment.holds(RUNTIME)
    environment.python.unlink()
    environment.python.symlink_to("/nowhere/python3.0")
    calls(checkout)
    environment.ensure(RUNTIME)
    assert calls(checkout) == MADE


def test_a_python_without_venv_says_what_to_install(checkout: Path, monkeypatch) -> None:
    stub = checkout / "stub"
    stub.mkdir()
    (stub / "ensurepip.py").write_text("raise ImportError('not on this Debian')\n")
    (checkout / "bin" / "uv").unlink()
    for name in BARE:
        (checkout / name).parent.mkdir(exist_ok=True)
        (checkout / name).write_bytes((ROOT / name).read_bytes())
    env = {"PATH": str(checkout / "bin"), "PYTHONPATH": str(stub)}
    done = subprocess.run(
        [sys.executable, "manage.py", "up"], cwd=checkout, env=env, capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.count("\n") == 1
    assert "apt-get install python3-venv" in done.stderr
    assert not (checkout / ".venv").exists()


def test_a_python_that_is_too_old_says_so() -> None:
    assert manage.too_old((3, 10, 13)) == "Day1 needs Python 3.11 or newer; this is Python 3.10."
    assert manage.too_old((2, 7, 18)) != ""
    assert manage.too_old((3, 11, 0)) == manage.too_old((3, 14, 1)) == ""


def test_an_old_python_can_read_manage_py() -> None:
    ast.parse((ROOT / "manage.py").read_text(), feature_version=(3, 4))


@pytest.mark.parametrize("file", BARE)
def test_bootstrap_needs_nothing_but_the_standard_library(file: str) -> None:
    tree = ast.parse((ROOT / file).read_text())
    named = {node.module for node in tree.body if isinstance(node, ast.ImportFrom)}
    named |= {name.name for node in tree.body if isinstance(node, ast.Import) for name in node.names}
    named -= {name.removesuffix(".py").replace("/", ".") for name in BARE}
    assert {name.split(".")[0] for name in named} <= set(sys.stdlib_module_names)


@pytest.mark.parametrize(
    ("for_windows", "text"),
    [
        (False, "#!/bin/sh\nDAY1_NO_BOOTSTRAP=1 PYTHONPATH= exec '/a b/python' /c/__main__.py \"$@\"\n"),
        (
            True,
            "@echo off\r\nsetlocal\r\nset DAY1_NO_BOOTSTRAP=1\r\nset PYTHONPATH=\r\n"
            '"/a b/python" "/c/__main__.py" %*\r\n',
        ),
    ],
)
def test_the_launcher_of_each_system(for_windows: bool, text: str) -> None:
    assert render_launcher(Path("/a b/python"), Path("/c/__main__.py"), for_windows) == text


@pytest.mark.parametrize(
    ("words", "left", "folder", "host"),
    [
        (["up", "--data-dir", "/d", "--port", "1"], ["up", "--port", "1"], "/d", None),
        (["up", "--data-dir=/d", "--host=::"], ["up", "--host=::"], "/d", "::"),
        (["day1", "up", "--host", "h"], ["day1", "up", "--host", "h"], None, "h"),
        (["migrate", "--data-dir", "/d"], ["migrate"], "/d", None),
        (["day1", "search", "--host", "x"], ["day1", "search", "--host", "x"], None, None),
        (["test", "--data-dir", "/d"], ["test", "--data-dir", "/d"], None, None),
        (["day1", "test", "--data-dir", "/d"], ["day1", "test", "--data-dir", "/d"], None, None),
        (["up", "--data-dir"], ["up", "--data-dir"], None, None),
    ],
)
def test_what_the_settings_need_is_read_before_them(words, left, folder, host, monkeypatch) -> None:
    for name in ("DAY1_DATA_DIR", "DAY1_HOST"):
        monkeypatch.setenv(name, "x")
        monkeypatch.delenv(name)
    assert bootstrap.take_early_options(["manage.py", *words]) == ["manage.py", *left]
    assert (os.environ.get("DAY1_DATA_DIR"), os.environ.get("DAY1_HOST")) == (folder, host)


# ---- MatrixOne: a driver that is built here ----------------------------------------------------------


@pytest.fixture
def builder(checkout: Path) -> Path:
    """Create the tools that building needs, as far as the check can see."""
    (checkout / MATRIXONE).write_text("django==5.2 \\\n    --hash=sha256:0\nmysqlclient==2.3\n")
    for name in ("pkg-config", "cc"):
        tool = checkout / "bin" / name
        tool.write_text('#!/bin/sh\n[ -z "$NO_LIBRARY" ]\n')
        tool.chmod(0o755)
    return checkout


def test_a_database_of_matrixone_wants_the_driver_too(monkeypatch: pytest.MonkeyPatch) -> None:
    url = "matrixone://dump:111@host:6001/day1"
    for name in ("DATABASE_URL", "DAY1_TEST_DATABASE_URL"):
        monkeypatch.delenv(name, raising=False)
    assert locks_for(["manage.py", "up"]) == [RUNTIME]
    assert locks_for(["manage.py", "day1", "migrate-store", "--to", url]) == [RUNTIME, MATRIXONE]
    monkeypatch.setenv("DATABASE_URL", url)
    assert locks_for(["manage.py", "up"]) == [RUNTIME, MATRIXONE]
    assert locks_for(["manage.py", "test"]) == [DEV]
    monkeypatch.setenv("DAY1_TEST_DATABASE_URL", url)
    assert locks_for(["manage.py", "test"]) == [DEV, MATRIXONE]
    monkeypatch.setenv("DATABASE_URL", "sqlite:///matrixone:")
    assert locks_for(["manage.py", "up"]) == [RUNTIME]


def test_the_multilingual_embedder_wants_its_package_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DATABASE_URL", raising=False)
    monkeypatch.setenv("DAY1_EMBEDDER", "multilingual")
    assert locks_for(["manage.py", "up"]) == [RUNTIME, MULTILINGUAL]
    assert locks_for(["manage.py", "test"]) == [DEV]


def test_only_the_driver_is_built(builder: Path) -> None:
    environment = Environment(builder)
    environment.ensure(DEV)
    calls(builder)
    environment.ensure(MATRIXONE)
    options = "--no-deps --require-hashes --only-binary :all: --no-binary mysqlclient"
    wanted = f"{options} -r {builder}/{MATRIXONE}"
    assert wanted in (builder / "uv.log").read_text()
    for lock in (RUNTIME, DEV, MATRIXONE):
        assert environment.holds(lock)
    calls(builder)
    for lock in (MATRIXONE, DEV, RUNTIME):
        environment.ensure(lock)
    assert calls(builder) == []


def test_what_building_lacks_is_said_before_anything_is_done(builder: Path, monkeypatch) -> None:
    Environment(builder).ensure(RUNTIME)
    calls(builder)
    monkeypatch.setenv("PATH", str(builder / "bin"))
    monkeypatch.setenv("NO_LIBRARY", "1")
    monkeypatch.setattr(bootstrap.sysconfig, "get_path", lambda name: "/nowhere")
    with pytest.raises(StartupError, match="apt-get install libmariadb-dev python3-dev "):
        Environment(builder).ensure(MATRIXONE)
    for name in ("pkg-config", "cc"):
        (builder / "bin" / name).unlink()
    with pytest.raises(StartupError, match="apt-get install pkg-config build-essential python3-dev "):
        Environment(builder).ensure(MATRIXONE)
    assert calls(builder) == []
    assert Environment(builder).holds(RUNTIME)


@pytest.mark.parametrize(
    ("for_windows", "line"),
    [
        (False, "'C:\\Program Files\\python.exe' -I 'C:\\day1\\hook.py'"),
        (True, '"C:/Program Files/python.exe" -I C:/day1/hook.py'),
    ],
)
def test_a_command_as_one_line(for_windows: bool, line: str) -> None:
    words = [r"C:\Program Files\python.exe", "-I", r"C:\day1\hook.py"]
    assert join_command(words, for_windows) == line


def test_letters_that_a_stream_lacks_are_escaped() -> None:
    code = "from day1site.launcher import print_every_letter as p; p(); print('a … é 记')"
    env = {**os.environ, "PYTHONIOENCODING": "latin-1", "PYTHONUTF8": "0"}
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=env, capture_output=True)
    assert (done.stdout, done.stderr) == (b"a \\u2026 \xe9 \\u8bb0\n", b"")
