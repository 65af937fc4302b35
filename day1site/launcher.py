"""The file that starts the command line from any folder. Standard library only."""

import io
import os
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from memory.processes import IS_WINDOWS

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


def join_command(words: Sequence[str], for_windows: bool = IS_WINDOWS) -> str:
    """Return a command as one line, for whichever shell a program runs it in.

    On Windows that is cmd, PowerShell or a bash, by the program: all read double quotes and slashes alike.
    """
    if not for_windows:
        return shlex.join(words)
    return subprocess.list2cmdline([word.replace("\\", "/") for word in words])


def print_every_letter() -> None:
    """Let output hold every letter: what a stream's encoding lacks is escaped, and on Windows, where a pipe
    has the letters of one country, it is UTF-8.
    """
    for stream in (sys.stdout, sys.stderr):
        if not isinstance(stream, io.TextIOWrapper) or stream.encoding.lower() in ("utf-8", "utf8"):
            continue
        is_chosen = bool(os.environ.get("PYTHONIOENCODING"))
        stream.reconfigure(
            encoding="utf-8" if IS_WINDOWS and not is_chosen else None, errors="backslashreplace"
        )


def send_output_to(file: str) -> None:
    """Append all that this process and those that it starts print to a file, its owner's alone."""
    os.makedirs(os.path.dirname(os.path.abspath(file)), mode=0o700, exist_ok=True)
    handle = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    for own in (1, 2):
        os.dup2(handle, own)
    os.close(handle)
    if sys.stdout is None:  # of a Python of Windows that has no window
        sys.stdout = os.fdopen(1, "w", encoding="utf-8", buffering=1)
        sys.stderr = os.fdopen(2, "w", encoding="utf-8", buffering=1)
