"""Settings for tests: a database file of their own, and no embedding provider by default."""

import atexit
import os
import shutil
import sys
import tempfile
from pathlib import Path

MEMORY_FOLDER, MIN_FREE_BYTES = "/dev/shm", 4 * 2**30


def keep_files_in_memory() -> None:
    """Put temporary files where no commit waits for a disk, unless TMPDIR says where or memory is short."""
    if "TMPDIR" in os.environ or not os.access(MEMORY_FOLDER, os.W_OK):
        return
    if shutil.disk_usage(MEMORY_FOLDER).free >= MIN_FREE_BYTES:
        os.environ["TMPDIR"] = MEMORY_FOLDER
        tempfile.tempdir = None  # asked before, it remembers another


def test_folder() -> str:
    """Create a folder for this run, shared with child processes and removed by its creator.

    Each pytest-xdist worker has a subfolder of its own.
    """
    folder = os.environ.get("DAY1_TEST_DATA_DIR")
    if not folder:
        folder = tempfile.mkdtemp(prefix="day1-test-")
        atexit.register(remove, folder, os.getpid())
    worker = os.environ.get("PYTEST_XDIST_WORKER")
    if worker and Path(folder).name != worker:
        folder = str(Path(folder) / worker)
        Path(folder).mkdir(exist_ok=True)
    os.environ["DAY1_TEST_DATA_DIR"] = folder
    return folder


def remove(folder: str, maker: int) -> None:
    if os.getpid() == maker:  # not a forked child
        shutil.rmtree(folder, ignore_errors=True)


# Tests start hundreds of processes: where compiled modules are not kept, each compiles all of them again.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

keep_files_in_memory()
# Never the folder of a real installation.
os.environ["DAY1_DATA_DIR"] = test_folder()

from day1site.settings.base import *  # noqa: F403, E402
from day1site.settings.base import DATA_DIR, DATABASES, DAY1, env  # noqa: E402
from day1site.settings.paths import database  # noqa: E402

SECRET_KEY = "only-for-tests"
ALLOWED_HOSTS = ["*"]
DATABASES["default"] = database(env.str("DAY1_TEST_DATABASE_URL", ""), Path(DATA_DIR))
# A file, not memory: concurrent threads and processes must interact as in production.
ON_SQLITE = DATABASES["default"]["ENGINE"] == "memory.db.sqlite"
TEST_NAME = str(Path(DATA_DIR) / "test.sqlite3") if ON_SQLITE else DATABASES["default"]["NAME"]
DATABASES["default"]["TEST"] = {"NAME": TEST_NAME}
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
PARTS = (
    "session_parts",
    "briefing_parts",
    "trace_erasers",
    "commit_maskers",
    "task_hooks",
    "template_suggester",
)
DAY1 = {**{name: DAY1[name] for name in PARTS}, "embedder": "off"}
