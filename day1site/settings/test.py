"""For the tests: a database file of their own, no provider unless a test asks for one."""

import os
import tempfile
from pathlib import Path

os.environ.setdefault("DAY1_DATA_DIR", tempfile.mkdtemp(prefix="day1-test-"))

from day1site.settings.base import *  # noqa: F403, E402
from day1site.settings.base import DATA_DIR, DATABASES, env  # noqa: E402
from day1site.settings.paths import database  # noqa: E402

SECRET_KEY = "only-for-tests"
ALLOWED_HOSTS = ["*"]
DATABASES["default"] = database(env.str("DAY1_TEST_DATABASE_URL", ""), Path(DATA_DIR))
# A file, not memory: rival threads and processes must meet as they do in production.
DATABASES["default"]["TEST"] = {"NAME": str(Path(DATA_DIR) / "test.sqlite3")}
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
DAY1 = {"embedder": "off"}
