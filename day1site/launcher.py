"""The file that starts the command line from any folder. Standard library only."""

import os
import shlex
from pathlib import Path

IS_WINDOWS = os.name == "nt"
PROGRAMS = "Scripts" if IS_WINDOWS else "bin"  # the folder of an environment that holds them
PYTHON, LAUNCHER = ("python.exe", "day1.cmd") if IS_WINDOWS else ("python", "day1")


def render_launcher(python: Path, main: Path, for_windows: bool = IS_WINDOWS) -> str:
    """Return a launcher that runs a file, without checks, and without Django unless needed.

    An empty entry of PYTHONPATH is the current folder, whose files Python would run before ours.
    """
    if not for_windows:
        words = shlex.join([str(python), str(main)])
        return f'#!/bin/sh\nDAY1_NO_BOOTSTRAP=1 PYTHONPATH= exec {words} "$@"\n'
    settings = ("@echo off", "setlocal", "set DAY1_NO_BOOTSTRAP=1", "set PYTHONPATH=")
    return "".join(f"{line}\r\n" for line in (*settings, f'"{python}" "{main}" %*'))
