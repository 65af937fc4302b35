from django.apps import AppConfig


class SiteConfig(AppConfig):
    name = "day1site"
    verbose_name = "Day1"

    def ready(self) -> None:
        from day1site import celery  # noqa: F401  every shared task belongs to its app
