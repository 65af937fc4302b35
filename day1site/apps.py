from django.apps import AppConfig
from django.conf import settings

from day1site.settings.oidc import check_roles


class SiteConfig(AppConfig):
    name = "day1site"
    verbose_name = "Day1"

    def ready(self) -> None:
        if settings.OIDC is not None:
            check_roles(settings.OIDC)
        from day1site import celery  # noqa: F401  every shared task belongs to its app
