"""The command line ``day1``: one set of commands and one client, on the local store or on a server."""

import gc
import sys

from day1site.loading import leave_out_test_client

GC_THRESHOLD = 100_000  # objects; Python's own costs a start a tenth of its time for nothing


def main(argv: list[str] | None = None) -> int:
    """Carry out one command line (without the program's name); returns the exit status."""
    from day1site.cli.command_line import main as run

    return run(sys.argv[1:] if argv is None else argv)


def run_process(argv: list[str]) -> int:
    """Carry out the one command line of this process; returns the exit status."""
    gc.set_threshold(GC_THRESHOLD)
    leave_out_test_client()
    status = main(argv)
    gc.freeze()  # at its end Python would look for cycles in all of it: a fifth of a short command
    return status
