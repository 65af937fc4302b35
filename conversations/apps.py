from django.apps import AppConfig


class ConversationsConfig(AppConfig):
    name = "conversations"
    default_auto_field = "django.db.models.BigAutoField"
    extensions = {
        "derived_memories": {"replays": "conversations.engines.replays.traces.add_replayed"},
        "finished_work": {
            "conversations.consolidate": "conversations.engines.finished_work.is_consolidated",
            "conversations.replay": "conversations.engines.finished_work.is_replayed",
            "conversations.compare_replay": "conversations.engines.finished_work.is_compared",
        },
        "project_parts": {
            "instructions": "conversations.engines.project_parts.INSTRUCTIONS",
            "rules_off": "conversations.engines.project_parts.RULES_OFF",
        },
    }
