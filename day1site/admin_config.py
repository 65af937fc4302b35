"""Django's admin application, with Day1's own site as the one that every admin class registers with."""

from django.contrib.admin.apps import AdminConfig


class DeskConfig(AdminConfig):
    default = False
    default_site = "day1site.desk.Desk"
