"""From a command line to an exit status. Whatever happens, nobody sees a traceback."""

import logging
import os
import sqlite3
import sys
from typing import TYPE_CHECKING

from day1site.cli.errors import CliError, UsageError
from day1site.cli.names import COMPLETION_VARIABLE, FAILED, INTERRUPTED, OK, PIPE_CLOSED, PROGRAM, USAGE
from day1site.cli.output import note_kept_secrets, note_secrets, strip_control
from memory.exceptions import Day1Error

if TYPE_CHECKING:
    import click


def main(argv: list[str]) -> int:
    """Carry out one command line; returns the exit status."""
    try:
        status = run(argv)
        sys.stdout.flush()
        return status
    except UsageError as error:
        return print_error(f"day1: error: {error}", USAGE)
    except (CliError, Day1Error) as error:
        return print_error(f"{error.code}: {error.text}", FAILED)
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        return close_pipe()
    except OSError as error:
        return print_error(f"file_error: {error.filename or 'A file'}: {error.strerror or error}.", FAILED)
    except Exception as error:
        return print_unexpected(error)


def run(argv: list[str]) -> int:
    """Carry out a hook at once, and every other command by click."""
    if argv[:1] == ["hook"]:
        from day1site.cli.hook import run_at_once

        if run_at_once(argv[1:]):
            return OK
    return run_command(argv)


def run_command(argv: list[str]) -> int:
    import click

    from day1site.cli.invocation import Invocation
    from day1site.cli.registry import build

    root = build()
    if instruction := os.environ.get(COMPLETION_VARIABLE):
        from day1site.cli.completion import answer_shell

        return answer_shell(root, instruction)
    try:
        with root.make_context(PROGRAM, list(argv), obj=Invocation()) as ctx:
            take_secrets()  # of what this process wrote before
            try:
                status = root.invoke(ctx) or OK
            finally:
                note_kept_secrets()
            note_secrets(take_secrets())
            return status
    except click.exceptions.Exit as end:
        return end.exit_code
    except click.UsageError as error:
        return refuse_usage(error)


def take_secrets() -> int:
    """Return how many secrets engines of this process took out, beside those that REST counted."""
    if "memory.engines.support.validation" not in sys.modules:
        return 0
    from memory.engines.support.validation import secrets_found

    return secrets_found.take()


def refuse_usage(error: "click.UsageError") -> int:
    """Print the usage of the command and what is wrong with its words."""
    name = error.ctx.command_path if error.ctx else PROGRAM
    usage = f"{error.ctx.get_usage()}\n" if error.ctx else ""
    print(f"{usage}{name}: error: {strip_control(error.format_message())}", file=sys.stderr)
    return USAGE


def print_error(text: str, status: int) -> int:
    print(strip_control(" ".join(text.split())), file=sys.stderr)
    return status


def close_pipe() -> int:
    """Write the rest nowhere, since whoever read the output has gone and Python would complain."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return PIPE_CLOSED


def is_database_error(error: Exception) -> bool:
    """Tell without Django, which a command on a server does not start."""
    kinds = type(error).__mro__  # of Django's errors, the ones of memory.db have subclasses
    return isinstance(error.__cause__, sqlite3.Error) or any(
        kind.__module__ == "django.db.utils" for kind in kinds
    )


def print_unexpected(error: Exception) -> int:
    """Print a defect, or the trouble of the database, in one line; DAY1_LOG_LEVEL=DEBUG shows the rest."""
    logging.getLogger(__name__).debug("The command failed", exc_info=error)
    if is_database_error(error):
        return print_error(f"store_error: The store cannot be used: {error}.", FAILED)
    return print_error(f"error: Something went wrong: {type(error).__name__}: {error}", FAILED)
