"""The commands on the service."""

import os
import sys
import time
from pathlib import Path
from typing import Any

from day1site.cli.client import server_url
from day1site.cli.connect.service.description import LOG_NAME, Service, describe_service
from day1site.cli.connect.service.installation import Installed, install, read_installed, read_log, take_away
from day1site.cli.connect.service.managers import find_manager
from day1site.cli.errors import CliError, local_only
from day1site.cli.invocation import Invocation
from day1site.cli.operation_commands import Noun
from day1site.cli.output import note, strip_control
from day1site.cli.parameters import WHOLE, option, switch
from day1site.running_servers import read_running
from day1site.settings.paths import data_dir

USUAL_PORT, LINES = 8765, 50
FOLLOW_SECONDS = 0.5
GROUP = Noun("service", "day1 service install", default="status")


def describe_own(port: int | None = None) -> Service:
    """Return the service of the data at hand; one that is installed keeps its port. Raises CliError."""
    if server_url() or os.environ.get("DATABASE_URL"):
        raise local_only("service")
    known = read_installed()
    kept = known.port if known and Path(known.data_dir) == data_dir() else USUAL_PORT
    return describe_service(data_dir(), port or kept)


def require_installed() -> Installed:
    if (known := read_installed()) is None:
        raise CliError("not_found", "No service is installed: `day1 service install` does that.")
    return known


@GROUP.action(
    "install",
    "Keep Day1 running: it is started now, at each login, and again whenever it ends.",
    "day1 service install",
    "day1 --data-dir ~/memory service install --port 8770",
)
@option("--port", type=WHOLE, metavar="PORT", help=f"default {USUAL_PORT}")
@switch("--dry-run", help="print what the system would be told, and change nothing")
def install_service(run: Invocation, port: int | None, dry_run: bool) -> None:
    service, manager = describe_own(port), find_manager()
    if dry_run:
        answer = {"file": str(manager.file), "content": manager.render(service)}
        run.show_line(answer, f"{answer['file']}:\n{answer['content']}")
        return
    done, server = install(manager, service)
    lifetime = manager.describe_lifetime()
    answer = {"done": done, "url": server.url, "data_dir": str(server.data_dir), "file": str(manager.file)}
    run.show_line(answer | {"lifetime": lifetime}, f"{done} {server.url}/ serves {server.data_dir}.")
    note(f"{lifetime} It is written in {manager.file}; `day1 service uninstall` takes it away.")


@GROUP.action("status", "Say whether the service is installed, runs and answers.", "day1 service status")
def show_status(run: Invocation) -> int:
    """End with status 1 where it does not run."""
    known, manager = require_installed(), find_manager()
    server = read_running(Path(known.data_dir))
    answer: dict[str, Any] = {
        "state": manager.read_state(),
        "url": server.url if server else "",
        "data_dir": known.data_dir,
        "port": known.port,
        "file": str(manager.file),
        "log": str(Path(known.data_dir) / LOG_NAME),
    }
    run.show(answer)
    return 0 if server else 1


@GROUP.action("logs", "Print the end of what the service has said.", "day1 service logs --follow")
@option("--lines", type=WHOLE, default=LINES, metavar="N", help=f"default {LINES}")
@switch("--follow", help="go on until Ctrl-C")
def show_logs(run: Invocation, lines: int, follow: bool) -> None:
    file = Path(require_installed().data_dir) / LOG_NAME
    for line in read_log(file, lines):
        print(strip_control(line))
    if follow:
        follow_log(file)


def follow_log(file: Path) -> None:
    with file.open(encoding="utf-8", errors="replace") as stream:
        stream.seek(0, os.SEEK_END)
        while True:
            for line in stream:
                print(strip_control(line.rstrip("\n")))
            sys.stdout.flush()
            time.sleep(FOLLOW_SECONDS)


@GROUP.action(
    "uninstall", "Stop the service and take it away; the data stays where it is.", "day1 service uninstall"
)
def uninstall(run: Invocation) -> None:
    known = require_installed()
    files = take_away(find_manager())
    text = "\n".join(f"{file}\tremoved" for file in files)
    run.show_line({"removed": files, "data_dir": known.data_dir}, text)
    note(f"The data stays in {known.data_dir}.")
