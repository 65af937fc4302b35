"""What only some systems have is asked for in one place, text is UTF-8, and tests wait by one bound."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tests import naming
from tests.test_architecture import FILES, ROOT, imported, name, texts

SOME_SYSTEMS = {"fcntl", "resource", "pwd", "grp", "termios", "pty", "tty", "msvcrt", "winreg"}
GUARDED = {
    "memory/file_locks.py: fcntl",
    "day1site/connections.py: resource",  # Windows has no limit to raise
    "day1site/hooks/client/capture.py: fcntl",  # it imports nothing of ours
}
# Attributes of os and signal that Windows lacks, or where they do something else.
NOT_ON_WINDOWS = {
    "os": "fork forkpty register_at_fork sched_getaffinity setsid setpgid getuid geteuid getgid nice kill"
    " killpg execv execve execvp wait waitpid fchmod chown mkfifo O_DIRECTORY O_NOFOLLOW O_CLOEXEC statvfs",
    "signal": "SIGKILL SIGHUP SIGUSR1 SIGUSR2 SIGSTOP SIGCONT SIGCHLD SIGALRM setitimer pthread_sigmask",
}
SEAMS = {
    "memory/processes.py",
    "day1site/server/supervisor.py",  # where there is fork
    "day1site/hooks/client/capture.py",  # these two ask for fork and setitimer first
    "day1site/hooks/client/outages.py",
    "day1site/cli/connect/service/managers.py",  # for each system apart
}
ASKED_FOR = {"day1site/cli/importing/command.py: getuid"}
OWN_BOUND = re.compile(r"\btimeout=[1-9]|\.(wait|join|result|stop|acquire|flush)\([1-9]")
BOUNDED = {"tests/memory/test_concurrency.py"}  # what must not wait for 20 seconds
TEXT_MODES = {"r", "w", "a", "x", "r+", "w+", "a+"}


def files_with(*words: str) -> list[Path]:
    """Return the files whose text has one of the words: to parse all of them takes seconds."""
    pattern = re.compile(rf"\b({'|'.join(words)})")
    return [file for file in FILES if pattern.search(file.read_text("utf-8"))]


def uses(file: Path) -> Iterator[str]:
    """Yield the attributes of os and signal in a file that Windows lacks."""
    for node in naming.walk(file):
        owner = node.value.id if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) else ""
        if isinstance(node, ast.Attribute) and node.attr in NOT_ON_WINDOWS.get(owner, "").split():
            yield node.attr


def lacks_encoding(call: ast.Call) -> bool:
    """Tell whether a call opens a text in whatever encoding the system has."""
    called = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    if any(word.arg in ("encoding", None) for word in call.keywords):
        return False
    if called == "read_text":
        return not call.args
    if called == "write_text":
        return len(call.args) == 1
    owner = getattr(call.func, "value", None)
    if called != "open" or getattr(owner, "id", "") == "os" or getattr(owner, "attr", "") == "objects":
        return False
    words = [*call.args, *(word.value for word in call.keywords if word.arg == "mode")]
    modes = {str(word.value) for word in words if isinstance(word, ast.Constant)}
    is_path = isinstance(call.func, ast.Attribute)
    return bool(modes & TEXT_MODES) or (not modes and len(call.args) == (0 if is_path else 1))


def test_a_module_that_some_systems_lack_is_imported_where_that_is_caught() -> None:
    files = files_with(*SOME_SYSTEMS)
    found = {f"{name(file)}: {word}" for file in files for word in imported(file) if word in SOME_SYSTEMS}
    assert found == GUARDED


def test_what_windows_lacks_is_behind_one_door() -> None:
    files = [file for file in files_with(*NOT_ON_WINDOWS) if name(file) not in SEAMS]
    assert {f"{name(file)}: {word}" for file in files for word in uses(file)} == ASKED_FOR


def test_nothing_reads_proc() -> None:
    files = [file for file in FILES if "/proc" in file.read_text("utf-8")]
    assert [name(file) for file in files if any(text.startswith("/proc") for text in texts(file))] == []


def test_text_is_never_in_the_encoding_of_the_system() -> None:
    found = [
        f"{name(file)}:{node.lineno}"
        for file in [*files_with("read_text", "write_text", "open"), ROOT / "manage.py"]
        for node in naming.walk(file)
        if isinstance(node, ast.Call) and lacks_encoding(node)
    ]
    assert found == []


def test_tests_wait_by_one_bound() -> None:
    """See tests/waiting.py: a machine may be as slow and as busy as it likes."""
    files = (ROOT / "tests").rglob("*.py")
    assert {name(file) for file in files if OWN_BOUND.search(file.read_text("utf-8"))} == BOUNDED
