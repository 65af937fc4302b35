"""The tasks: registered under the names that engines and beat send, harmless when run twice."""

from datetime import timedelta
from uuid import uuid4

import pytest
from django.utils import timezone
from django_celery_beat.models import IntervalSchedule, PeriodicTask

from day1site.celery import SCHEDULE, app, start_beat
from memory import tasks
from memory.engines.audit import broken_at, record
from memory.engines.embedding import EmbeddingEngine
from memory.engines.near import NearDuplicateEngine
from memory.models import AuditEntry, Branch, IdempotencyRecord, QueueMessage
from memory.queue import NAMES
from tests.memory.test_queue import until


def registered() -> set[str]:
    app.loader.import_default_modules()
    return {name for name in app.tasks if not name.startswith(("celery.", "tests."))}


def test_engines_send_only_tasks_that_exist():
    assert registered() >= NAMES


def test_beat_sends_only_tasks_that_exist():
    assert registered() >= {name for name, _, _ in SCHEDULE}


def test_every_task_is_sent_by_somebody():
    assert registered() == NAMES | {name for name, _, _ in SCHEDULE}


def test_embed_goes_on_while_there_is_more(db, monkeypatch):
    project, asked = uuid4(), []

    def embed_pending(self: object, project_id: object, limit: int) -> int:
        asked.append((project_id, limit))
        return limit if len(asked) == 1 else 3

    monkeypatch.setattr(EmbeddingEngine, "embed_pending", embed_pending)
    tasks.embed(str(project))
    assert QueueMessage.objects.get().key == f'memory.embed["{project}"]'
    QueueMessage.objects.all().delete()
    tasks.embed(str(project))
    assert not QueueMessage.objects.exists()
    assert asked == [(project, tasks.BATCH)] * 2


def test_sweeps_ask_their_engines(monkeypatch):
    asked = []
    monkeypatch.setattr(EmbeddingEngine, "sweep", lambda self: asked.append("embeddings"))
    monkeypatch.setattr(NearDuplicateEngine, "sweep", lambda self: asked.append("near"))
    tasks.sweep_embeddings()
    tasks.sweep_near()
    assert asked == ["embeddings", "near"]


def test_near_checks_one_project(db, monkeypatch):
    project, asked = uuid4(), []
    monkeypatch.setattr(NearDuplicateEngine, "check_pending", lambda self, pk, limit: asked.append(pk) or 0)
    tasks.near(str(project))
    assert asked == [project]


def test_a_branch_from_a_past_point_is_indexed_once(main, monkeypatch):
    asked = []
    monkeypatch.setattr("memory.engines.branches.hold_past", asked.append)
    tasks.hold_past(main.pk)
    tasks.hold_past(-1)
    assert asked == []
    Branch.objects.filter(pk=main.pk).update(indexed=False)
    tasks.hold_past(main.pk)
    tasks.sweep_branches()
    assert asked == [main, main]


@pytest.mark.django_db(transaction=True)
def test_the_audit_of_every_project_is_sealed(project, other_project, actor):
    for number in range(3):
        record(actor, "test", str(number))
    tasks.seal_audit()
    tasks.seal_audit()
    assert list(AuditEntry.objects.order_by("id").values_list("place", flat=True)) == [1, 2, 3]
    assert broken_at(project.pk) is None


def test_old_answers_are_removed_and_young_ones_stay(project):
    now = timezone.now()
    for slot, hours in (("old", 25), ("older", 100), ("young", 23)):
        IdempotencyRecord.objects.create(slot=slot, project=project, request_hash="")
        IdempotencyRecord.objects.filter(slot=slot).update(created_at=now - timedelta(hours=hours))
    tasks.expire()
    assert list(IdempotencyRecord.objects.values_list("slot", flat=True)) == ["young"]


@pytest.mark.django_db(transaction=True)
def test_tidy_can_always_run():
    tasks.tidy()
    tasks.tidy()


@pytest.mark.django_db(transaction=True)
def test_beat_stores_its_defaults_once_and_keeps_what_the_admin_set():
    beat = start_beat()
    assert until(lambda: PeriodicTask.objects.count() == len(SCHEDULE))
    assert beat.stop(2)
    stored = PeriodicTask.objects.get(name="memory.seal_audit")
    assert (stored.task, stored.interval.every, stored.expire_seconds) == ("memory.seal_audit", 60, 60)
    stored.interval = IntervalSchedule.objects.create(every=77, period="minutes")
    stored.enabled = False
    stored.save()

    PeriodicTask.objects.filter(name="memory.tidy").delete()
    beat = start_beat()
    assert until(lambda: PeriodicTask.objects.count() == len(SCHEDULE))
    assert beat.stop(2)
    stored.refresh_from_db()
    assert (stored.interval.every, stored.enabled) == (77, False)


@pytest.mark.django_db(transaction=True)
def test_beat_sends_what_is_due():
    beat = start_beat()
    assert until(lambda: PeriodicTask.objects.count() == len(SCHEDULE))
    assert beat.stop(2)
    hour_ago = timezone.now() - timedelta(hours=2)
    PeriodicTask.objects.update(last_run_at=hour_ago)
    beat = start_beat()
    assert until(lambda: QueueMessage.objects.count() >= len(SCHEDULE))
    assert beat.stop(2)
    assert not beat.alive()
