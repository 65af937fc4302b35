"""Django's admin application, with Day1's own site as the default for every admin class."""

from django.contrib.admin.apps import AdminConfig


class Day1AdminConfig(AdminConfig):
    default = False
    default_site = "day1site.admin_site.Day1AdminSite"
