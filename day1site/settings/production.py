"""Settings for a public server: secrets from the environment, secure cookies."""

from day1site.settings.base import *  # noqa: F403
from day1site.settings.base import SILENCED_SYSTEM_CHECKS, env
from day1site.settings.env import allowed_hosts

SECRET_KEY = env.needed("DAY1_SECRET_KEY")
DEBUG = False
# explicit names only, whatever the listening address
ALLOWED_HOSTS = allowed_hosts("", env.names("DAY1_ALLOWED_HOSTS"))
CSRF_TRUSTED_ORIGINS = env.names("DAY1_TRUSTED_ORIGINS")
SESSION_COOKIE_SECURE = True
CSRF_COOKIE_SECURE = True
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
SECURE_SSL_REDIRECT = env.flag("DAY1_SSL_REDIRECT", True)
# Programs would send their key with a request to be redirected, and a POST would lose its body.
SECURE_REDIRECT_EXEMPT = [r"(?:^|/)api/v1(?:/|$)"]  # below a proxy's path too
SECURE_HSTS_SECONDS = env.whole("DAY1_HSTS_SECONDS", 30 * 24 * 3600, low=0, high=2 * 366 * 24 * 3600)
# W005, W021: other names under the same domain are not Day1's to bind.
SILENCED_SYSTEM_CHECKS = [*SILENCED_SYSTEM_CHECKS, "security.W005", "security.W021"]
TRUSTED_PROXIES = env.whole("DAY1_PROXIES", 1, low=0, high=16)
