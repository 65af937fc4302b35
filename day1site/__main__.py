"""``python -P -m day1site`` and the command ``day1`` of an installed wheel."""

import os
import sys


def run_day1(words: list[str]) -> int:
    """Carry out the words of the command line ``day1``; return the exit status."""
    from day1site.cli import run_process

    return run_process(words)


def run_installed() -> None:
    """Run the command line of an installation whose packages pip has already installed."""
    os.environ.setdefault("DAY1_NO_BOOTSTRAP", "1")
    from day1site.bootstrap import run

    run([sys.argv[0], "day1", *sys.argv[1:]], run_day1)


def run_management() -> None:
    """Run a management command, as ``manage.py`` of a checkout does."""
    os.environ.setdefault("DAY1_NO_BOOTSTRAP", "1")
    from day1site.bootstrap import run

    run(sys.argv, run_day1)


if __name__ == "__main__":
    run_management()
