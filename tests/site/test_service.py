"""A service: what each system is told, what stands in its way, and a connection that lasts, and back."""

import os
import plistlib
import re
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.request import urlopen
from xml.etree import ElementTree

import pytest

from day1site.bootstrap import RUNTIME, Environment
from day1site.cli import main
from day1site.cli.connect.service import description, installation, managers
from day1site.cli.connect.service.description import Service, describe_service
from day1site.cli.errors import CliError
from memory.file_locks import try_lock
from tests.up_process import ROOT, environment, provisioned
from tests.waiting import TIMEOUT_SECONDS, wait_until

SERVICE = Service(
    ("/opt/a b/python3", "/opt/day1/manage.py", "up", "--port", "8765", "100%$x"), Path("/d"), 8765
)
UNIT = """[Unit]
Description=Day1, a memory server for AI agents
# However often it is killed, it comes back.
StartLimitIntervalSec=0

[Service]
ExecStart="/opt/a b/python3" /opt/day1/manage.py up --port 8765 100%%$$x
Restart=always
RestartSec=2
# The first process tells the others to stop; a second signal would cut requests off.
KillMode=mixed
TimeoutStopSec=20

[Install]
WantedBy=default.target
"""
TASK = "{http://schemas.microsoft.com/windows/2004/02/mit/task}"
# In this order, as the schema of tasks wants them.
SETTINGS = [
    ("MultipleInstancesPolicy", "IgnoreNew"),
    ("DisallowStartIfOnBatteries", "false"),
    ("StopIfGoingOnBatteries", "false"),
    ("ExecutionTimeLimit", "PT0S"),
    ("RestartOnFailure", None),
]


def test_systemd_is_told_a_unit() -> None:
    assert description.render_systemd(SERVICE) == UNIT


def test_systemd_understands_the_unit(tmp_path: Path) -> None:
    if not shutil.which("systemd-analyze"):
        pytest.skip("systemd-analyze is not installed: the unit is not read by systemd itself")
    odd = tmp_path / 'odd "100%" $HOME'
    odd.mkdir()
    unit = tmp_path / "day1.service"
    service = Service((sys.executable, str(odd), "up"), odd, 8765)
    unit.write_text(description.render_systemd(service))
    done = subprocess.run(["systemd-analyze", "verify", "--user", str(unit)], capture_output=True, text=True)
    assert [line for line in done.stderr.splitlines() if "day1" in line] == []


def test_launchd_is_told_a_list() -> None:
    assert plistlib.loads(description.render_launchd(SERVICE).encode()) == {
        "Label": "day1",
        "ProgramArguments": list(SERVICE.words),
        "RunAtLoad": True,
        "KeepAlive": True,
        "ThrottleInterval": 2,
        "ExitTimeOut": 20,
    }


def test_windows_is_told_a_task() -> None:
    text = description.render_task(SERVICE, r"PC\R&D")
    root = ElementTree.fromstring(text.partition("\n")[2])  # it is written in UTF-16, which is said in line 1
    found = [(node.tag.removeprefix(TASK), node.text) for node in root.find(f"{TASK}Settings") or ()]
    assert [(tag, None if not (text or "").strip() else text) for tag, text in found] == SETTINGS
    execution = root.find(f"{TASK}Actions/{TASK}Exec")
    assert execution is not None
    assert [node.text for node in execution] == [
        "/opt/a b/python3",
        "/opt/day1/manage.py up --port 8765 100%$x",
        str(ROOT),
    ]
    assert [node.text for node in root.iter(f"{TASK}UserId")] == [r"PC\R&D"] * 2


@pytest.mark.parametrize(
    ("for_windows", "begin"),
    [
        (False, [str(ROOT / "manage.py")]),
        (True, [str(ROOT / ".venv" / "Scripts" / "pythonw.exe"), "-m", "day1site"]),
    ],
)
def test_a_checkout_is_started_as_each_system_can_end_it(for_windows: bool, begin: list[str]) -> None:
    words = list(describe_service(Path("/d"), 8770, for_windows).words)
    rest = ["up", "--data-dir", "/d", "--port", "8770", "--log", "/d/service.log"]
    assert words[-len(begin + rest) :] == [*begin, *rest]


@pytest.mark.parametrize(
    ("system", "name"), [("linux", "Systemd"), ("darwin", "Launchd"), ("win32", "TaskScheduler")]
)
def test_each_system_has_its_manager(system: str, name: str) -> None:
    assert type(managers.find_manager(system)).__name__ == name


def test_an_unknown_system_is_refused() -> None:
    with pytest.raises(CliError, match="knows no way to keep a service running on plan9"):
        managers.find_manager("plan9")


# ---- what stands in its way ------------------------------------------------------------------------------


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the home of a person who has no systemd."""
    for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "DAY1_URL", "DATABASE_URL"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {
        "HOME": tmp_path,
        "PATH": tmp_path / "bin",
        "DAY1_DATA_DIR": tmp_path / "data",
    }.items():
        monkeypatch.setenv(name, str(value))
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    return tmp_path


def refuse(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(["service", *words]) == 1
    return capsys.readouterr().err.strip()


def test_without_systemd_it_says_what_to_do_instead(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = refuse(capsys, "install")
    assert said.startswith(
        "service_error: This machine runs no systemd for you: systemctl cannot be run: No such file or"
        " directory. Instead let cron start it (crontab -e): @reboot "
    )
    assert said.endswith(f"manage.py up --data-dir {home}/data --port 8765 --log {home}/data/service.log")
    assert list(home.iterdir()) == []


def test_wsl_is_told_how_to_have_systemd(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(managers.platform, "release", lambda: "5.15.90.1-microsoft-standard-WSL2")
    assert refuse(capsys, "install") == f"service_error: {managers.WSL}"


def test_root_is_refused(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert refuse(capsys, "install") == f"service_error: {managers.ROOT_REFUSED}"


def test_it_is_shown_what_would_be_written(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["service", "install", "--port", "8770", "--dry-run"]) == 0
    assert capsys.readouterr().out.startswith(f"{home}/.config/systemd/user/day1.service:\n[Unit]\n")
    assert list(home.iterdir()) == []


@pytest.mark.parametrize("words", [("status",), ("logs",), ("uninstall",), ()])
def test_what_is_not_installed_is_said(home: Path, capsys: pytest.CaptureFixture[str], words: tuple) -> None:
    assert refuse(capsys, *words) == "not_found: No service is installed: `day1 service install` does that."


def test_a_service_that_systemd_does_not_stop_is_said(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    tool = home / "systemctl"
    tool.write_text("#!/bin/sh\necho Failed to connect to bus >&2\nexit 1\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{home}:/usr/bin:/bin")
    unit = managers.Systemd()
    unit.file.parent.mkdir(parents=True)
    unit.file.touch()
    unit.remove()
    err = capsys.readouterr().err
    assert (unit.file.exists(), "may still run" in err, "connect to bus" in err) == (False, True, True)


def test_a_database_elsewhere_is_no_service_of_a_person(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATABASE_URL", "sqlite:////x.sqlite3")
    assert refuse(capsys, "install").startswith("local_only: `day1 service` works on")


def test_a_port_that_another_program_has(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(
            CliError, match=f"Port {port} is taken by another program: stop that one, or choose"
        ):
            installation.check_port(port)
    installation.check_port(port)


def test_a_server_that_runs_on_the_data_is_named(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(managers.Systemd, "check", lambda *_: None)
    (home / "data").mkdir()
    with (home / "data" / "up.lock").open("w") as lock:
        lock.write('{"pid": 1, "url": "http://127.0.0.1:8766"}')
        lock.flush()
        assert try_lock(lock.fileno())
        with pytest.raises(
            CliError, match=r"Day1 runs on \S+ already, at http://127.0.0.1:8766: stop that one"
        ):
            installation.install(managers.Systemd(), describe_service(home / "data", 8765))


# ---- a connection that lasts -----------------------------------------------------------------------------

# As a person, whom a system of tests that runs as root is not.
RUN = """
import os, sys
os.geteuid = lambda: 1000
from day1site.cli import run_process
sys.exit(run_process(sys.argv[1:]))
"""


class Person:
    """Somebody at a terminal, with a home of their own, a browser, and the stand-in for systemd."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.home = folder, folder / "home"
        self.data = provisioned(folder / "data")
        tools = folder / "tools"
        for path in (tools, self.home / ".claude", folder / "stand-in"):
            path.mkdir(parents=True)
        stand_in = ROOT / "tests" / "site" / "stand_in_systemctl.py"
        self.make(tools / "systemctl", f'exec "{sys.executable}" "{stand_in}" "$@"')
        self.make(tools / "loginctl", "echo Linger=no")
        self.make(tools / "browser", f'echo "$1" > "{folder}/opened"')
        (self.home / ".claude" / "settings.json").write_text('{"model": "opus"}\n')
        empty = dict.fromkeys(
            ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "SSH_CONNECTION", "CLAUDE_CONFIG_DIR"), ""
        )
        own = {"HOME": str(self.home), "PATH": f"{tools}:/usr/bin:/bin", "BROWSER": str(tools / "browser")}
        self.env = environment(
            DAY1_DATA_DIR=str(self.data),
            STAND_IN=str(folder / "stand-in"),
            PYTHONPATH=str(ROOT),
            **own,
            **empty,
        )

    def make(self, file: Path, line: str) -> None:
        file.write_text(f"#!/bin/sh\n{line}\n")
        file.chmod(0o755)

    def tree(self) -> dict[str, str]:
        """Return the files of the home by their paths, and the folders, but for what servers note."""
        paths = [
            path for path in self.home.rglob("*") if ".local/state" not in str(path) and path.name != ".local"
        ]
        return {
            str(path.relative_to(self.home)): path.read_text() if path.is_file() else "" for path in paths
        }

    def day1(self, *words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", RUN, *words]
        return subprocess.run(command, env=self.env, cwd=self.home, capture_output=True, text=True)

    def at_terminal(self, *words: str, answer: str) -> tuple[int, str]:
        """Run a command at a terminal, and answer its question."""
        own, theirs = os.openpty()
        command = [sys.executable, "-c", RUN, *words]
        with subprocess.Popen(
            command, env=self.env, cwd=self.home, stdin=theirs, stdout=theirs, stderr=theirs
        ) as run:
            os.close(theirs)
            os.write(own, f"{answer}\n".encode())
            printed = b""
            while True:
                try:
                    printed += os.read(own, 4096)
                except OSError:
                    break
        os.close(own)
        return run.returncode, " ".join(printed.decode().split())

    def read_pid(self) -> int:
        return int((self.folder / "stand-in" / "pid").read_text().split()[1])


@pytest.fixture
def person(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Person]:
    # A .venv of an earlier lock, or of another folder: the service would install first, and log that.
    Environment(ROOT).ensure(RUNTIME)
    person = Person(tmp_path)
    yield person
    subprocess.run(
        [person.env["PATH"].split(":")[0] + "/systemctl", "disable", "day1.service"], env=person.env
    )


@pytest.mark.slow
def test_one_command_from_nothing_to_a_connection_that_lasts_and_back(person: Person) -> None:
    before = person.tree()
    port = str(find_free_port())
    url = f"http://127.0.0.1:{port}"
    status, printed = person.at_terminal("connect", "claude-code", "--port", port, answer="y")
    assert (status, f"{url}/ runs as a service" in printed) == (0, True), printed
    assert "Keep Day1 running as a service" in printed
    assert "loginctl enable-linger" in printed
    link = person.home / ".local" / "bin" / "day1"
    assert os.readlink(link) == str(ROOT / ".venv" / "bin" / "day1")
    check_login(person, url)
    check_kill(person, url)
    undone = person.day1("connect", "claude-code", "--undo")
    assert undone.returncode == 0, undone.stderr
    assert {f"{link}\tremoved", f"{person.home}/.config/systemd/user/day1.service\tremoved"} <= set(
        undone.stdout.splitlines()
    )
    assert person.tree() == before
    assert not answers(url)


def find_free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


def check_login(person: Person, url: str) -> None:
    """Check that the browser got a link, and that the log, which others may be shown, has none."""
    assert (person.folder / "opened").read_text().startswith(f"{url}/login/")
    said = person.day1("service", "logs").stdout
    assert re.fullmatch(rf"\S+ Day1 is ready at {url}/, on {person.data}\.\n", said)


def check_kill(person: Person, url: str) -> None:
    before = person.read_pid()
    os.kill(before, signal.SIGKILL)
    wait_until(lambda: person.read_pid() != before and answers(url))
    told = person.day1("service", "--format", "json")
    assert (told.returncode, '"state": "active"' in told.stdout) == (0, True)
    again = person.day1("service", "install")
    assert again.stdout == f"It was installed already. {url}/ serves {person.data}.\n"


def answers(url: str) -> bool:
    try:
        return bool(urlopen(f"{url}/api/v1/health/live", timeout=TIMEOUT_SECONDS).status == 200)
    except OSError:
        return False
