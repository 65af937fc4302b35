"""What a service is, and how each system is told of it: a systemd unit, a launchd plist, a Windows task."""

import os
import plistlib
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape

from day1site.settings.paths import IS_CHECKOUT, ROOT
from memory.processes import IS_WINDOWS

NAME, ABOUT = "day1", "Day1, a memory server for AI agents"
LOG_NAME = "service.log"
RESTART_SECONDS, STOP_SECONDS = 2, 20

UNIT = """[Unit]
Description={about}
# However often it is killed, it comes back.
StartLimitIntervalSec=0

[Service]
ExecStart={line}
Restart=always
RestartSec={restart}
# The first process tells the others to stop; a second signal would cut requests off.
KillMode=mixed
TimeoutStopSec={stop}

[Install]
WantedBy=default.target
"""

TASK = """<?xml version="1.0" encoding="UTF-16"?>
<Task version="1.2" xmlns="http://schemas.microsoft.com/windows/2004/02/mit/task">
  <RegistrationInfo>
    <Description>{about}</Description>
  </RegistrationInfo>
  <Triggers>
    <LogonTrigger>
      <Enabled>true</Enabled>
      <UserId>{user}</UserId>
    </LogonTrigger>
  </Triggers>
  <Principals>
    <Principal id="Author">
      <UserId>{user}</UserId>
      <LogonType>InteractiveToken</LogonType>
      <RunLevel>LeastPrivilege</RunLevel>
    </Principal>
  </Principals>
  <Settings>
    <MultipleInstancesPolicy>IgnoreNew</MultipleInstancesPolicy>
    <DisallowStartIfOnBatteries>false</DisallowStartIfOnBatteries>
    <StopIfGoingOnBatteries>false</StopIfGoingOnBatteries>
    <ExecutionTimeLimit>PT0S</ExecutionTimeLimit>
    <RestartOnFailure>
      <Interval>PT1M</Interval>
      <Count>999</Count>
    </RestartOnFailure>
  </Settings>
  <Actions Context="Author">
    <Exec>
      <Command>{command}</Command>
      <Arguments>{arguments}</Arguments>
      <WorkingDirectory>{folder}</WorkingDirectory>
    </Exec>
  </Actions>
</Task>
"""


@dataclass(frozen=True)
class Service:
    """A server that is to be kept running: its data, its port, and the words that start it."""

    words: tuple[str, ...]
    data_dir: Path
    port: int

    @property
    def log(self) -> Path:
        return self.data_dir / LOG_NAME


def describe_service(data_dir: Path, port: int, for_windows: bool = IS_WINDOWS) -> Service:
    """Return the service that `up` would be, from this checkout or installation.

    On Windows it is one process, since a task that is ended leaves those running that its own has started:
    a checkout's is the Python of .venv there, which finds Day1 in the folder that it works in.
    """
    options = ("up", "--data-dir", str(data_dir), "--port", str(port), "--log", str(data_dir / LOG_NAME))
    if IS_CHECKOUT and for_windows:
        own = ROOT / ".venv" / "Scripts" / "pythonw.exe"
        return Service((str(own), "-m", "day1site", *options), data_dir, port)
    if IS_CHECKOUT:  # the first Python looks after .venv, as each start does
        python = Path(getattr(sys, "_base_executable", "") or sys.executable)
        if (plain := python.with_name("python3")).exists() and plain.samefile(python):
            python = plain  # of the system, which will be a newer one some day
        return Service((str(python), str(ROOT / "manage.py"), *options), data_dir, port)
    return Service((hide_console(sys.executable), "-P", "-m", "day1site", *options), data_dir, port)


def hide_console(python: str) -> str:
    """Return the Python of Windows that opens no window; elsewhere the same."""
    windowless = Path(python).with_name("pythonw.exe")
    return str(windowless) if IS_WINDOWS and windowless.exists() else python


def render_systemd(service: Service) -> str:
    line = " ".join(quote_for_systemd(word) for word in service.words)
    return UNIT.format(about=ABOUT, line=line, restart=RESTART_SECONDS, stop=STOP_SECONDS)


def quote_for_systemd(word: str) -> str:
    """Return a word of ExecStart: systemd reads quotes, backslashes, dollars and percents in it."""
    plain = word.replace("\\", "\\\\").replace('"', '\\"').replace("$", "$$").replace("%", "%%")
    return f'"{plain}"' if set(word) & set(" \t'\"\\;") else plain


def render_launchd(service: Service) -> str:
    content = {
        "Label": NAME,
        "ProgramArguments": list(service.words),
        "RunAtLoad": True,
        "KeepAlive": True,
        "ThrottleInterval": RESTART_SECONDS,
        "ExitTimeOut": STOP_SECONDS,
    }
    return plistlib.dumps(content, sort_keys=False).decode()


def render_task(service: Service, user: str = "") -> str:
    """Return the XML of a task, which schtasks reads in UTF-16."""
    known = user or "\\".join(filter(None, (os.environ.get(name) for name in ("USERDOMAIN", "USERNAME"))))
    arguments = subprocess.list2cmdline(service.words[1:])
    values = {"about": ABOUT, "user": known, "command": service.words[0], "arguments": arguments}
    values["folder"] = str(ROOT if IS_CHECKOUT else service.data_dir)
    return TASK.format(**{name: escape(value) for name, value in values.items()})


def run_tool(*words: str, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Run a tool of the system. Raises FileNotFoundError where there is none."""
    return subprocess.run(
        words, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", env=env, timeout=60
    )


def say_failure(done: subprocess.CompletedProcess[str], words: Sequence[str]) -> str:
    text = " ".join((done.stderr.strip() or done.stdout.strip()).split())
    return text or f"`{' '.join(words)}` ended with status {done.returncode}"
