"""``day1 hook``: hand an event to the hook client, or print how a program calls it."""

import os
import shlex
import sys
from argparse import Namespace
from pathlib import Path

from day1site.cli.output import Output
from day1site.hooks.client import hook as client
from day1site.settings.paths import data_dir


def hook(args: Namespace) -> None:
    words = ["--client", args.client, "--config", str(args.config or default_config())]
    if not args.print_command:
        client.main(words)
        return
    line = [interpreter(), "-I", "-S", str(Path(client.__file__).resolve()), *words]
    out = Output(args.format)
    out.show({"command": line}, lambda: out.line(shlex.join(line)))


def default_config() -> Path:
    """The client's own, else the first key of the local store, where there is one."""
    own, first = Path(client.default_config()), data_dir() / "first-key.json"
    return first if first.exists() and not own.exists() else own


def interpreter() -> str:
    """The Python that this environment was made with: it outlives the environment."""
    base = str(getattr(sys, "_base_executable", "") or sys.executable)
    return base if os.path.exists(base) else sys.executable
