"""Bootstrap from a bare Python to a running command. Standard library only.

``python3 manage.py …`` creates ``.venv`` from a lock file with hashes, on the first start and whenever the
lock has changed, and re-executes in it. DAY1_NO_BOOTSTRAP=1 skips that, for containers.
"""

import gc
import hashlib
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from importlib.machinery import PathFinder
from itertools import accumulate
from pathlib import Path
from types import ModuleType
from typing import NoReturn

ROOT = Path(__file__).resolve().parent.parent
RUNTIME, DEV = "requirements.lock", "requirements-dev.lock"  # the second includes all of the first
# this includes it too, and adds the driver, which is built from source
MATRIXONE = "requirements-matrixone.lock"
DRIVER = "mysqlclient"
FOREIGN_SETTINGS = (
    "DJANGO_SETTINGS_MODULE must be the name of a module of Day1's settings or of one that imports them, not"
    " {module!r}; where it is another program's, unset it for Day1."
)
MULTILINGUAL = "requirements-multilingual.lock"  # includes it, and adds the embedder of that name


class StartupError(Exception):
    """Error that ends the start; its text is the one sentence for the user."""

    status = 1


class WrongSetting(StartupError):
    """Invalid value of an environment variable."""

    status = 2


def run(argv: list[str], run_day1: Callable[[list[str]], int]) -> None:
    """Run a command line in the right environment. Exits 1 with one sentence where that fails.

    ``run_day1`` carries out the words after ``day1``; it imports what it needs only then.
    """
    drop_current_folder()
    try:
        launcher().print_every_letter()
        argv = take_early_options(argv)
        if os.environ.get("DAY1_NO_BOOTSTRAP") != "1":
            reexec_in_venv(argv)
        execute(argv, run_day1)
    except StartupError as refusal:
        refuse(refusal)
    except KeyboardInterrupt:
        sys.exit("Interrupted.")


def launcher() -> ModuleType:
    """Return the module that knows this system; it is imported once the current folder is off the path."""
    return importlib.import_module("day1site.launcher")


def drop_current_folder() -> None:
    """Take the folder in which the command was called off Python's path, unless it is this program's own.

    ``python -m`` puts it there, and so does an empty entry in PYTHONPATH: the files of any folder in which
    somebody works would be run.
    """
    own = {os.path.realpath(path) for path in (str(ROOT), *sysconfig.get_paths().values())}
    if (folder := os.path.realpath(os.curdir)) not in own:
        sys.path[:] = [path for path in sys.path if os.path.realpath(path or os.curdir) != folder]


def refuse(refusal: StartupError) -> NoReturn:
    print(refusal, file=sys.stderr)
    sys.exit(refusal.status)


def take_early_options(argv: list[str]) -> list[str]:
    """Move options that the settings need into the environment; return the other arguments."""
    if is_test(argv):
        return argv  # these are pytest's
    if "up" in argv[1:3] and (host := option(argv, "--host")):
        os.environ["DAY1_HOST"] = host
    if "up" in argv[1:3] and (log := option(argv, "--log")):
        try:
            launcher().send_output_to(log)
        except OSError as error:
            raise StartupError(f"The log {log} cannot be written: {error.strerror}.") from None
    if "up" in argv[1:3] and (quota := option(argv, "--quota")):
        os.environ["DAY1_QUOTA"] = quota
    if folder := option(argv, "--data-dir"):
        os.environ["DAY1_DATA_DIR"] = os.path.abspath(folder)
        return without(argv, "--data-dir")
    return argv


def option(argv: list[str], name: str) -> str:
    """Return the value of an option, written ``--name value`` or ``--name=value``; "" without one."""
    for index, word in enumerate(argv):
        if word == name and index + 1 < len(argv):
            return argv[index + 1]
        if word.startswith(name + "="):
            return word.partition("=")[2]
    return ""


def without(argv: list[str], name: str) -> list[str]:
    if name in argv:
        index = argv.index(name)
        return argv[:index] + argv[index + 2 :]
    return [word for word in argv if not word.startswith(name + "=")]


def is_test(argv: list[str]) -> bool:
    return argv[1:2] == ["test"] or argv[1:3] == ["day1", "test"]


def reexec_in_venv(argv: list[str]) -> None:
    """Re-execute in .venv, after creating or updating it."""
    environment = Environment(ROOT)
    try:
        for lock in locks_for(argv):
            environment.ensure(lock)
    except OSError as error:
        raise StartupError(f"{environment.folder} cannot be written: {error.strerror}.") from None
    os.environ["DAY1_NO_BOOTSTRAP"] = "1"
    python = str(environment.python)
    # One malloc arena per thread would keep unused memory in each.
    os.environ.setdefault("MALLOC_ARENA_MAX", "2")
    from memory.processes import become

    become([python, str(ROOT / "manage.py"), *argv[1:]])


def locks_for(argv: list[str]) -> list[str]:
    """Return the lock files that a command needs."""
    locks = [DEV if is_test(argv) else RUNTIME]
    variable = "DAY1_TEST_DATABASE_URL" if is_test(argv) else "DATABASE_URL"
    urls = [os.environ.get(variable, ""), option(argv, "--to"), option(argv, "--from")]
    if any(url.startswith("matrixone:") for url in urls):
        locks.append(MATRIXONE)
    if os.environ.get("DAY1_EMBEDDER") == "multilingual" and not is_test(argv):
        locks.append(MULTILINGUAL)
    return locks


def execute(argv: list[str], run_day1: Callable[[list[str]], int]) -> None:
    """Pass the command to Django with the right settings; the day1 command starts what it needs itself."""
    if importlib.util.find_spec("django") is None:
        raise StartupError("Django is not installed here, and DAY1_NO_BOOTSTRAP=1 says not to install it.")
    if argv[1:2] == ["day1"]:
        sys.exit(run_day1(argv[2:]))
    from day1site.loading import leave_out_test_client, pause_gc

    if is_test(argv):
        os.environ["DJANGO_SETTINGS_MODULE"] = "day1site.settings.test"
        # Each plug-in found on the machine costs seconds; the command names those in use.
        os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    else:
        leave_out_test_client()
    with pause_gc():
        read_settings()
        import django
        from django.core.management import execute_from_command_line

        from memory.exceptions import Day1Error

        django.setup()
    try:
        execute_from_command_line(argv)
    except Day1Error as refusal:
        sys.exit(f"{refusal.code}: {refusal.text}")
    finally:
        gc.freeze()  # at its end Python would look for cycles in all of it: a tenth of a short command


def read_settings() -> None:
    """Load the settings. Raises WrongSetting with the message of an invalid one."""
    from django.conf import settings
    from django.core.exceptions import ImproperlyConfigured

    module = os.environ.setdefault("DJANGO_SETTINGS_MODULE", "day1site.settings.dev")
    if not settings.configured and not builds_on_day1(module):
        raise WrongSetting(FOREIGN_SETTINGS.format(module=module))
    try:
        _ = settings.INSTALLED_APPS
    except ImproperlyConfigured as error:
        raise WrongSetting(str(error)) from None


def builds_on_day1(module: str) -> bool:
    """Return whether a module of settings, or a file beside it, names ours; none of its code is run."""
    places, spec = sys.path, None
    for name in accumulate(module.split("."), "{}.{}".format):
        if (spec := PathFinder.find_spec(name, places)) is None:
            return False
        places = list(spec.submodule_search_locations or ())
    files = Path(spec.origin).parent.glob("*.py") if spec and spec.origin else ()
    return any(b"day1site" in file.read_bytes() for file in files)


class Environment:
    """Virtual environment of a checkout, and its installed packages."""

    def __init__(self, root: Path) -> None:
        self.root, self.folder = root, root / ".venv"
        programs, own = self.folder / launcher().PROGRAMS, launcher()
        self.python, self.launcher = programs / own.PYTHON, programs / own.LAUNCHER
        main = root / "day1site" / "cli" / "__main__.py"
        self.launcher_bytes = own.render_launcher(self.python, main).encode()
        self.stamp = self.folder / "day1-installed.json"
        self.unfinished = self.folder / "day1-installing"

    def ensure(self, lock: str) -> None:
        """Install everything in the lock file, unless done. Raises StartupError, OSError."""
        if self.holds(lock):
            return
        with self.alone():
            if not self.holds(lock):
                self.make(lock)

    def holds(self, lock: str) -> bool:
        """Return whether exactly this lock file was installed completely, for the present Python."""
        try:
            installed = json.loads(self.stamp.read_text(encoding="utf-8"))
            launcher = self.launcher.read_bytes()
        except (OSError, ValueError):
            return False
        if launcher != self.launcher_bytes or lock not in installed:
            return False
        return installed[lock] == self.hash_lock(lock) and installed.get("python") == self.base()

    def make(self, lock: str) -> None:
        if lock == MATRIXONE:
            check_building()
        others = self.others(lock)
        self.stamp.unlink(missing_ok=True)
        # A killed installation can leave half a package that looks complete: then start over.
        if self.unfinished.exists() or not self.python.exists():
            self.create()
            others = []
        self.unfinished.touch()
        self.install(lock)
        self.write_launcher()
        self.write_stamp(lock, others)
        self.unfinished.unlink()

    def others(self, lock: str) -> list[str]:
        """Return the other lock files already installed: this one changes nothing of theirs."""
        return [name for name in (RUNTIME, DEV, MATRIXONE) if name != lock and self.holds(name)]

    def create(self) -> None:
        uv = find_uv()
        if not uv:
            check_venv_module()
        say("Making .venv …")
        shutil.rmtree(self.folder, ignore_errors=True)
        if uv:
            command(uv, "venv", "--python", sys.executable, str(self.folder))
        else:
            command(sys.executable, "-I", "-m", "venv", str(self.folder))

    def install(self, lock: str) -> None:
        count = len(re.findall(r"^[\w.-]+==", (self.root / lock).read_text(encoding="utf-8"), re.MULTILINE))
        # The lock names every package; an older pip looks for newer ones of "package[extra]" and gives up.
        options = ["--no-deps", "--require-hashes", "--only-binary", ":all:"]
        options += ["--no-binary", DRIVER] if lock == MATRIXONE else []  # it is published as source only
        options += ["-r", str(self.root / lock)]
        if uv := find_uv():
            say(f"Installing {count} packages with uv …")
            command(uv, "pip", "install", "--python", str(self.python), *options)
            return
        if not has_pip(self.python):  # made by a uv that was removed since
            self.create()
            self.unfinished.touch()
        say(f"Installing {count} packages with pip (this takes a minute or two) …")
        command(str(self.python), "-I", "-m", "pip", "install", "--no-input", *options, count=count)

    def write_launcher(self) -> None:
        """Write ``.venv/bin/day1`` atomically: the command line from any folder, also through a link."""
        draft = self.launcher.with_name(".day1.new")
        draft.write_bytes(self.launcher_bytes)
        draft.chmod(0o755)
        draft.replace(self.launcher)

    def write_stamp(self, lock: str, others: Iterable[str] = ()) -> None:
        names = dict.fromkeys([RUNTIME, lock, *others])
        installed = {"python": self.base(), **{name: self.hash_lock(name) for name in names}}
        draft = self.stamp.with_suffix(".new")
        draft.write_text(json.dumps(installed), encoding="utf-8")
        draft.replace(self.stamp)

    def hash_lock(self, lock: str) -> str:
        return hashlib.sha256((self.root / lock).read_bytes()).hexdigest()

    def base(self) -> str:
        """Return the path of the base Python; after a system upgrade it has none of the packages."""
        return os.path.realpath(self.python)

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Lock the installation: one start installs, the others wait for it."""
        from memory.file_locks import try_lock, wait_for_lock

        with open(self.folder.with_name(f"{self.folder.name}.lock"), "ab") as file:
            if not try_lock(file.fileno()):
                say("Another start is installing; waiting for it …")
                wait_for_lock(file.fileno())
            yield


def check_venv_module() -> None:
    """Check for the venv module, which Debian's Python lacks. Raises StartupError."""
    try:
        import ensurepip  # noqa: F401
        import venv  # noqa: F401
    except ImportError:
        raise StartupError(
            "This Python cannot make virtual environments: install the module venv"
            " (on Debian and Ubuntu: apt-get install python3-venv) and run it again."
        ) from None


def check_building() -> None:
    """Check that MatrixOne's driver can be built. Raises StartupError with all that is missing."""
    requested = {
        "pkg-config": shutil.which("pkg-config"),
        "libmariadb-dev": knows_library("libmariadb") or knows_library("mysqlclient"),
        "build-essential": shutil.which("cc") or shutil.which("gcc"),
        "python3-dev": os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")),
    }
    if missing := [name for name, installed in requested.items() if not installed]:
        raise StartupError(
            "The driver for MatrixOne is built on this machine, which lacks packages for that: run"
            f" apt-get install {' '.join(missing)} (Debian and Ubuntu; elsewhere the like), then this again."
        )


def knows_library(name: str) -> bool:
    """Return whether pkg-config finds a library with its headers; True without pkg-config."""
    if not (requested := shutil.which("pkg-config")):
        return True
    return subprocess.run([requested, "--exists", name]).returncode == 0


def find_uv() -> str:
    """Return the path of a working uv, or ""."""
    found = shutil.which("uv") or ""
    works = found and subprocess.run([found, "--version"], capture_output=True).returncode == 0
    return found if works else ""


def has_pip(python: Path) -> bool:
    return subprocess.run([str(python), "-I", "-m", "pip", "--version"], capture_output=True).returncode == 0


def command(*words: str, count: int = 0) -> None:
    """Run an installer quietly. Raises StartupError after printing its last lines.

    It runs in the checkout: uv reads settings of the current folder, which may be anybody's.
    """
    pipe, both = subprocess.PIPE, subprocess.STDOUT
    with subprocess.Popen(words, cwd=ROOT, stdout=pipe, stderr=both, text=True, errors="replace") as process:
        last = print_progress(process.stdout or (), count)
    if process.returncode:
        for line in last:
            say("  " + line)
        raise StartupError(
            f"The installation stopped with status {process.returncode} at `{' '.join(words)}`:"
            " check the network, then run manage.py again."
        )


def print_progress(lines: Iterable[str], count: int) -> list[str]:
    """Print pip's progress; return its last lines."""
    last, done = deque[str](maxlen=3), 0
    for line in lines:
        last.append(line.rstrip())
        if count and line.startswith("Collecting "):
            done += 1
            if done % 10 == 0:
                say(f"  {done} of {count}")
        elif count and line.startswith("Installing collected"):
            say("  unpacking them …")
    return list(last)


def say(text: str) -> None:
    print(text, flush=True)
