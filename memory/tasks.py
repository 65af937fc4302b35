"""Background tasks: thin, called by id, safe to run twice. A periodic sweep finds lost work."""

import logging
from uuid import UUID

from celery import shared_task
from django.core.exceptions import ImproperlyConfigured
from django.core.management import call_command

from memory.db.backend import get_index

logger = logging.getLogger(__name__)

BATCH_SIZE = 128  # texts of one task; what waits behind it, such as what was said, comes soon


@shared_task(name="memory.embed")
def embed(project_id: str, model: str | None = None) -> None:
    """Embed pending texts of a project. ``model`` is informative only: the model in force is always used."""
    from memory.engines.embedding.engine import EmbeddingEngine
    from memory.queue.producer import enqueue

    engine = EmbeddingEngine()
    if (
        engine.embed_pending(UUID(project_id), BATCH_SIZE)
        and engine.count_backlog(UUID(project_id))["pending"]
    ):
        enqueue("memory.embed", project_id)  # the rest is queued again, so that other projects get their turn


@shared_task(name="memory.sweep_embeddings")
def sweep_embeddings() -> None:
    from memory.engines.embedding.engine import EmbeddingEngine

    EmbeddingEngine().embed_due()


@shared_task(name="memory.catch_up")
def catch_up() -> None:
    """Load the embedder at the start of the server, and queue texts that it has no vectors for."""
    from memory.engines.embedding.engine import EmbeddingEngine
    from memory.exceptions import ProviderUnavailable
    from memory.models import Project
    from memory.providers.embedding import warm_up
    from memory.queue.producer import enqueue

    try:
        warm_up()
        EmbeddingEngine().load_vectors()
        for project_id in Project.objects.values_list("pk", flat=True):
            EmbeddingEngine().want_missing(project_id)
            enqueue("memory.embed", str(project_id))
    except (ProviderUnavailable, ImproperlyConfigured):  # the system check at the start reports it
        return


@shared_task(name="memory.run_eval")
def run_eval(run_id: str) -> None:
    """Put the questions of a run that has too many of them to wait for."""
    from memory.engines.evaluation.runs import run_queued

    run_queued(UUID(run_id))


@shared_task(name="memory.sweep_evals")
def sweep_evals() -> None:
    """Queue runs again whose message was lost."""
    from memory.engines.evaluation.runs import queue_lost

    queue_lost()


@shared_task(name="memory.hold_past")
def hold_past(branch_pk: int) -> None:
    from memory.engines.versions import pinned_versions
    from memory.models import Branch

    if branch := Branch.objects.live().filter(pk=branch_pk, indexed=False).first():
        pinned_versions.pin_versions(branch)


@shared_task(name="memory.sweep_branches")
def sweep_branches() -> None:
    """Pin past branches whose message was lost; unpin versions that only archived branches use."""
    from memory.engines.versions.pinned_versions import unpin
    from memory.models import Branch

    for pk in Branch.objects.live().filter(indexed=False).values_list("pk", flat=True):
        hold_past(pk)
    for branch in Branch.objects.filter(indexed=True).exclude(archived_at=None):
        unpin(branch)


@shared_task(name="memory.consolidate")
def consolidate(session_pk: int) -> None:
    from memory.engines.sessions.manager import SessionManager

    SessionManager().consolidate_session(session_pk)


@shared_task(name="memory.learn")
def learn(session_pk: int) -> None:
    """Learn from a session that runs."""
    from memory.engines.sessions.learning import learn_running

    learn_running(session_pk)


@shared_task(name="memory.sweep_sessions")
def sweep_sessions() -> None:
    """Consolidate ended sessions whose message was lost."""
    from memory.engines.sessions.manager import SessionManager

    SessionManager().consolidate_ended()


@shared_task(name="memory.abandon_sessions")
def abandon_sessions() -> None:
    """End sessions without activity for a day."""
    from memory.engines.sessions.manager import SessionManager

    SessionManager().abandon_orphans()


@shared_task(name="memory.seal_audit")
def seal_audit() -> None:
    """Seal new audit entries, project by project; a project without any costs no write."""
    from memory.engines.audit.trail import seal_entries
    from memory.engines.store.check.high_water import keep_mark
    from memory.models import Project

    for project in Project.objects.all():
        while project.audit.filter(place=None).exists():
            seal_entries(project)
    keep_mark()


@shared_task(name="memory.deliver_webhooks")
def deliver_webhooks() -> None:
    """Send what is due to webhooks, in a thread of its own: no worker waits for a receiver."""
    from memory.answers.events import webhook_message
    from memory.engines.access.webhook_deliveries import start_courier

    start_courier(webhook_message)


@shared_task(name="memory.check_store")
def check_store() -> None:
    """Check the whole store, and keep the result for the health; what was found is an error in the log."""
    from memory.engines.store.check.engine import CheckEngine

    for problem in CheckEngine().check_store().problems:
        logger.error("The check of the store found %s: %s", problem.kind.name, "; ".join(problem.examples))


@shared_task(name="memory.expire")
def expire() -> None:
    """Delete expired data: idempotent answers, work handles, event ids, the search log, logins."""
    from memory.engines.store.retention import RetentionEngine

    engine = RetentionEngine()
    engine.forget_answers()
    engine.forget_handles()
    engine.forget_recalls()
    engine.forget_events()
    engine.forget_grants()
    call_command("clearsessions")


@shared_task(name="memory.age_facts")
def age_facts() -> None:
    """Archive what has aged, in the projects that asked for it."""
    from memory.engines.facts.ageing.engine import age_projects

    age_projects()


@shared_task(name="memory.clear_tasks")
def clear_tasks() -> None:
    """Delete the tasks that were set aside and whose work a sweep has done since."""
    from memory.engines.store.check.finished_work import clear_finished

    clear_finished()


@shared_task(name="memory.count_usage")
def count_usage() -> None:
    """Count what projects store, where that was not done for a day, or where they are at their quota."""
    from memory.engines.support.usage import UsageEngine

    UsageEngine().count_due()


@shared_task(name="memory.sweep_copies")
def sweep_copies() -> None:
    """Delete copies of the store that a killed process left."""
    from memory.engines.store.maintenance import delete_orphans

    delete_orphans()


@shared_task(name="memory.backup")
def backup() -> None:
    """Make the nightly backup, where the settings ask for it."""
    from memory.engines.store.backups import BackupEngine

    BackupEngine().rotate_nightly()


@shared_task(name="memory.sweep_erasures")
def sweep_erasures() -> None:
    """Finish erasures that were interrupted or had to wait."""
    from memory.engines.erasure.engine import ErasureEngine

    ErasureEngine().finish_pending()


@shared_task(name="memory.sweep_removals")
def sweep_removals() -> None:
    """Go on with removals of projects; what takes longer is queued again, so that others get their turn."""
    from memory.engines.access.project_removal import finish_removals
    from memory.queue.producer import enqueue

    if finish_removals():
        enqueue("memory.sweep_removals")


@shared_task(name="memory.tidy")
def tidy() -> None:
    """Optimize the search index and the planner's statistics; verify that no audit entry was changed."""
    from memory.engines.audit.trail import check_all
    from memory.engines.store.check.results import note_problem

    get_index().optimize()
    note_problem("audit_changed", len(check_all()))
