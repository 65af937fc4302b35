"""``manage.py day1 …``: the command line of Day1; see day1site.cli."""

import sys
from typing import Any

from django.core.management.base import BaseCommand

from day1site.cli import main


class Command(BaseCommand):
    help = "Write, find and manage memory: manage.py day1 --help shows how."

    def run_from_argv(self, argv: list[str]) -> None:
        sys.exit(main(argv[2:]))

    def handle(self, *args: Any, **options: Any) -> None:
        raise NotImplementedError("call day1site.cli.main with the words of the command line")
