"""The command line ``day1``: one set of commands over the local store or a server's REST API."""

import shlex
import sys
from pathlib import Path

SCRIPT = """#!/bin/sh
# Written by `manage.py up`, which keeps the environment up to date; this only uses it.
DAY1_NO_BOOTSTRAP=1 exec {python} {main} "$@"
"""


def install(venv_bin: Path) -> Path:
    """Write the script ``day1`` into the environment's bin folder, there whole or not at all."""
    root = Path(__file__).resolve().parent.parent.parent
    python = venv_bin.absolute() / "python"
    main = root / "day1site" / "cli" / "__main__.py"
    text = SCRIPT.format(python=shlex.quote(str(python)), main=shlex.quote(str(main)))
    path = venv_bin / "day1"
    if not path.exists() or path.read_text() != text:
        draft = venv_bin / ".day1.new"
        draft.write_text(text)
        draft.chmod(0o755)
        draft.replace(path)
    return path


def main(argv: list[str] | None = None) -> int:
    """Carry out one command line (without the program's name); returns the exit status."""
    from day1site.cli.main import main as run

    return run(sys.argv[1:] if argv is None else argv)
