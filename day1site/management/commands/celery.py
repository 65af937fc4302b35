"""``manage.py celery …``: background work in processes of its own, from any folder."""

import sys
from typing import Any

from click import ClickException, Context, Option, Parameter, UsageError
from django.core.management.base import BaseCommand

COMMANDS = ("worker", "beat", "inspect", "status")


class Command(BaseCommand):
    help = f"Run Celery's {', '.join(COMMANDS)}: `manage.py celery worker --help` lists the options."

    def run_from_argv(self, argv: list[str]) -> None:
        from day1site.celery import app

        try:
            check_words(argv[2:])
            forbid_detaching()
            sys.exit(app.start(argv=argv[2:] or ["--help"]))
        except ClickException as error:
            error.show()
            sys.exit(error.exit_code)

    def handle(self, *args: Any, **options: Any) -> None:
        raise NotImplementedError("run it as `manage.py celery`")


def check_words(words: list[str]) -> None:
    """Check the words after ``celery``. Raises UsageError."""
    if words and words[0] not in (*COMMANDS, "--help", "--version"):
        raise UsageError(f"{words[0]!r} is none of {', '.join(COMMANDS)}.")


def forbid_detaching() -> None:
    """Refuse ``--detach`` however it is written, also ``-ED``.

    Celery would start itself anew, with the current folder on Python's path.
    """
    from celery.bin.celery import celery

    for param in (param for name in COMMANDS for param in celery.commands[name].params):
        if isinstance(param, Option) and param.name == "detach":
            param.callback, param.hidden = refuse_detaching, True


def refuse_detaching(_ctx: Context, _option: Parameter, value: Any) -> Any:
    if value:
        raise UsageError("It runs in the foreground: let systemd or the like keep it in the background.")
    return value
