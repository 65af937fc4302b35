"""The tasks: registered under the names that engines and beat send, harmless when run twice."""

import signal
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
import time_machine
from celery import beat
from django.contrib.sessions.models import Session
from django.utils import timezone
from django_celery_beat.models import IntervalSchedule, PeriodicTask, PeriodicTasks

from curation import tasks as curation_tasks
from curation.models import ReviewItem
from day1site.celery import SCHEDULE, app, start_beat
from memory import tasks
from memory.engines.audit.trail import broken_at, record_entry
from memory.engines.branches.manager import BranchManager
from memory.engines.facts.engine import FactEngine
from memory.engines.facts.recall_log import log_recall
from memory.engines.store.health import check_health
from memory.engines.store.retention import RetentionEngine
from memory.engines.support.write_buffer import buffer
from memory.models import (
    AuditEntry,
    Fact,
    IdempotencyRecord,
    IngestedEvent,
    NearCheck,
    Project,
    QueueMessage,
    RecallLog,
    Vector,
)
from memory.models import Session as AgentSession
from memory.queue.broker.scheduler import Scheduler
from memory.queue.producer import NAMES, enqueue, list_set_aside
from tests.waiting import TIMEOUT_SECONDS, wait_until


def registered() -> set[str]:
    app.loader.import_default_modules()
    return {name for name in app.tasks if not name.startswith(("celery.", "tests."))}


def test_engines_send_only_tasks_that_exist():
    assert registered() >= NAMES


def test_beat_sends_only_tasks_that_exist():
    assert registered() >= {name for name, _, _ in SCHEDULE}


def test_every_task_is_sent_by_somebody():
    assert registered() == NAMES | {name for name, _, _ in SCHEDULE}


@pytest.fixture
def waiting(project, main, actor, settings):
    """Write three facts whose texts wait for the real model; drop the queued messages."""
    settings.DAY1 = {"embedder": "minilm"}
    texts = ["The gate code is 4711.", "Pepper likes tuna.", "The gate code is 4711, still."]
    FactEngine().write_facts(facts=[{"fact_text": text} for text in texts], actor=actor)
    QueueMessage.objects.all().delete()
    return project


def ready() -> int:
    return Vector.objects.filter(state="ready").count()


@pytest.mark.django_db(transaction=True)
def test_embed_goes_on_while_there_is_more(waiting, monkeypatch):
    monkeypatch.setattr(tasks, "BATCH_SIZE", 2)
    again = f'memory.embed["{waiting.pk}"]'
    tasks.embed(str(waiting.pk))
    assert (ready(), QueueMessage.objects.filter(key=again).count()) == (2, 1)
    QueueMessage.objects.all().delete()
    tasks.embed(str(waiting.pk))
    assert (ready(), QueueMessage.objects.filter(key=again).count()) == (3, 0)


@pytest.mark.django_db(transaction=True)
def test_sweeps_find_what_lost_messages_left(waiting):
    tasks.sweep_embeddings()
    assert (ready(), NearCheck.objects.count(), ReviewItem.objects.count()) == (3, 3, 0)
    curation_tasks.sweep_near()
    assert (NearCheck.objects.count(), ReviewItem.objects.count()) == (0, 1)


@pytest.mark.django_db(transaction=True)
def test_near_checks_one_project(waiting):
    tasks.embed(str(waiting.pk))
    curation_tasks.near(str(uuid4()))
    assert (NearCheck.objects.count(), ReviewItem.objects.count()) == (3, 0)
    curation_tasks.near(str(waiting.pk))
    assert (NearCheck.objects.count(), ReviewItem.objects.count()) == (0, 1)


@pytest.mark.django_db(transaction=True)
def test_a_branch_from_a_past_point_is_indexed_by_its_task(main, actor):
    fact = FactEngine().write_fact(fact_text="walrus", actor=actor).fact
    FactEngine().delete_fact(fact_id=fact.uid, actor=actor)
    past = BranchManager().create_branch(name="past", at=1, actor=actor)
    assert not past.indexed
    tasks.hold_past(-1)
    tasks.sweep_branches()
    past.refresh_from_db()
    assert past.indexed
    assert [rid for rid, _ in Fact.objects.on(past).match_words(["walrus"], 5)[0]] == [fact.rid]


@pytest.mark.django_db(transaction=True)
def test_the_audit_of_every_project_is_sealed(project, other_project, actor):
    for number in range(3):
        record_entry(actor, "test", str(number))
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


def test_ids_of_old_events_are_removed(project):
    for days in (31, 29, 0):
        at = timezone.now() - timedelta(days=days)
        IngestedEvent.objects.create(pk=str(days), project=project, at=at)
    tasks.expire()
    assert sorted(IngestedEvent.objects.values_list("pk", flat=True)) == ["0", "29"]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(("kept_days", "left"), [(90, [89, 0]), (30, [0]), (0, [200, 91, 89, 0])])
def test_the_log_of_searches_is_kept_for_a_time(actor, kept_days, left, settings):
    settings.DAY1 = {"embedder": "off", "recall_days": kept_days}
    now = timezone.now()
    for age in (200, 91, 89, 0):
        with time_machine.travel(now - timedelta(days=age), tick=False):
            log_recall(actor, ["main"], f"{age} days ago", [])
    buffer.flush()
    tasks.expire()
    assert list(RecallLog.objects.order_by("at").values_list("query", flat=True)) == [
        f"{age} days ago" for age in left
    ]
    assert Project.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_more_than_one_step_of_old_searches_goes_at_once(actor):
    with time_machine.travel(timezone.now() - timedelta(days=100), tick=False):
        for number in range(1001):
            log_recall(actor, ["main"], str(number), [])
        buffer.flush()
    assert RetentionEngine().forget_recalls() == 1001
    assert RetentionEngine().forget_recalls() == 0


@pytest.mark.django_db(transaction=True)
def test_logins_that_are_over_go(client, django_user_model):
    client.force_login(django_user_model.objects.create_user("somebody"))
    tasks.expire()
    assert Session.objects.count() == 1
    Session.objects.update(expire_date=timezone.now() - timedelta(seconds=1))
    tasks.expire()
    assert Session.objects.count() == 0


@pytest.mark.django_db(transaction=True)
def test_tidy_can_always_run():
    tasks.tidy()
    tasks.tidy()


@pytest.mark.django_db(transaction=True)
def test_beat_stores_its_defaults_once_and_keeps_what_the_admin_set():
    beat = start_beat()
    wait_until(lambda: PeriodicTask.objects.count() == len(SCHEDULE))
    assert beat.stop(TIMEOUT_SECONDS)
    stored = PeriodicTask.objects.get(name="memory.seal_audit")
    assert (stored.task, stored.interval.every, stored.expire_seconds) == ("memory.seal_audit", 60, 60)
    nightly = PeriodicTask.objects.get(name="curation.dream")
    assert (nightly.interval, nightly.expire_seconds) == (None, 86_400)
    assert (nightly.crontab.hour, nightly.crontab.minute, str(nightly.crontab.timezone)) == ("2", "40", "UTC")
    stored.interval = IntervalSchedule.objects.create(every=77, period="minutes")
    stored.enabled = False
    stored.save()

    PeriodicTask.objects.filter(name="memory.tidy").delete()
    beat = start_beat()
    wait_until(lambda: PeriodicTask.objects.count() == len(SCHEDULE))
    assert beat.stop(TIMEOUT_SECONDS)
    stored.refresh_from_db()
    assert (stored.interval.every, stored.enabled) == (77, False)


@pytest.mark.django_db(transaction=True)
def test_beat_sends_what_is_due():
    beat = start_beat()
    wait_until(lambda: PeriodicTask.objects.count() == len(SCHEDULE))
    assert beat.stop(TIMEOUT_SECONDS)
    days_ago = timezone.now() - timedelta(days=8)  # some run once a night, and one once a week
    PeriodicTask.objects.update(last_run_at=days_ago)
    beat = start_beat()
    wait_until(lambda: QueueMessage.objects.count() >= len(SCHEDULE))
    assert beat.stop(TIMEOUT_SECONDS)
    assert not beat.alive()


@pytest.mark.django_db(transaction=True)
def test_a_clock_that_is_set_back_stops_no_sweep():
    """Send what is due by the clock as it is now, in a running scheduler and in a new one, and run it."""
    intervals = {name for name, when, _ in SCHEDULE if not isinstance(when, tuple)}

    def list_sent() -> set[str]:
        return {name for name in intervals if QueueMessage.objects.filter(payload__contains=name).exists()}

    with time_machine.travel("2026-11-26 22:00Z", tick=False) as machine:
        scheduler = Scheduler(app=app)
        machine.move_to("2026-11-27 09:00Z")
        send_all(scheduler)
        assert list_sent() == intervals
        QueueMessage.objects.all().delete()
        enqueue("memory.embed", "one")
        machine.move_to("2026-11-20 09:00Z")
        with app.connection_for_read() as link, link.SimpleQueue("day1") as queue:
            assert queue.get(timeout=TIMEOUT_SECONDS).headers["task"] == "memory.embed"
        for running in (scheduler, Scheduler(app=app)):
            QueueMessage.objects.all().delete()
            PeriodicTask.objects.update(last_run_at=datetime(2026, 11, 27, 9, tzinfo=UTC))
            PeriodicTasks.update_changed()
            send_all(running)
            assert list_sent() == intervals
        stored = PeriodicTask.objects.get(name="memory.tidy")
        assert stored.last_run_at == datetime(2026, 11, 20, 9, tzinfo=UTC)


def send_all(scheduler: Scheduler) -> None:
    """Tick until nothing is due."""
    while scheduler.tick() == 0:
        pass
    scheduler.sync()


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("number", ["SIGTERM", "SIGINT"])
def test_beat_ends_at_a_signal_in_the_middle_of_a_query(number):
    """Its connection stays open, or the query's error would take the place of the exit."""
    Scheduler(app=app)
    service = beat.Service(app, scheduler_cls=Scheduler)
    before = {name: signal.getsignal(name) for name in (signal.SIGTERM, signal.SIGINT)}
    try:
        app.Beat().install_sync_handler(service)
        rows = PeriodicTask.objects.order_by("pk").iterator(chunk_size=1)
        next(rows)
        with pytest.raises(SystemExit):
            signal.raise_signal(signal.Signals[number])
        assert len(list(rows)) == len(SCHEDULE) - 1
        assert "scheduler" not in vars(service)  # its close would close the connection
    finally:
        for name, handler in before.items():
            signal.signal(name, handler)


@pytest.mark.django_db(transaction=True)
def test_what_was_due_while_the_machine_slept_is_sent_when_it_wakes():
    with time_machine.travel("2026-11-26 22:00Z", tick=False) as clock:
        scheduler = Scheduler(app=app)
        clock.move_to("2026-11-27 09:00Z")
        due = {name for name, entry in scheduler.schedule.items() if entry.is_due().is_due}
    assert due == {name for name, _, _ in SCHEDULE} - {"memory.check_store"}  # on Sundays


@pytest.mark.django_db(transaction=True)
def test_what_was_set_aside_goes_when_its_work_is_done(project, main, actor):
    """A sweep has done some of the work; the rest waits for a person."""
    ended = {"branch": main, "started_at": timezone.now(), "ended_at": timezone.now()}
    lost = AgentSession.objects.create(project=project, key="lost", **ended)
    known = AgentSession.objects.create(project=project, key="known", consolidated_at=timezone.now(), **ended)
    check = NearCheck.objects.create(project=project, uid=uuid4(), branch_id=main.pk, content_hash="x")
    tasks_of = [
        ("memory.embed", str(project.pk)),
        ("memory.near", str(project.pk)),
        ("memory.consolidate", lost.pk),
        ("memory.consolidate", known.pk),
        ("memory.hold_past", main.pk),
        ("memory.run_eval", str(uuid4())),
        ("memory.sweep_erasures",),
        ("conversations.replay", str(uuid4())),
        ("conversations.consolidate", str(uuid4())),
        ("conversations.compare_replay", str(uuid4())),
        ("curation.verify", str(uuid4())),
        ("curation.score", str(uuid4())),
        ("memory.catch_up",),
    ]
    for name, *args in tasks_of:
        enqueue(name, *args)
    QueueMessage.objects.update(tries=2, set_aside_at=timezone.now())
    assert check_health(actor)["queue"]["set_aside"] == len(tasks_of)
    tasks.clear_tasks()
    left = [f'memory.near["{project.pk}"]', f"memory.consolidate[{lost.pk}]", "memory.catch_up[]"]
    assert {message.key for message in list_set_aside()} == set(left)
    check.delete()
    AgentSession.objects.filter(pk=lost.pk).update(consolidated_at=timezone.now())
    QueueMessage.objects.filter(key="memory.catch_up[]").delete()
    assert check_health(actor)["status"] == "degraded"
    tasks.clear_tasks()
    assert (check_health(actor)["queue"]["set_aside"], check_health(actor)["status"]) == (0, "ok")
