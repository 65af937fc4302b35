"""Where the data lives, and what is read from there before Django starts."""

import os
import secrets
from pathlib import Path
from urllib.parse import unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured

ROOT = Path(__file__).resolve().parent.parent.parent

SQLITE_OPTIONS = {
    # IMMEDIATE: a transaction that reads before it writes cannot fail half-way with "locked".
    "transaction_mode": "IMMEDIATE",
    "timeout": 20,
    "init_command": (
        "PRAGMA journal_mode=WAL;"
        # FULL: an acknowledged write outlives a power cut.
        "PRAGMA synchronous=FULL;"
        "PRAGMA secure_delete=FAST;"
        "PRAGMA temp_store=MEMORY;"
        "PRAGMA mmap_size=1073741824;"
        "PRAGMA cache_size=-16000;"
    ),
}


def data_dir() -> Path:
    """The folder of the database, the secret key and the first API key."""
    return Path(os.environ.get("DAY1_DATA_DIR") or ROOT / "data").resolve()


def secret_key(folder: Path) -> str:
    """The key of this installation, made on first use and readable by its owner only."""
    path = folder / "secret_key"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with open(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w") as file:
            file.write(secrets.token_urlsafe(50))
    except FileExistsError:
        pass
    except OSError as error:
        raise ImproperlyConfigured(f"The data directory {folder} cannot be written: {error.strerror}.") from None
    return path.read_text()


def database(url: str | None, folder: Path) -> dict:
    """DATABASES["default"] for DATABASE_URL; without one, SQLite in the data directory."""
    if not url:
        return _sqlite(folder / "day1.sqlite3")
    parts = urlsplit(url)
    if parts.scheme == "sqlite":
        return _sqlite(Path(unquote(parts.path[1:])))
    raise ImproperlyConfigured(f"DATABASE_URL names the scheme {parts.scheme!r}; Day1 knows sqlite.")


def _sqlite(path: Path) -> dict:
    return {
        "ENGINE": "memory.db.sqlite",
        "NAME": str(path),
        "CONN_MAX_AGE": None,
        "ATOMIC_REQUESTS": False,
        "OPTIONS": dict(SQLITE_OPTIONS),
    }
