"""The WSGI application, for gunicorn and for the bridge in asgi.py."""

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "day1site.settings.dev")
application = get_wsgi_application()
