"""Python as on a system that has no fcntl, resource, fork and /proc: before anything else is loaded.

``PYTHONPATH=tests/hidden`` runs any command so, and every Python that it starts. Locks are those of Windows
then, on a stand-in for its ``msvcrt``.
"""

import builtins
import getpass  # noqa: F401  # these two ask for msvcrt to know whether they are on Windows
import os
import subprocess  # noqa: F401
import sys
import types
from fcntl import LOCK_EX, LOCK_NB, LOCK_UN, flock
from typing import Any

HIDDEN = ("fcntl", "resource", "pwd", "grp", "termios", "pty", "tty")
FORKING = ("fork", "forkpty", "register_at_fork", "sched_getaffinity", "setsid", "setpgid", "nice")
EXCEPT_FOR = ("billiard", "crontab", "mcp")


def import_module(name: str, scope: Any = None, names: Any = None, fromlist: Any = (), level: int = 0) -> Any:
    """Import as ever, but what is hidden only for those who ask for the system's name, not for the module."""
    importer = str((scope or {}).get("__name__")).partition(".")[0]
    if level == 0 and name in HIDDEN and importer not in EXCEPT_FOR:
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)
    return real_import(name, scope, names, fromlist, level)


def lock_bytes(handle: int, mode: int, count: int) -> None:
    """Lock a file, as a process from which nothing is hidden would: both keep each other out."""
    try:
        flock(handle, LOCK_UN if mode == msvcrt.LK_UNLCK else LOCK_EX | LOCK_NB)
    except BlockingIOError:
        raise PermissionError(13, "Permission denied") from None


def refuse_proc(event: str, args: tuple[object, ...]) -> None:
    if event in ("open", "os.listdir", "os.scandir") and is_proc(args[0]):
        raise FileNotFoundError(2, "No such file or directory", args[0])


def is_proc(path: object) -> bool:
    return isinstance(path, str) and (path == "/proc" or path.startswith("/proc/"))


def stat(path: object, **options: object) -> object:
    if is_proc(os.fspath(path) if isinstance(path, os.PathLike) else path):
        raise FileNotFoundError(2, "No such file or directory", path)
    return real_stat(path, **options)


here = os.path.dirname(os.path.abspath(__file__))
others = [
    one for one in os.environ.get("PYTHONPATH", "").split(os.pathsep) if one and os.path.abspath(one) != here
]
os.environ["PYTHONPATH"] = os.pathsep.join([here, *others])  # from whatever folder another Python is started
msvcrt = types.ModuleType("msvcrt")
msvcrt.LK_UNLCK, msvcrt.LK_LOCK, msvcrt.LK_NBLCK, msvcrt.locking = 0, 1, 2, lock_bytes
sys.modules["msvcrt"] = msvcrt
real_import, builtins.__import__ = builtins.__import__, import_module
for name in FORKING:
    delattr(os, name)
real_stat, os.stat = os.stat, stat
sys.addaudithook(refuse_proc)
