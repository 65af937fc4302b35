"""For a server that others reach: secrets from the environment, secure cookies."""

from day1site.settings.base import *  # noqa: F403
from day1site.settings.base import ROOT, env

SECRET_KEY = env.str("DAY1_SECRET_KEY")
DEBUG = False
ALLOWED_HOSTS = env.names("DAY1_ALLOWED_HOSTS")
CSRF_TRUSTED_ORIGINS = env.names("DAY1_TRUSTED_ORIGINS")
SESSION_COOKIE_SECURE = True
CSRF_COOKIE_SECURE = True
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")

STATIC_ROOT = env.str("DAY1_STATIC_ROOT", str(ROOT / "staticfiles"))  # filled by `manage.py collectstatic`
WHITENOISE_USE_FINDERS = False
