"""``manage.py write_schema``: write down the tables that all migrations make of an empty store."""

import os
import subprocess
import sys
from tempfile import TemporaryDirectory
from typing import Any

from django.core.management.base import BaseCommand, CommandParser
from django.db import connection

from day1site.management.schema import FILE, format_schema


class Command(BaseCommand):
    help = "Write day1site/management/schema.json anew: run each migration on an empty SQLite store."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--print", action="store_true", help="Print what the store at hand has instead.")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["print"]:
            self.stdout.write(format_schema(connection), ending="")
            return
        with TemporaryDirectory() as folder:
            run_manage(folder, "migrate", "--one-by-one")
            FILE.write_text(run_manage(folder, "write_schema", "--print"), encoding="utf-8")
        self.stdout.write(f"{FILE.name} is written.")


def run_manage(data_dir: str, *words: str) -> str:
    """Run a command on another data directory, in a process of its own; return what it printed."""
    env = {name: value for name, value in os.environ.items() if name != "DATABASE_URL"}
    command = [sys.executable, sys.argv[0], *words]
    env |= {"DAY1_DATA_DIR": data_dir, "DAY1_NO_BOOTSTRAP": "1"}
    return subprocess.run(command, env=env, check=True, stdout=subprocess.PIPE, text=True).stdout
