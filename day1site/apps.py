from django.apps import AppConfig


class SiteConfig(AppConfig):
    name = "day1site"
    verbose_name = "Day1"
