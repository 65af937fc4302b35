"""Installing a service: what may stand in its way, and whether it really answers."""

import json
import socket
import time
from dataclasses import dataclass
from pathlib import Path

from day1site.cli.connect import settings_files
from day1site.cli.connect.service.description import Service
from day1site.cli.connect.service.managers import Manager
from day1site.cli.connect.state import config_file
from day1site.cli.errors import CliError
from day1site.running_servers import RunningServer, list_running, read_running

START_SECONDS = 180.0  # a first start makes the store, on a machine that may be busy
POLL_SECONDS = 0.2
MAX_LINES = 9  # of the log, where it did not start
MIN_FAILURES = 3
HOST = "127.0.0.1"


@dataclass(frozen=True)
class Installed:
    """What is noted of the installed service."""

    data_dir: str
    port: int
    words: list[str]
    folders: list[str]  # that were made for it

    def is_for(self, service: Service) -> bool:
        return Path(self.data_dir) == service.data_dir


def note_file() -> Path:
    return config_file("service").with_suffix(".installed.json")


def read_installed() -> Installed | None:
    """Return the installed service; None without one."""
    try:
        known = json.loads(settings_files.read_file(note_file()) or "")
        return Installed(
            str(known["data_dir"]), int(known["port"]), list(known["words"]), list(known["folders"])
        )
    except (ValueError, KeyError, TypeError):
        return None


def install(manager: Manager, service: Service) -> tuple[str, RunningServer]:
    """Install the service and start it; return what was done, and the server once it runs.

    Raises CliError, and leaves nothing behind, where something stands in its way or it does not start.
    """
    known = read_installed()
    if known and not known.is_for(service):
        text = f"A service is installed already, for {known.data_dir}: `day1 service uninstall` first."
        raise CliError("conflict", text)
    manager.check(service)
    running = read_running(service.data_dir)
    if known and running and (known.words, known.port) == (list(service.words), service.port):
        return "It was installed already.", running
    if running and not known:
        text = f"Day1 runs on {service.data_dir} already, at {running.url}: stop that one first."
        raise CliError("conflict", text)
    if not (known and running and known.port == service.port):
        check_port(service.port)
    set_up(manager, service)
    done = "It was installed already, and is started anew." if known else "It is installed."
    return done, wait_for(manager, service)


def check_port(port: int) -> None:
    """Refuse a port that another program has. Raises CliError."""
    with socket.socket() as probe:
        probe.settimeout(2)
        if probe.connect_ex((HOST, port)) != 0:
            return
    owner = next((one for one in list_running() if one.url.endswith(f":{port}")), None)
    name = f"the Day1 of {owner.data_dir}" if owner else "another program"
    raise CliError("conflict", f"Port {port} is taken by {name}: stop that one, or choose another --port.")


def set_up(manager: Manager, service: Service) -> None:
    known = read_installed()
    folders = known.folders if known else settings_files.list_missing_folders([manager.file, note_file()])
    content = {"data_dir": str(service.data_dir), "port": service.port, "words": list(service.words)}
    content["folders"] = folders
    settings_files.write_file(note_file(), json.dumps(content, indent=2))
    try:
        manager.write(service)
        manager.start()
    except CliError:
        take_away(manager)
        raise


def wait_for(manager: Manager, service: Service) -> RunningServer:
    """Return the server once it answers. Raises CliError with the end of its log, and takes it away."""
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end and not fails_again(service):
        if (server := read_running(service.data_dir)) and answers(service.port):
            return server
        time.sleep(POLL_SECONDS)
    take_away(manager)
    log_end = " ".join(dict.fromkeys(read_log(service.log, MAX_LINES))) or "its log is empty"
    raise CliError("service_error", f"It does not start: {log_end}")


def fails_again(service: Service) -> bool:
    """Tell whether it was started several times and ended with the same words."""
    lines = read_log(service.log, MAX_LINES)
    return len(lines) == MAX_LINES and len(set(lines)) <= MAX_LINES / MIN_FAILURES


def answers(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(2)
        try:
            probe.connect((HOST, port))
            probe.sendall(b"GET /api/v1/health/live HTTP/1.0\r\nHost: localhost\r\n\r\n")
            return b" 200 " in probe.recv(64)
        except OSError:
            return False


def take_away(manager: Manager) -> list[str]:
    """Stop and remove the service; return the files that are gone."""
    known = read_installed()
    files = [file for file in (manager.file, note_file()) if file.exists()]
    manager.remove()
    note_file().unlink(missing_ok=True)
    settings_files.remove_folders(known.folders if known else [])
    return [str(file) for file in files]


def read_log(file: Path, count: int) -> list[str]:
    """Return the last lines of a log; none where there is none yet."""
    try:
        return file.read_text(encoding="utf-8", errors="replace").splitlines()[-count:]
    except OSError:
        return []
