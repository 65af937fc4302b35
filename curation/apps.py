from django.apps import AppConfig


class CurationConfig(AppConfig):
    name = "curation"
    default_auto_field = "django.db.models.BigAutoField"
    extensions = {
        "consolidation_levels": {"dreaming": "curation.engines.dreaming.engine.DreamEngine"},
        "finished_work": {
            "curation.verify": "curation.engines.finished_work.is_verified",
            "curation.score": "curation.engines.finished_work.is_scored",
        },
        "kept_branches": {"templates": "curation.engines.templates.rows.find_kept"},
        "kept_facts": {
            "handoff": "curation.engines.kept_facts.find_handed_over",
            "review": "curation.engines.kept_facts.find_questioned",
        },
        "limit_counts": {"bundles": "curation.engines.bundles.uploads.count_kept"},
        "pair_answers": {"review": "curation.engines.review.pair_answers.ReviewAnswers"},
        "untrusted_branches": {"imports": "curation.engines.imports.branches.holds_import"},
        "replay_scores": {"judge": "curation.engines.scoring.replays.ReplayScores"},
        "required_gates": {"reflections": "curation.engines.dreaming.members.check_reflections"},
        "reserved_prefixes": {
            "templates": "curation.engines.templates.rows.PREFIX",
            "dreaming": "curation.engines.dreaming.rules.PREFIX",
        },
        "traced_columns": {"curation": "curation.engines.traced_columns.COLUMNS"},
    }
