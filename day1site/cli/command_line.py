"""From a command line to an exit status. Whatever happens, nobody sees a traceback."""

import argparse
import importlib
import logging
import os
import sqlite3
import sys

from day1site.cli.errors import CliError, UsageError
from day1site.cli.output import clean
from day1site.cli.parser import parse
from memory.exceptions import Day1Error

OK, FAILED, USAGE, INTERRUPTED, PIPE_CLOSED = 0, 1, 2, 130, 141

# Which module has a command; each is read only when it is called for.
MODULES = {
    "facts": (
        "write_fact", "search", "why", "list_facts", "show_fact", "related", "fact_history", "change_fact",
        "supersede", "verify",
    ),
    "branches": (
        "create_branch", "list_branches", "log", "diff", "stats", "move_branch",
        "create_key", "list_keys", "revoke_key",
    ),
    "copies": (
        "create_snapshot", "list_snapshots", "restore_snapshot", "drop_snapshot", "window",
        "create_workspace", "list_workspaces", "diff_workspace", "promote_workspace", "drop_workspace",
    ),
    "capture": (
        "write_observation", "list_observations", "show_observation", "write_relation", "list_relations",
        "close_relation", "graph", "list_sessions", "start_session", "show_session", "session_context",
        "end_session",
    ),
    "talk": (
        "list_conversations", "start_conversation", "show_conversation", "close_conversation",
        "list_messages", "show_message", "write_message",
    ),
    "importing.command": ("import_from",),
    "connecting.command": ("connect",),
    "connecting.doctor": ("doctor",),
    "following": ("events",),
    "files": ("import_file", "export_file"),
    "demo": ("demo",),
    "hook": ("hook",),
    "mcp": ("mcp",),
    "moving": ("migrate_store",),
    "upkeep": ("reindex", "reembed", "backup", "manage"),
}  # fmt: skip
PLACES = {name: f"day1site.cli.{module}" for module, names in MODULES.items() for name in names}


def main(argv: list[str]) -> int:
    """Carry out one command line; returns the exit status."""
    try:
        args = parse(argv)
        check_text(args)
        status = run(args)
        sys.stdout.flush()
        return status
    except SystemExit as end:  # of argparse, which has said why
        return end.code if isinstance(end.code, int) else USAGE
    except UsageError as error:
        return tell(f"day1: error: {error}", USAGE)
    except (CliError, Day1Error) as error:
        return tell(f"{error.code}: {error.text}", FAILED)
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        return close_pipe()
    except OSError as error:
        return tell(f"file_error: {error.filename or 'A file'}: {error.strerror or error}.", FAILED)
    except Exception as error:
        return unexpected(error)


def check_text(args: argparse.Namespace) -> None:
    """Words that are no UTF-8 reach Python as halves of surrogate pairs; only a file may be named so."""
    for name, value in vars(args).items():
        words = value if isinstance(value, list) else [value]
        if name not in ("file", "output", "path") and not all(is_text(word) for word in words):
            raise UsageError(f"{name.removeprefix('filter_')} is not UTF-8.")


def is_text(word: object) -> bool:
    return not isinstance(word, str) or not any("\ud800" <= letter <= "\udfff" for letter in word)


def run(args: argparse.Namespace) -> int:
    command = getattr(importlib.import_module(PLACES[args.run]), args.run)
    return command(args) or OK


def tell(text: str, status: int) -> int:
    print(clean(" ".join(text.split())), file=sys.stderr)
    return status


def close_pipe() -> int:
    """Whoever read the output has gone: write the rest nowhere, or Python complains at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return PIPE_CLOSED


def is_of_database(error: Exception) -> bool:
    """Without Django, which may not be there: a command on a server does not start it."""
    return isinstance(error.__cause__, sqlite3.Error) or type(error).__module__ == "django.db.utils"


def unexpected(error: Exception) -> int:
    """The database's trouble, or a defect: one line, and the rest for who asks (DAY1_LOG_LEVEL=DEBUG)."""
    logging.getLogger(__name__).debug("The command failed", exc_info=error)
    if is_of_database(error):
        return tell(f"store_error: The store cannot be used: {error}.", FAILED)
    return tell(f"error: Something went wrong: {type(error).__name__}: {error}", FAILED)
