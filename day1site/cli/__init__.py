"""The command line ``day1``: one set of commands over the local store or a server's REST API."""

import sys


def main(argv: list[str] | None = None) -> int:
    """Carry out one command line (without the program's name); returns the exit status."""
    from day1site.cli.command_line import main as run

    return run(sys.argv[1:] if argv is None else argv)
