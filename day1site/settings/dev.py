"""Default settings: one machine, no set-up, SQLite in the data directory."""

from functools import partial

from django.utils.functional import SimpleLazyObject

from day1site.settings.base import *  # noqa: F403
from day1site.settings.base import DATA_DIR, env
from day1site.settings.env import allowed_hosts
from day1site.settings.paths import secret_key

# Created on first use: a command that only looks for a store leaves no file behind.
SECRET_KEY = env.str("DAY1_SECRET_KEY", "") or SimpleLazyObject(partial(secret_key, DATA_DIR))
DEBUG = env.flag("DAY1_DEBUG", False)

HOST = env.str("DAY1_HOST", "127.0.0.1")  # set by `up --host`
ALLOWED_HOSTS = allowed_hosts(HOST, env.names("DAY1_ALLOWED_HOSTS"))
