"""Processes, on systems that fork and on those that do not. Standard library only."""

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from typing import Any, NoReturn, cast

CAN_FORK = hasattr(os, "fork")
IS_WINDOWS = os.name == "nt"
# Of Windows: the rights to ask for, and the answer of a process that has not ended.
QUERY_AND_WAIT, STILL_RUNNING = 0x1000 | 0x100000, 0x102


def after_fork(function: Callable[[], object]) -> None:
    """Have a function called in each process that this one forks, where it can fork."""
    if CAN_FORK:
        os.register_at_fork(after_in_child=function)


def is_running(process: int) -> bool:
    """Tell whether a process of this number runs. Raises PermissionError for somebody else's."""
    if IS_WINDOWS:  # there os.kill would end it
        return _is_running_on_windows(process)
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def _is_running_on_windows(process: int) -> bool:
    import ctypes

    kernel = cast(Any, ctypes).windll.kernel32
    handle = kernel.OpenProcess(QUERY_AND_WAIT, False, process)
    if not handle:
        return False
    try:
        return bool(kernel.WaitForSingleObject(handle, 0) == STILL_RUNNING)
    finally:
        kernel.CloseHandle(handle)


def become(words: Sequence[str]) -> NoReturn:
    """Run a program in the place of this one."""
    sys.stdout.flush()
    if IS_WINDOWS:  # there exec ends this process at once, and the shell goes on beside the new one
        sys.exit(run_and_wait(words))
    os.execv(words[0], list(words))


def run_and_wait(words: Sequence[str]) -> int:
    """Run a program to its end, and return its status; Ctrl-C, which it gets as well, is left to it."""
    with subprocess.Popen(words) as process:
        while True:
            try:
                return process.wait()
            except KeyboardInterrupt:
                continue


def count_cores() -> int:
    """Return the number of processor cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
