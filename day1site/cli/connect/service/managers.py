"""The programs that keep services running: systemd, launchd, the task scheduler of Windows."""

import os
import platform
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from day1site.cli.connect import settings_files
from day1site.cli.connect.service.description import (
    NAME,
    Service,
    render_launchd,
    render_systemd,
    render_task,
    run_tool,
    say_failure,
)
from day1site.cli.errors import CliError
from day1site.cli.output import note

ROOT_REFUSED = (
    "A service of Day1 is a person's own, and this is root: install it as the person whose memory it is."
    " docs/deployment.md has a unit for a machine's own service."
)
NO_SYSTEMD = (
    "This machine runs no systemd for you: {reason}. Instead let cron start it (crontab -e): @reboot {line}"
)
WSL = (
    "WSL runs no systemd as it is set: write systemd=true below [boot] in /etc/wsl.conf, run `wsl --shutdown`"
    " in Windows, and try again."
)
LINGER = (
    "It ends when you log out, and starts when you log in: `loginctl enable-linger` keeps it running from the"
    " start of the machine on."
)
NOT_STOPPED = "The service was not stopped, and may still run until you log out: {reason}"
AT_LOGIN = "It starts when you log in, and ends when you log out."


class Manager(Protocol):
    """A manager of services: where it has the description, and what it is told to do."""

    @property
    def file(self) -> Path: ...
    def check(self, service: Service) -> None: ...
    def render(self, service: Service) -> str: ...
    def write(self, service: Service) -> None: ...
    def start(self) -> None: ...
    def remove(self) -> None: ...
    def read_state(self) -> str: ...
    def describe_lifetime(self) -> str: ...


def tell(*words: str) -> str:
    """Run a tool of the system; return what it printed. Raises CliError with what it said."""
    try:
        done = run_tool(*words)
    except OSError as error:
        raise CliError("service_error", f"{words[0]} cannot be run: {error.strerror}.") from None
    if done.returncode:
        raise CliError("service_error", say_failure(done, words))
    return done.stdout


def try_to_tell(*words: str) -> str:
    """Run a tool whose refusal changes nothing; return what it printed."""
    try:
        return run_tool(*words).stdout
    except OSError:
        return ""


@dataclass(frozen=True)
class Systemd:
    unit: str = f"{NAME}.service"

    @property
    def file(self) -> Path:
        base = os.environ.get("XDG_CONFIG_HOME") or str(Path.home() / ".config")
        return Path(base) / "systemd" / "user" / self.unit

    def check(self, service: Service) -> None:
        """Refuse where no manager of the person's services runs. Raises CliError."""
        if os.geteuid() == 0:
            raise CliError("service_error", ROOT_REFUSED)
        try:
            tell("systemctl", "--user", "show-environment")
        except CliError as error:
            if "microsoft" in platform.release().lower():
                raise CliError("service_error", WSL) from None
            line = render_systemd(service).partition("ExecStart=")[2].partition("\n")[0]
            text = NO_SYSTEMD.format(reason=error.text.rstrip("."), line=line)
            raise CliError("service_error", text) from None

    def render(self, service: Service) -> str:
        return render_systemd(service)

    def write(self, service: Service) -> None:
        settings_files.write_file(self.file, self.render(service))
        tell("systemctl", "--user", "daemon-reload")

    def start(self) -> None:
        tell("systemctl", "--user", "enable", self.unit)
        tell("systemctl", "--user", "restart", self.unit)

    def remove(self) -> None:
        try:
            tell("systemctl", "--user", "disable", "--now", self.unit)
        except CliError as error:
            note(NOT_STOPPED.format(reason=error.text))
        self.file.unlink(missing_ok=True)
        try_to_tell("systemctl", "--user", "daemon-reload")
        try_to_tell("systemctl", "--user", "reset-failed", self.unit)
        settings_files.remove_folders([str(self.file.with_name("default.target.wants"))])

    def read_state(self) -> str:
        return try_to_tell("systemctl", "--user", "is-active", self.unit).strip() or "unknown"

    def describe_lifetime(self) -> str:
        printed = try_to_tell("loginctl", "show-user", "--property=Linger", str(os.geteuid()))
        return "It starts with the machine." if "Linger=yes" in printed else LINGER


@dataclass(frozen=True)
class Launchd:
    label: str = NAME

    @property
    def file(self) -> Path:
        return Path.home() / "Library" / "LaunchAgents" / f"{self.label}.plist"

    @property
    def domain(self) -> str:
        return f"gui/{os.getuid()}"

    def check(self, service: Service) -> None:
        if os.geteuid() == 0:
            raise CliError("service_error", ROOT_REFUSED)

    def render(self, service: Service) -> str:
        return render_launchd(service)

    def write(self, service: Service) -> None:
        settings_files.write_file(self.file, self.render(service))

    def start(self) -> None:
        try_to_tell("launchctl", "bootout", f"{self.domain}/{self.label}")  # the one before
        tell("launchctl", "bootstrap", self.domain, str(self.file))

    def remove(self) -> None:
        try_to_tell("launchctl", "bootout", f"{self.domain}/{self.label}")
        self.file.unlink(missing_ok=True)

    def read_state(self) -> str:
        lines = try_to_tell("launchctl", "print", f"{self.domain}/{self.label}").splitlines()
        states = (line.partition("=")[2].strip() for line in lines if line.strip().startswith("state ="))
        return next(states, "unknown")

    def describe_lifetime(self) -> str:
        return AT_LOGIN


@dataclass(frozen=True)
class TaskScheduler:
    task: str = "Day1"

    @property
    def file(self) -> Path:
        """Return our copy of the description: the scheduler has its own."""
        return Path(os.environ.get("LOCALAPPDATA") or Path.home()) / "day1" / "task.xml"

    def check(self, service: Service) -> None:
        tell("schtasks", "/Query", "/FO", "LIST")

    def render(self, service: Service) -> str:
        return render_task(service)

    def write(self, service: Service) -> None:
        self.file.parent.mkdir(parents=True, exist_ok=True)
        self.file.write_text(self.render(service), encoding="utf-16")
        tell("schtasks", "/Create", "/TN", self.task, "/XML", str(self.file), "/F")

    def start(self) -> None:
        try_to_tell("schtasks", "/End", "/TN", self.task)
        tell("schtasks", "/Run", "/TN", self.task)

    def remove(self) -> None:
        try_to_tell("schtasks", "/End", "/TN", self.task)
        try_to_tell("schtasks", "/Delete", "/TN", self.task, "/F")
        self.file.unlink(missing_ok=True)

    def read_state(self) -> str:
        lines = try_to_tell("schtasks", "/Query", "/TN", self.task, "/FO", "LIST").splitlines()
        states = (line.partition(":")[2].strip() for line in lines if line.startswith("Status:"))
        return next(states, "unknown")

    def describe_lifetime(self) -> str:
        return AT_LOGIN


def find_manager(system: str = sys.platform) -> Manager:
    """Return what keeps services running on this system. Raises CliError where that is not known."""
    managers: dict[str, Manager] = {"linux": Systemd(), "darwin": Launchd(), "win32": TaskScheduler()}
    if system not in managers:
        raise CliError("service_error", f"Day1 knows no way to keep a service running on {system}.")
    return managers[system]
