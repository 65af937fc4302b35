"""Paths of the data directory, and settings that are read from it before Django starts."""

import os
import re
import secrets
import shlex
import tempfile
from contextlib import suppress
from pathlib import Path
from urllib.parse import SplitResult, unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured

from memory.file_locks import replace_file
from memory.processes import IS_WINDOWS

ROOT = Path(__file__).resolve().parent.parent.parent
IS_CHECKOUT = (ROOT / "manage.py").is_file()
# A wheel carries templates, styles and translations inside the package day1site.
ASSETS = ROOT if IS_CHECKOUT else ROOT / "day1site"
STORE_FILE = "day1.sqlite3"  # in a data directory
NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")  # of a database

SQLITE_OPTIONS = {
    # IMMEDIATE: a transaction that reads before it writes cannot fail with "locked" halfway.
    "transaction_mode": "IMMEDIATE",
    "timeout": 20,
    "init_command": (
        "PRAGMA journal_mode=WAL;"
        # FULL: an acknowledged write survives a power cut.
        "PRAGMA synchronous=FULL;"
        # Shrinks a write-ahead log that has grown once it restarts.
        "PRAGMA journal_size_limit=8388608;"
        "PRAGMA secure_delete=FAST;"
        "PRAGMA temp_store=MEMORY;"
        # No memory map and a small cache per connection: the kernel's cache serves all threads.
        "PRAGMA cache_size=-4000;"
    ),
}


def data_dir() -> Path:
    """Return the folder of the database, the secret key and the first API key."""
    return Path(os.environ.get("DAY1_DATA_DIR") or default_data_dir()).resolve()


def default_data_dir() -> Path:
    """Return ``data`` beside manage.py, or the user's data folder when Day1 was installed from a wheel."""
    if IS_CHECKOUT:
        return ROOT / "data"
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "day1"


def command_prefix() -> str:
    """Return how a user of this installation starts the command line."""
    python = "python" if IS_WINDOWS else "python3"
    return f"{python} manage.py day1" if IS_CHECKOUT else "day1"


def command_options(folder: Path) -> str:
    """Return what a command adds to work on this data folder; "" for the default one."""
    return "" if folder == default_data_dir() else f" --data-dir {shlex.quote(str(folder))}"


def secret_key(folder: Path) -> str:
    """Return the secret key of this installation, created on first use and readable by its owner only."""
    path = folder / "secret_key"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not path.exists():
            write_private(path, secrets.token_urlsafe(50), replace=False)
        return path.read_text(encoding="utf-8")
    except OSError as error:
        reason = "it is a file" if isinstance(error, FileExistsError) else error.strerror
        raise ImproperlyConfigured(f"The data directory {folder} cannot be written: {reason}.") from None


def write_private(path: Path, text: str, replace: bool = True) -> None:
    """Write a file atomically, readable by its owner only.

    With ``replace=False`` the first writer wins.
    """
    handle, draft = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")  # mode 0600
    try:
        with open(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        if replace:
            replace_file(draft, path)
        else:
            with suppress(FileExistsError):
                os.link(draft, path)
    finally:
        Path(draft).unlink(missing_ok=True)


def database(url: str | None, folder: Path) -> dict:
    """Return DATABASES["default"] for DATABASE_URL; without one, SQLite in the data directory."""
    if not url:
        return _sqlite(folder / STORE_FILE)
    try:
        parts = urlsplit(url)
    except ValueError:
        raise ImproperlyConfigured("DATABASE_URL names no host: a bracket in it is not closed.") from None
    if parts.scheme == "sqlite":
        if len(parts.path) < 2:
            raise ImproperlyConfigured("DATABASE_URL names no file: write sqlite:////folder/file.sqlite3.")
        return _sqlite(in_a_folder(Path(unquote(parts.path[1:]))))
    if parts.scheme == "matrixone":
        return _matrixone(parts)
    raise ImproperlyConfigured(
        f"DATABASE_URL names the scheme {parts.scheme!r}; Day1 knows sqlite and matrixone. Where it is"
        " another program's, unset it for Day1."
    )


def in_a_folder(path: Path) -> Path:
    """Check that the path's folder exists: SQLite would only say that it cannot open the file."""
    if not path.parent.is_dir():
        raise ImproperlyConfigured(f"DATABASE_URL names a file in {path.parent}, which is no folder.")
    return path


def _sqlite(path: Path) -> dict:
    return {
        "ENGINE": "memory.db.sqlite",
        "NAME": str(path),
        "CONN_MAX_AGE": None,
        "ATOMIC_REQUESTS": False,
        "OPTIONS": dict(SQLITE_OPTIONS),
    }


def _matrixone(parts: SplitResult) -> dict:
    """Parse matrixone://user:password@host:6001/name; other than letters and digits is written %xx."""
    name = unquote(parts.path[1:])
    if not parts.hostname or not NAME.fullmatch(name):
        raise ImproperlyConfigured(
            "DATABASE_URL must be matrixone://user:password@host:6001/name, and the name of the database "
            "have 1 to 64 letters, digits, - and _."
        )
    return {
        "ENGINE": "memory.db.matrixone",
        "NAME": name,
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": parts.hostname,
        "PORT": str(_port(parts)),
        # Connections are kept, and checked before reuse: the server may have restarted.
        "CONN_MAX_AGE": None,
        "CONN_HEALTH_CHECKS": True,
        "ATOMIC_REQUESTS": False,
        "OPTIONS": {"connect_timeout": 10},
    }


def _port(parts: SplitResult) -> int:
    try:
        return parts.port or 6001
    except ValueError:
        raise ImproperlyConfigured("DATABASE_URL names a port that is no number up to 65535.") from None
