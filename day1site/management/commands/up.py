"""``manage.py up``: from nothing to a running server; Ctrl-C stops it."""

import os
import re
import shlex
import sys
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.checks import Tags
from django.core.management.base import BaseCommand
from django.db import DatabaseError

from day1site.demo.presence import is_present
from day1site.loading import pause_gc
from day1site.running_servers import announced
from day1site.server import provisioning
from day1site.server.process import (
    CannotStart,
    begin_loading_model,
    build_url,
    data_dir_lock,
    database_file,
    exit_now,
    listening,
    serve_all,
    write_lock_info,
)
from day1site.server.provisioning import find_first_key, prepare
from day1site.settings.paths import command_options, command_prefix, default_data_dir
from memory import metrics
from memory.clock import read_time
from memory.engines.access.login_links import VALID_MINUTES, LoginLinkEngine
from memory.engines.access.provisioning import USER, FirstStart
from memory.engines.support.usage import UsageEngine
from memory.exceptions import Day1Error
from memory.program_commands import COMMANDS, find_installed
from memory.quota import Usage

PORT = 8765
USUAL_PROGRAM = "claude-code"

READY = """Day1 is ready.

  Connect {agent}, then restart it (or {others}):

  {day1} connect {program} --url {url}{where}

  {url}/ shows its first event; Agents & keys has a text for every other program.

  Web    {url}/
  API    {url}/api/v1/
  Docs   {url}/api/v1/docs
  Admin  {url}/admin/
  Data   {folder}
"""

FIRST = """  This was the first start. User, password and key are kept in {file}, which only you can read.

  User      {user}
  Password  {password}
  Key       {key}
"""

LINK = """  Log in once, within {minutes} minutes, in a browser on this machine:

  {url}/login/{secret}
"""

AGAIN = """  User, password and key of the first start are in {file}.
"""

TRY = """  Store and find a first fact:

  KEY=$({python} -c 'import json, sys; print(json.load(open(sys.argv[1]))["key"])' {file})
  curl {url}/api/v1/facts -H "Authorization: Bearer $KEY" \\
       -H "Content-Type: application/json" -d '{{"fact_text": "Day1 keeps what agents learn."}}'
  curl "{url}/api/v1/facts/search?query=agents" -H "Authorization: Bearer $KEY"
"""

DEMO = """  Something to look at: half a year of a made-up team, in a project of its own:

  {day1} demo{where}
"""

LOGGED = "{now} Day1 is ready at {url}/, on {folder}."

FULL = """  The project {slug} stores {stored}.
  It is at its quota: writes stop, reads go on; --quota or `manage.py quota` raises it.
"""

OPEN_TO_ALL = """  It listens on every address of this machine, and answers to {names}:
  whoever reaches the machine reaches the login and the API.
"""


class Command(BaseCommand):
    help = "Start Day1: prepares the data directory, then serves web, API and background work until Ctrl-C."
    requires_system_checks = ()  # they load every page: a start that is refused need not wait for them

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--port", type=port_number, default=PORT, help=f"default {PORT}; 0 takes a free one"
        )
        host = getattr(settings, "HOST", "127.0.0.1")
        parser.add_argument("--host", default=host, help="default 127.0.0.1; 0.0.0.0 for every address")
        # Handled by bootstrap.py, before the settings are loaded; declared for --help.
        parser.add_argument("--data-dir", help=f"default: {default_data_dir()}")
        parser.add_argument(
            "--quota", help="what a project may store: 20GB, rows=5000000,bytes=20GB, or none; as DAY1_QUOTA"
        )
        parser.add_argument("--no-worker", action="store_true", help="serve only, without background work")
        parser.add_argument("--log", help="a file for all that it says, without passwords; for services")
        parser.add_argument(
            "--admin-password", default="", help="sets it; DAY1_ADMIN_PASSWORD does so on the first start"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        os.umask(0o077)  # the data is the owner's alone to read
        try:
            self.start(options)
        except CannotStart as refusal:
            sys.exit(str(refusal))
        except Day1Error as refusal:
            sys.exit(refusal.text)
        except DatabaseError as error:
            sys.exit(f"The database cannot be used: {error}.")
        except KeyboardInterrupt:  # before the server handles the signal
            pass
        self.say("Stopped.")
        exit_now()

    def start(self, options: dict[str, Any]) -> None:
        folder, host = Path(settings.DATA_DIR), options["host"]
        locked = data_dir_lock(folder, database_file())
        with locked as locks, listening(host, options["port"]) as listener:
            with pause_gc():  # checks load what settings name
                self.check(
                    tags=["day1", Tags.compatibility]
                )  # what settings can get wrong, not what code can
            url = build_url(host, listener)
            write_lock_info(locks, url)
            if settings.PROCESSES > 1:
                begin_loading_model()
            made = self.prepare(folder, url, options["admin_password"])
            metrics.start(folder / "metrics")

            def announce() -> None:
                self.say(log_line(folder, url) if options["log"] else describe_start(folder, url, host, made))

            with announced(folder):
                serve_all(listener, settings.PROCESSES, not options["no_worker"], announce)

    def prepare(self, folder: Path, url: str, password: str) -> FirstStart | None:
        made = prepare(folder, url, password or os.environ.get("DAY1_ADMIN_PASSWORD", ""))
        if made is None and password:
            provisioning.set_password(folder, password)
        provisioning.refresh(folder, url=url)
        return made

    def say(self, text: str) -> None:
        self.stdout.write(text)
        self.stdout.flush()


def log_line(folder: Path, url: str) -> str:
    return LOGGED.format(now=read_time().isoformat(timespec="seconds"), url=url, folder=folder)


def describe_start(folder: Path, url: str, host: str, made: FirstStart | None) -> str:
    """Return the text for the user, with a new login link; a server answers already meanwhile."""
    try:
        has_demo, full = is_present(), UsageEngine().list_full()
    except DatabaseError:  # a damaged store is served for reading
        has_demo, full = True, {}
    return announcement(folder, url, host, made, has_demo, full, make_login_link())


def make_login_link() -> str:
    """Return the secret of a new login link; "" where there is no such user, or a store takes no writes."""
    try:
        return LoginLinkEngine().create_link(username=USER)
    except (Day1Error, DatabaseError):
        return ""


def port_number(text: str) -> int:
    """Parse a port; 0 takes any free one."""
    if not re.fullmatch(r"\d{1,5}", text, re.ASCII) or int(text) > 65535:
        raise ArgumentTypeError(f"a port is a number from 1 to 65535, not {text!r}")
    return int(text)


def announcement(
    folder: Path,
    url: str,
    host: str,
    made: FirstStart | None,
    demo: bool,
    full: Mapping[str, Usage] | None = None,
    secret: str = "",
) -> str:
    """Return the text for the user: where everything is, and what to do first."""
    file = find_first_key(folder)
    values = {
        "url": url,
        "folder": folder,
        "file": shlex.quote(str(file)),
        "where": command_options(folder),
        "python": "python3",
        "day1": command_prefix(),
        "names": answers_to(settings.ALLOWED_HOSTS),
        **name_programs(find_installed()),
    }
    parts = [READY]
    if host in ("0.0.0.0", "::"):
        parts.append(OPEN_TO_ALL)
    if made:
        values |= {"user": made.user, "password": made.password or "(the one you chose)", "key": made.key}
        parts.append(FIRST)
    elif file.exists():
        parts.append(AGAIN)
    if secret:
        values |= {"secret": secret, "minutes": VALID_MINUTES}
        parts.append(LINK)
    if file.exists():
        parts.append(TRY)
    if not demo:
        parts.append(DEMO)
    texts = [part.format(**values) for part in parts]
    texts += [FULL.format(slug=slug, stored=usage.describe()) for slug, usage in (full or {}).items()]
    return "\n".join([*texts, "  Ctrl-C stops it."])


def name_programs(found: str) -> dict[str, str]:
    """Return the program to connect: the one that was found on this machine, and else the usual one."""
    program = found or USUAL_PROGRAM
    return {
        "program": program,
        "agent": f"{found}, which is on this machine" if found else "an agent",
        "others": ", ".join(name for name in COMMANDS if name != program),
    }


def answers_to(names: list[str]) -> str:
    return "every host name" if "*" in names else "the names " + ", ".join(names)
