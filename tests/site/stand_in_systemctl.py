"""A stand-in for ``systemctl --user`` and ``loginctl``: it reads the unit as far as Day1 writes it, and keeps
its program running.
"""

import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

UNITS = Path(os.environ["HOME"]) / ".config" / "systemd" / "user"
STATE = Path(os.environ["STAND_IN"])


def read(name: str, unit: str) -> str:
    found = re.search(rf"^{name}=(.*)$", (UNITS / unit).read_text(), re.MULTILINE)
    return found[1] if found else ""


def keep_running(unit: str) -> None:
    """Run the program of a unit, again and again where the unit says so, until it is told to stop."""
    words = [word.replace("%%", "%").replace("$$", "$") for word in shlex.split(read("ExecStart", unit))]
    while True:
        program = subprocess.Popen(words, start_new_session=True)
        (STATE / "pid").write_text(f"{os.getpid()} {program.pid}")
        program.wait()
        if read("Restart", unit) != "always":
            return
        time.sleep(float(read("RestartSec", unit)))


def stop() -> None:
    if (file := STATE / "pid").exists():
        keeper, program = map(int, file.read_text().split())
        for number, process in ((signal.SIGKILL, keeper), (signal.SIGTERM, program)):
            try:
                os.kill(process, number)
            except ProcessLookupError:
                continue
        file.unlink()


def main(action: str, *rest: str) -> None:
    if action == "keep":
        keep_running(rest[0])
    elif action == "enable":
        (UNITS / "default.target.wants").mkdir()
        (UNITS / "default.target.wants" / rest[-1]).symlink_to(UNITS / rest[-1])
    elif action == "restart":
        stop()
        words = [sys.executable, __file__, "keep", rest[-1]]
        nothing = subprocess.DEVNULL
        # What stands in the environment of a command is not that of services.
        env = {name: value for name, value in os.environ.items() if name != "DAY1_NO_BOOTSTRAP"}
        streams = {"stdin": nothing, "stdout": nothing, "stderr": nothing}
        subprocess.Popen(words, **streams, start_new_session=True, env=env)
    elif action == "disable":
        stop()
        (UNITS / "default.target.wants" / rest[-1]).unlink(missing_ok=True)
    elif action == "is-active":
        print("active" if (STATE / "pid").exists() else "inactive")


if __name__ == "__main__":
    main(*[word for word in sys.argv[1:] if word != "--user"])
