"""What makes a connection last: a service that runs, ``day1`` on the PATH, a first login; and back."""

import os
import shutil
import sys
import webbrowser
from pathlib import Path
from typing import Any

from day1site.cli.connect import settings_files
from day1site.cli.connect.service.commands import describe_own
from day1site.cli.connect.service.installation import install, read_installed, take_away
from day1site.cli.connect.service.managers import find_manager
from day1site.cli.connect.state import State, save_state
from day1site.cli.errors import CliError
from day1site.cli.output import note
from day1site.cli.transport.local_store import make_login_link
from day1site.launcher import LAUNCHER, PROGRAMS
from day1site.running_servers import read_running
from day1site.settings.paths import IS_CHECKOUT, ROOT, command_prefix
from memory.exceptions import Day1Error
from memory.processes import IS_WINDOWS

QUESTION = "No server runs here. Keep Day1 running as a service ({file}){path}? [Y/n] "
NOT_KEPT = "Day1 is not kept running: {reason}"
COMMAND = command_prefix()
ADMIN = "admin"
LATER = "`day1 login` makes a link that logs you in once."


def wants_service(assume_yes: bool) -> bool:
    """Tell whether a service is wanted: a person at a terminal is asked, and told what would change."""
    if assume_yes or not (sys.stdin.isatty() and sys.stdout.isatty()):
        return assume_yes
    try:
        file = find_manager().file
    except CliError:
        return False
    link = find_link()
    path = f" and put `day1` on your PATH ({link})" if link else ""
    return input(QUESTION.format(file=file, path=path)).strip().lower() in ("", "y", "yes")


def start_service(program: str, state: State, port: int | None) -> None:
    """Install and start the service, unless something stands in its way, which is said."""
    was_there = read_installed() is not None
    note("Day1 starts as a service, which takes up to a minute …")
    try:
        done, server = install(manager := find_manager(), describe_own(port))
    except CliError as error:
        note(NOT_KEPT.format(reason=error.text))
        return
    if not was_there:
        state["lasting"] = state.get("lasting", {}) | {"service": str(manager.file)}
        save_state(program, state)
    note(f"{done} {server.url}/ runs as a service: {manager.file}. {manager.describe_lifetime()}")


def note_unkept(data_dir: str) -> None:
    """Say that a server of here runs, and that no service keeps it running, where that is so."""
    server = read_running(Path(data_dir)) if data_dir else None
    known = read_installed()
    if server and not (known and Path(known.data_dir) == server.data_dir):
        note(f"{server.url} runs, but nothing keeps it running: end it, then `{COMMAND} service install`.")


# ---- the PATH ----------------------------------------------------------------------------------------


def find_launcher() -> Path:
    """Return the file that starts the command line of this installation."""
    folder = ROOT / ".venv" / PROGRAMS if IS_CHECKOUT else Path(sys.executable).parent
    return folder / LAUNCHER


def find_link() -> Path | None:
    """Return where a link to the launcher would be; None where one is there, or none can be made."""
    link = Path.home() / ".local" / "bin" / LAUNCHER
    has_other = shutil.which(LAUNCHER) or os.path.lexists(link)
    return None if IS_WINDOWS or has_other or not find_launcher().exists() else link


def put_on_path(program: str, state: State) -> None:
    """Link ``day1`` into the person's own folder of programs, where no other program has the name."""
    if (link := find_link()) is None:
        return
    try:
        settings_files.check_writable(link)
        state["folders"] = [*state.get("folders", []), *settings_files.list_missing_folders([link])]
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(find_launcher())
    except (CliError, OSError) as error:
        note(f"`day1` is not put on your PATH: {getattr(error, 'text', error)}")
        return
    state["lasting"] = state.get("lasting", {}) | {"link": str(link), "launcher": str(find_launcher())}
    save_state(program, state)
    known = str(link.parent) in os.environ.get("PATH", "").split(os.pathsep)
    print(f"{link}\tmade")
    note("`day1` runs from any folder now." if known else f"Once {link.parent} is on your PATH, `day1` runs.")


# ---- the first login ---------------------------------------------------------------------------------


def open_pages(url: str) -> None:
    """Open the pages in a browser, with a link that logs in once; where there is none, print the link.

    The link is a secret: what is no terminal, such as a log, is not shown it.
    """
    if not sys.stdout.isatty():
        note(LATER)
        return
    try:
        link = make_login_link(ADMIN, url)
    except Day1Error as error:
        note(f"{error.text} {LATER}")
        return
    if has_browser() and webbrowser.open(link):
        note(f"Your browser opens {url}/; its link logs you in once.")
    else:
        note(f"Log in once, within minutes, in a browser on this machine: {link}")


def has_browser() -> bool:
    """Tell whether a browser would open before the person: not over a network, or in the terminal itself."""
    if os.environ.get("SSH_CONNECTION"):
        return False
    has_screen = any(os.environ.get(name) for name in ("BROWSER", "DISPLAY", "WAYLAND_DISPLAY"))
    return has_screen or sys.platform in ("darwin", "win32")


# ---- the way back ------------------------------------------------------------------------------------


def take_off_path(lasting: dict[str, Any], dry_run: bool) -> list[dict[str, str]]:
    """Remove the link that connect made, unless it is another one now; return its file."""
    link, launcher = Path(lasting.get("link", "")), lasting.get("launcher", "")
    if not launcher or not link.is_symlink() or os.readlink(link) != launcher:
        return []
    if not dry_run:
        link.unlink()
    return [{"file": str(link), "done": "removed"}]


def stop_service(lasting: dict[str, Any], dry_run: bool) -> list[dict[str, str]]:
    """Take the service away that connect installed; return its file."""
    if "service" not in lasting or not read_installed():
        return []
    if not dry_run:
        take_away(find_manager())
    return [{"file": str(lasting["service"]), "done": "removed"}]
