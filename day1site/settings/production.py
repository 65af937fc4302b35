"""For a server that others reach: secrets from the environment, secure cookies."""

from day1site.settings.base import *  # noqa: F403
from day1site.settings.base import env
from day1site.settings.hosts import allowed_hosts

SECRET_KEY = env.needed("DAY1_SECRET_KEY")
DEBUG = False
ALLOWED_HOSTS = allowed_hosts("", env.names("DAY1_ALLOWED_HOSTS"))  # named ones only, wherever it listens
CSRF_TRUSTED_ORIGINS = env.names("DAY1_TRUSTED_ORIGINS")
SESSION_COOKIE_SECURE = True
CSRF_COOKIE_SECURE = True
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
