from django.apps import AppConfig


class ConversationsConfig(AppConfig):
    name = "conversations"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from conversations.engines.replays.traces import add_replayed
        from memory.engines.erasure.scopes import add_derived

        add_derived(add_replayed)
