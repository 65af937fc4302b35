from django.apps import AppConfig


class ConversationsConfig(AppConfig):
    name = "conversations"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from conversations.engines.finished_work import is_compared, is_consolidated, is_replayed
        from conversations.engines.replays.traces import add_replayed
        from memory.engines.erasure.scopes import add_derived
        from memory.engines.store.check.finished_work import FINISHED

        add_derived(add_replayed)
        FINISHED["conversations.consolidate"] = is_consolidated
        FINISHED["conversations.replay"] = is_replayed
        FINISHED["conversations.compare_replay"] = is_compared
