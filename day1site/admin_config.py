"""Django's admin application, with Day1's own site as the default for every admin class."""

from typing import Any

from django.contrib.admin import autodiscover
from django.contrib.admin.apps import SimpleAdminConfig
from django.contrib.admin.checks import check_admin_app, check_dependencies
from django.core.checks import CheckMessage, Tags, register


class Day1AdminConfig(SimpleAdminConfig):
    """The application without a search for admin classes at each start: the routes load them.

    A process that serves no page, such as a worker or a command, needs half the time to start.
    """

    default = False
    default_site = "day1site.admin_site.Day1AdminSite"

    def ready(self) -> None:
        register(check_dependencies, Tags.admin)
        register(check_classes, Tags.admin)


def check_classes(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    """Load all admin classes, and check them."""
    autodiscover()
    return list(check_admin_app(app_configs, **kwargs))
