from django.apps import AppConfig


class CurationConfig(AppConfig):
    name = "curation"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from conversations.engines.consolidation.level_engines import register_level
        from conversations.engines.replays.scores import add_scoring
        from conversations.models import ConsolidationRun
        from curation.engines.dreaming.engine import DreamEngine
        from curation.engines.dreaming.members import check_reflections
        from curation.engines.dreaming.rules import PREFIX as DREAMS
        from curation.engines.finished_work import is_scored, is_verified
        from curation.engines.kept_facts import find_handed_over, find_questioned
        from curation.engines.review.pair_answers import ReviewAnswers
        from curation.engines.scoring.replays import ReplayScores
        from curation.engines.templates.rows import PREFIX, find_kept
        from curation.models import Bundle, Score, Template, Verification
        from memory.engines.branches.branch_states import keep_branches
        from memory.engines.branches.reserved_names import reserve_prefix
        from memory.engines.erasure.traces import add_traces
        from memory.engines.facts.ageing.plan import keep_facts
        from memory.engines.merging.gates import require_gate
        from memory.engines.store.check.finished_work import FINISHED
        from memory.engines.versions.pair_answers import register_pair_answers

        # A judge may repeat a fact in words of its own, a server may quote it in an error.
        add_traces(Score, ("explanation",), about="target_id")
        add_traces(Verification, ("fallback",), about="fact_id")
        register_pair_answers(ReviewAnswers())
        add_traces(Template, ("description", "reason"))
        add_traces(Bundle, ("description",))
        add_scoring(ReplayScores())
        keep_branches(find_kept)
        keep_facts("handoff")(find_handed_over)
        keep_facts("review")(find_questioned)
        reserve_prefix(PREFIX)
        reserve_prefix(DREAMS)
        require_gate("reflections", check_reflections)
        register_level(ConsolidationRun.Level.DREAMING, DreamEngine())
        FINISHED["curation.verify"] = is_verified
        FINISHED["curation.score"] = is_scored
