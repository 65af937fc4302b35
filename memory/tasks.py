"""Work in the background: thin, by id, may run twice. What is left undone, a sweep finds."""

from uuid import UUID

from celery import shared_task
from django.core.exceptions import ImproperlyConfigured
from django.core.management import call_command
from django.db import connection

BATCH = 500


@shared_task(name="memory.embed")
def embed(project_id: str, model: str | None = None) -> None:
    """Embed what waits in a project. ``model`` is for the eye: only the model in force is ever used."""
    from memory.engines.embedding import EmbeddingEngine
    from memory.queue import enqueue

    engine = EmbeddingEngine()
    if engine.embed_pending(UUID(project_id), BATCH) and engine.backlog(UUID(project_id))["pending"]:
        enqueue("memory.embed", project_id)  # the rest in its turn, so that others get theirs


@shared_task(name="memory.sweep_embeddings")
def sweep_embeddings() -> None:
    from memory.engines.embedding import EmbeddingEngine

    EmbeddingEngine().sweep()


@shared_task(name="memory.catch_up")
def catch_up() -> None:
    """Sent when the server starts: the embedder may be another than before, and is to be ready."""
    from memory.engines.embedding import EmbeddingEngine
    from memory.exceptions import ProviderUnavailable
    from memory.models import Project
    from memory.providers.embedding import warm_up
    from memory.queue import enqueue

    try:
        warm_up()
        EmbeddingEngine().load()
        for project_id in Project.objects.values_list("pk", flat=True):
            EmbeddingEngine().want_missing(project_id)
            enqueue("memory.embed", str(project_id))
    except (ProviderUnavailable, ImproperlyConfigured):  # said by the system check at the start
        return


@shared_task(name="memory.near")
def near(project_id: str) -> None:
    from memory.engines.near import NearDuplicateEngine
    from memory.queue import enqueue

    if NearDuplicateEngine().check_pending(UUID(project_id), BATCH) >= BATCH:
        enqueue("memory.near", project_id)


@shared_task(name="memory.sweep_near")
def sweep_near() -> None:
    from memory.engines.near import NearDuplicateEngine

    NearDuplicateEngine().sweep()


@shared_task(name="memory.hold_past")
def hold_past(branch_pk: int) -> None:
    from memory.engines import held
    from memory.models import Branch

    if branch := Branch.objects.live().filter(pk=branch_pk, indexed=False).first():
        held.hold_past(branch)


@shared_task(name="memory.sweep_branches")
def sweep_branches() -> None:
    """Branches from a past point whose message was lost; and what only archived branches hold."""
    from memory.engines.held import release
    from memory.models import Branch

    for pk in Branch.objects.live().filter(indexed=False).values_list("pk", flat=True):
        hold_past(pk)
    for branch in Branch.objects.filter(indexed=True).exclude(archived_at=None):
        release(branch)


@shared_task(name="memory.consolidate")
def consolidate(session_pk: int) -> None:
    from memory.engines.session_manager import SessionManager

    SessionManager().consolidate(session_pk)


@shared_task(name="memory.sweep_sessions")
def sweep_sessions() -> None:
    """Ended sessions whose message was lost."""
    from memory.engines.session_manager import SessionManager

    SessionManager().consolidate_ended()


@shared_task(name="memory.abandon_sessions")
def abandon_sessions() -> None:
    """End what no agent has spoken of for a day."""
    from memory.engines.session_manager import SessionManager

    SessionManager().abandon_orphans()


@shared_task(name="memory.seal_audit")
def seal_audit() -> None:
    """Seal what waits, project by project; one that has nothing new costs no write."""
    from memory.engines.audit import seal
    from memory.models import Project

    for project in Project.objects.all():
        while project.audit.filter(place=None).exists():
            seal(project)


@shared_task(name="memory.expire")
def expire() -> None:
    """Remove what is kept for a time only: answers, handles, ids of events, the log of searches, logins."""
    from memory.engines.retention import RetentionEngine

    engine = RetentionEngine()
    engine.forget_answers()
    engine.forget_handles()
    engine.forget_recalls()
    engine.forget_events()
    call_command("clearsessions")


@shared_task(name="memory.sweep_copies")
def sweep_copies() -> None:
    """Copies of the store that a killed process has left."""
    from memory.engines.strays import drop_strays

    drop_strays()


@shared_task(name="memory.tidy")
def tidy() -> None:
    """Keep the search index and the planner's statistics in shape; see that no audit entry was changed."""
    from memory.engines.audit import check_all

    connection.index.optimize()  # type: ignore[attr-defined]
    check_all()
