"""Old paths of renamed modules that settings and saved schedules may still name.

Standard library alone: settings are read before Django is there.
"""

from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

# Old path, present path.
MODULES = """
conversations.admin.conversations conversations.views.conversations
day1site.account day1site.account_views
day1site.admin_app day1site.admin_config
day1site.api day1site.api_router
day1site.cli.connecting day1site.cli.connect
day1site.cli.connecting.programs day1site.cli.connect.clients
day1site.cli.files day1site.cli.import_export
day1site.cli.following day1site.cli.events
day1site.cli.importing.claude_code conversations.capture.transcripts.claude_code
day1site.cli.importing.codex conversations.capture.transcripts.codex
day1site.cli.importing.parts conversations.capture.transcripts.records
day1site.cli.importing.storing day1site.cli.importing.writer
day1site.cli.importing.transcript conversations.capture.transcripts.records
day1site.cli.importing.turns day1site.cli.importing.import_lock
day1site.cli.lines day1site.cli.fact_jsonl
day1site.cli.moving day1site.cli.migrate_store
day1site.cli.points day1site.cli.time_points
day1site.cli.remote_import day1site.cli.http_import
day1site.cli.store day1site.cli.local_store
day1site.cli.talk day1site.cli.conversations
day1site.cli.upkeep day1site.cli.maintenance
day1site.demo.loading day1site.demo.loader
day1site.demo.story day1site.demo.script
day1site.demo.talks day1site.demo.conversations
day1site.demo.teller day1site.demo.player
day1site.desk day1site.admin_site
day1site.entrance day1site.server.asgi_auth
day1site.first_start day1site.server.provisioning
day1site.hooks.api conversations.api.ingest
day1site.hooks.events conversations.capture.events
day1site.hooks.ingest conversations.capture.engine
day1site.hooks.rows conversations.capture.rows
day1site.hooks.texts conversations.capture.text_cleaning
day1site.mcp.calls day1site.mcp.call_context
day1site.mcp.running day1site.mcp.dispatch
day1site.mcp.shapes day1site.mcp.schemas
day1site.mcp.tools.copies day1site.mcp.tools.snapshots
day1site.mcp.tools.searching day1site.mcp.tools.search
day1site.settings.desk day1site.settings.unfold
day1site.views day1site.error_views
memory.admin.acts memory.views.fact_actions
memory.admin.branches memory.views.branches
memory.admin.capture memory.views.capture
memory.admin.fact memory.views.fact_detail
memory.admin.facts memory.views.fact_list
memory.admin.forms memory.views.widgets
memory.admin.keys memory.views.keys
memory.admin.listing memory.views.list_base
memory.admin.people memory.views.members
memory.admin.reports memory.views.action_report
memory.admin.review curation.views.review
memory.admin.sections memory.views.navigation
memory.answers.problems.handle memory.answers.problems.handle_error
memory.api.review curation.api.review
memory.api.schema.complete memory.api.schema.complete_schema
memory.broker memory.queue.broker
memory.db.aliases memory.db.temporary_database
memory.db.bulk memory.db.bulk_sql
memory.db.copies memory.db.store_copies
memory.db.files memory.db.atomic_files
memory.db.later memory.db.deferred
memory.db.matrixone.index memory.db.matrixone.search_index
memory.db.matrixone.patterns memory.db.matrixone.boolean_patterns
memory.db.matrixone.plain memory.db.matrixone.match_filters
memory.db.matrixone.sql memory.db.matrixone.vector_sql
memory.db.reading memory.db.raw_select
memory.db.rerun memory.db.retry
memory.db.sqlite.backup memory.db.sqlite.online_backup
memory.db.sqlite.closed memory.db.sqlite.closed_versions
memory.db.sqlite.columns memory.db.sqlite.growable_arrays
memory.db.sqlite.index memory.db.sqlite.search_index
memory.db.sqlite.loading memory.db.sqlite.vector_loader
memory.db.sqlite.locks memory.db.sqlite.write_lock
memory.db.sqlite.resident memory.db.sqlite.vector_cache
memory.db.sqlite.scanning memory.db.sqlite.vector_scan
memory.db.tables memory.db.model_graph
memory.db.tokens memory.db.index_tokens
memory.db.words memory.db.segmentation
memory.engines.actions memory.engines.facts.bulk_actions
memory.engines.belief memory.engines.facts.assessment
memory.engines.branch_diff memory.engines.branches.diff
memory.engines.branch_stats memory.engines.branches.stats
memory.engines.buffers memory.engines.support.write_buffer
memory.engines.candidates memory.engines.search.candidates
memory.engines.cleaning memory.engines.support.validation
memory.engines.commits memory.engines.versions.commits
memory.engines.comparing memory.engines.facts.field_diff
memory.engines.consolidation.rules conversations.engines.consolidation.rules
memory.engines.embedding_run memory.engines.embedding.worker
memory.engines.entities memory.engines.graph.entities
memory.engines.events memory.engines.activity.events
memory.engines.evidence memory.engines.facts.evidence
memory.engines.explain memory.engines.search.explain
memory.engines.fact_batch memory.engines.facts.batch
memory.engines.fact_rows memory.engines.search.fact_rows
memory.engines.fact_rules memory.engines.facts.rules
memory.engines.filters memory.engines.facts.filters
memory.engines.going_back memory.engines.branches.restore
memory.engines.handles memory.engines.access.work_handles
memory.engines.health memory.engines.store.health
memory.engines.held memory.engines.versions.pinned_versions
memory.engines.idempotency memory.engines.support.idempotency
memory.engines.judging memory.engines.facts.verdicts
memory.engines.keys memory.engines.access.keys
memory.engines.late memory.engines.search.late_interaction
memory.engines.links memory.engines.facts.links
memory.engines.members memory.engines.access.members
memory.engines.mending memory.engines.store.recovery
memory.engines.merging.gates.check_verdicts curation.engines.gates.check_verdicts
memory.engines.moving memory.engines.store.migration
memory.engines.near curation.engines.review.near_duplicates
memory.engines.observations memory.engines.sessions.observations
memory.engines.observing memory.engines.sessions.tool_calls
memory.engines.pages memory.engines.support.pagination
memory.engines.projects memory.engines.access.projects
memory.engines.promotion memory.engines.store.promotion
memory.engines.questions memory.engines.search.query
memory.engines.rates memory.engines.support.rate_limits
memory.engines.reach memory.engines.versions.branch_access
memory.engines.recalls memory.engines.facts.recall_log
memory.engines.related memory.engines.search.related
memory.engines.relations memory.engines.graph.engine
memory.engines.replacing memory.engines.facts.supersession
memory.engines.replies memory.engines.search.answer_boost
memory.engines.retention memory.engines.store.retention
memory.engines.reverts memory.engines.branches.revert
memory.engines.review curation.engines.review
memory.engines.review.revision_items memory.engines.sessions.revision_links
memory.engines.scoring memory.engines.search.scoring
memory.engines.session_context memory.engines.sessions.context
memory.engines.session_manager memory.engines.sessions.manager
memory.engines.several memory.engines.facts.facts_across_branches
memory.engines.snapshots memory.engines.store.snapshots
memory.engines.start_context memory.engines.sessions.briefing
memory.engines.strays memory.engines.store.orphan_copies
memory.engines.text_search memory.engines.search.text_search
memory.engines.texts memory.engines.embedding.enqueue
memory.engines.thresholds memory.engines.support.similarity
memory.engines.today memory.engines.activity.contributors
memory.engines.transfer memory.engines.facts.import_export
memory.engines.upkeep memory.engines.store.maintenance
memory.engines.workspaces memory.engines.store.workspaces
memory.models.review curation.models.review
memory.providers.redaction memory.redaction
memory.tasks.near curation.tasks.near
memory.tasks.sweep_near curation.tasks.sweep_near
memory.views.editing memory.views.fact_form
memory.views.fact memory.views.fact_detail
memory.views.facts memory.views.fact_list
memory.views.filtering memory.views.filter_form
memory.views.forms memory.views.widgets
memory.views.palette memory.views.command_palette
memory.views.place memory.views.location_switch
memory.views.reader memory.views.view_context
memory.views.review curation.views.review
memory.views.sentences memory.views.error_text
memory.views.toasts memory.views.flash
memory.views.wording memory.views.labels
"""
RENAMED = {
    "conversations.engines.consolidation.SessionConsolidation": (
        "conversations.engines.consolidation.session.SessionConsolidation"
    ),
    **dict(line.split() for line in MODULES.split("\n") if line),
}


def current_path(path: str) -> str:
    """Return the present name of a renamed module, class or function; "" when it was not renamed."""
    end = len(path)
    while end > 0:  # the longest known beginning counts: a module may have left a package that was renamed
        if new := RENAMED.get(path[:end]):
            return new + path[end:]
        end = max(path.rfind(".", 0, end), path.rfind(":", 0, end))
    return ""


class RenamedModules(MetaPathFinder):
    """The last finder of modules: reports the present name of a renamed module, and finds nothing."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Raise ModuleNotFoundError when a module of this name was renamed."""
        if new := current_path(fullname):
            raise ModuleNotFoundError(f"{fullname} is now {new}", name=fullname)
        return None
