from django.apps import AppConfig
from django.db.backends.signals import connection_created


class MemoryConfig(AppConfig):
    name = "memory"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from memory import checks  # noqa: F401  registers the system checks
        from memory.engines.store.release import check_release

        connection_created.connect(check_release)
