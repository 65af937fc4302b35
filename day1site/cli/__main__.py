"""``.venv/bin/day1``: as ``manage.py day1``, but Django is started only for the local store."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent


def run() -> int:
    # Python put this folder first, where modules of this package would pass for others.
    sys.path[0] = str(ROOT)
    from day1site.bootstrap import StartupError, drop_current_folder, refuse, take_early_options
    from day1site.cli import run_process
    from day1site.launcher import print_every_letter

    drop_current_folder()
    print_every_letter()
    try:
        words = take_early_options(["day1", *sys.argv[1:]])
    except StartupError as refusal:
        refuse(refusal)
    return run_process(words[1:])


if __name__ == "__main__":
    sys.exit(run())
