"""The default: one machine, no set-up, SQLite in the data directory."""

from day1site.settings.base import *  # noqa: F403
from day1site.settings.base import DATA_DIR, env
from day1site.settings.paths import secret_key

SECRET_KEY = env.str("DAY1_SECRET_KEY", "") or secret_key(DATA_DIR)
DEBUG = env.bool("DAY1_DEBUG", False)
ALLOWED_HOSTS = env.list("DAY1_ALLOWED_HOSTS", default=["*"])
