"""The queue: sent with the transaction, claimed once, never lost."""

import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from uuid import uuid4

import pytest
from celery import Celery, shared_task
from django.core.management import call_command
from django.db import DatabaseError, transaction
from django.utils import timezone

from day1site.celery import Worker, app, start_worker
from memory.models import QueueMessage
from memory.queue import producer
from memory.queue.broker.transport import Transport
from memory.queue.producer import enqueue, list_set_aside
from memory.queue.publisher import Publisher
from tests import databases
from tests.up_process import ROOT, shadow_folder
from tests.waiting import TIMEOUT_SECONDS, wait_until


@shared_task(name="tests.note")
def note(path: str, word: str, seconds: float = 0.0) -> None:
    """Append a word to a file that every process can read."""
    time.sleep(seconds)
    with open(path, "a") as file:
        file.write(f"{word}@{os.getpid()}\n")


@shared_task(name="tests.kill")
def kill(path: str) -> None:
    """Record the start, and end the process as ``kill -9`` would."""
    with open(path, "a") as file:
        file.write("began\n")
    os._exit(9)


@pytest.fixture
def worker(transactional_db: None) -> Iterator[Worker]:
    running = start_worker()
    assert running.ready.wait(TIMEOUT_SECONDS)
    yield running
    assert running.stop(TIMEOUT_SECONDS)


@pytest.fixture
def notes(tmp_path: Path) -> "Notes":
    return Notes(tmp_path / "notes")


class Notes:
    def __init__(self, path: Path) -> None:
        self.path = path
        path.touch()

    def send(self, word: str, seconds: float = 0.0, **options: float) -> None:
        note.apply_async((str(self.path), word, seconds), **options)

    def read(self) -> list[str]:
        return [line.split("@")[0] for line in self.path.read_text().split()]

    def writers(self) -> set[int]:
        return {int(line.split("@")[1]) for line in self.path.read_text().split()}


def no_messages() -> bool:
    return not QueueMessage.objects.exists()


# ---- sending ---------------------------------------------------------------------------------------


@pytest.mark.django_db(transaction=True)
def test_a_transaction_that_is_rolled_back_sends_nothing():
    with transaction.atomic():
        enqueue("memory.embed", "one")
        assert QueueMessage.objects.count() == 1
        transaction.set_rollback(True)
    assert no_messages()


@pytest.mark.django_db(transaction=True)
def test_a_committed_transaction_sends():
    with transaction.atomic():
        enqueue("memory.embed", "one")
    message = QueueMessage.objects.get()
    assert (message.queue, message.claim, message.key) == ("day1", None, 'memory.embed["one"]')


@pytest.mark.django_db
def test_what_waits_is_not_sent_again_and_what_has_begun_is():
    for project in ("one", "two", "one"):
        enqueue("memory.embed", project)
    assert QueueMessage.objects.count() == 2
    QueueMessage.objects.update(claim=uuid4())
    enqueue("memory.embed", "one")
    assert QueueMessage.objects.count() == 3


def test_only_known_names_are_sent():
    with pytest.raises(ValueError, match=r"memory\.dream"):
        enqueue("memory.dream")


@pytest.mark.django_db
def test_a_queue_that_fails_does_not_fail_the_write(monkeypatch, caplog):
    def refuse(*_: object, **__: object) -> None:
        raise DatabaseError("disk full")

    monkeypatch.setattr(QueueMessage.objects, "create", refuse)
    with transaction.atomic():
        enqueue("memory.embed", "one")
    assert no_messages()
    assert "memory.embed('one',) was not queued" in caplog.text


@pytest.mark.django_db(transaction=True)
def test_a_broker_that_cannot_be_reached_costs_a_moment_once(monkeypatch, caplog):
    distant = Celery("distant", set_as_current=False)
    distant.config_from_object("django.conf:settings", namespace="CELERY")
    distant.conf.broker_url = "redis://127.0.0.1:1"
    monkeypatch.setattr(producer, "app_or_default", lambda: distant)
    monkeypatch.setattr(producer, "publisher", Publisher())
    pytest.importorskip("kombu.transport.redis")
    with transaction.atomic():
        enqueue("memory.embed", "one")
        assert not caplog.records
    for _ in range(20):
        enqueue("memory.embed", "one")
    producer.publisher.flush(TIMEOUT_SECONDS)
    assert [record.message[:26] for record in caplog.records] == ["The broker does not answer"]
    assert no_messages()


# ---- taking ----------------------------------------------------------------------------------------


def test_a_task_runs_after_the_commit(transactional_db, monkeypatch, request, notes):
    monkeypatch.setattr(Transport, "polling_interval", 60.0)
    request.getfixturevalue("worker")
    with transaction.atomic():
        notes.send("one")
        time.sleep(0.1)
        assert notes.read() == []
    wait_until(lambda: notes.read() == ["one"])

    def is_woken() -> bool:
        """Send another task behind one that has just run: Celery itself reads again two seconds later."""
        began, before = time.monotonic(), len(notes.read())
        notes.send("more")
        wait_until(lambda: len(notes.read()) > before)
        return time.monotonic() - began < 1.5

    wait_until(is_woken)
    wait_until(no_messages)


@pytest.mark.slow
def test_a_countdown_holds(worker, notes):
    notes.send("late", countdown=1.0)
    notes.send("soon")
    wait_until(lambda: notes.read() == ["soon"])
    time.sleep(0.5)
    assert notes.read() == ["soon"]
    wait_until(lambda: notes.read() == ["soon", "late"])


def test_lower_priority_numbers_come_first(transactional_db, notes):
    for word, priority in (("last", 9), ("first", 0), ("middle", 5)):
        notes.send(word, priority=priority)
    found = QueueMessage.objects.due("day1")
    assert [message.priority for message in found] == [0, 5, 9]


def broken() -> Iterator[str]:
    """Yield rows without a message, messages without a task, and tasks with invalid content."""
    yield from ("", "{", "null", "[]", "{}")
    yield '{"properties": {}, "headers": {}}'
    yield '{"properties": 1, "headers": []}'
    for headers in ({}, {"task": "tests.gone", "id": "1"}, {"task": "tests.note", "id": "1"}):
        for body in ("?", "W10=", "//8=", "WzEsMiwzXQ=="):  # not base64, [], not UTF-8, [1,2,3]
            properties = {"delivery_info": {}, "body_encoding": "base64"}
            content = {"content-type": "application/json", "content-encoding": "utf-8"}
            yield json.dumps({"body": body, "headers": headers, "properties": properties, **content})


def test_a_worker_outlives_broken_messages(worker, notes, caplog):
    for payload in broken():
        QueueMessage.objects.create(queue="day1", visible_at=timezone.now(), payload=payload)
    notes.send("after")
    wait_until(lambda: notes.read() == ["after"])
    wait_until(no_messages)
    assert "Unrecoverable" not in caplog.text


def test_a_failing_task_is_not_run_for_ever(worker, notes):
    app.send_task("tests.note")  # without its arguments
    notes.send("after")
    wait_until(lambda: notes.read() == ["after"])
    wait_until(no_messages)


@pytest.mark.slow
def test_a_long_task_keeps_its_lease(transactional_db, notes, monkeypatch):
    monkeypatch.setitem(app.conf.broker_transport_options, "lease", 0.3)
    running = start_worker()
    notes.send("long", seconds=1.0)
    wait_until(lambda: notes.read() == ["long"])
    wait_until(no_messages)
    assert running.stop(TIMEOUT_SECONDS)
    assert notes.read() == ["long"]


@pytest.mark.skipif(not databases.ON_SQLITE, reason="other servers may live: claims end with their leases")
def test_a_start_frees_what_a_killed_server_held(transactional_db, notes):
    notes.send("held")
    ends = timezone.now() + timedelta(hours=1)
    QueueMessage.objects.update(claim=uuid4(), visible_at=ends)
    running = start_worker()
    wait_until(lambda: notes.read() == ["held"])
    assert running.stop(TIMEOUT_SECONDS)


def test_a_stop_waits_for_the_running_task_and_leaves_the_rest(transactional_db, notes):
    running = start_worker()
    for number in range(20):
        notes.send(str(number), seconds=0.2)  # four seconds for all of them
    wait_until(notes.read)
    assert running.stop(TIMEOUT_SECONDS)
    assert not running.alive()
    done = len(notes.read())
    assert 0 < done < 20
    assert QueueMessage.objects.filter(claim=None).count() == QueueMessage.objects.count() == 20 - done


@pytest.mark.slow
def test_a_stop_does_not_wait_for_a_task_that_hangs(transactional_db, notes):
    running = start_worker()
    notes.send("hangs", seconds=10)
    wait_until(QueueMessage.objects.exclude(claim=None).exists)
    assert running.stop(TIMEOUT_SECONDS)
    assert notes.read() == []  # nobody waited until it had ended
    message = QueueMessage.objects.get()
    assert message.claim is None  # delivered again after the next start
    assert message.tries == 0  # an orderly stop is not its fault


# ---- rival processes -------------------------------------------------------------------------------


def start_rival() -> subprocess.Popen[bytes]:
    """Start a worker in another process, from a stranger's folder."""
    command = [sys.executable, str(ROOT / "manage.py"), "celery", "worker", "-I", __name__, "-l", "error"]
    surroundings = {
        **os.environ,
        "DAY1_NO_BOOTSTRAP": "1",
        "DJANGO_SETTINGS_MODULE": "day1site.settings.test",
        "DAY1_TEST_DATABASE_URL": databases.url(),
        "DAY1_QUEUE_LEASE": "1",
    }
    return subprocess.Popen(command, cwd=shadow_folder(), env=surroundings, stdout=subprocess.DEVNULL)


@pytest.fixture
def rival(transactional_db: None) -> Iterator[subprocess.Popen[bytes]]:
    process = start_rival()
    yield process
    process.kill()
    process.wait()


@pytest.mark.slow
def test_rivals_take_each_message_once_and_one_that_is_killed_loses_none(rival, notes, request):
    notes.send("hello")
    wait_until(lambda: rival.pid in notes.writers())
    request.getfixturevalue("worker")
    words = [f"word-{number}" for number in range(200)]
    with transaction.atomic():
        for word in words:
            notes.send(word)
    wait_until(lambda: set(words) <= set(notes.read()))
    wait_until(no_messages)
    times = Counter(notes.read())
    assert [times[word] for word in words] == [1] * 200
    assert notes.writers() == {os.getpid(), rival.pid}

    with transaction.atomic():
        for number in range(60):
            notes.send(f"more-{number}", seconds=0.02)
    wait_until(lambda: "more-10" in notes.read())
    rival.kill()
    wait_until(lambda: {f"more-{number}" for number in range(60)} <= set(notes.read()))
    wait_until(no_messages)


# ---- a task that stops its worker ------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_what_killed_its_worker_twice_is_set_aside_and_runs_again_by_a_command(notes, request, capsys):
    kill.apply_async((str(notes.path),))
    for begun in (1, 2):
        assert start_rival().wait(TIMEOUT_SECONDS) == 9
        assert (QueueMessage.objects.get().tries, notes.read()) == (begun, ["began"] * begun)
    notes.send("after")
    request.getfixturevalue("worker")
    wait_until(lambda: "after" in notes.read())
    wait_until(lambda: QueueMessage.objects.count() == 1)
    wait_until(list_set_aside)  # elsewhere than on SQLite when the lease has ended
    (message,) = list_set_aside()
    assert (message.tries, message.claim, notes.read().count("began")) == (2, None, 2)
    call_command("retry_tasks", "--list")
    assert f"{message.key}  begun 2 times, set aside " in capsys.readouterr().out
    assert list_set_aside() == [message]


@pytest.mark.django_db(transaction=True)
def test_the_command_gives_it_to_the_workers_again(notes, request, capsys):
    notes.send("again")
    QueueMessage.objects.update(tries=2, set_aside_at=timezone.now())
    call_command("retry_tasks")
    assert capsys.readouterr().out.endswith("1 tasks run again.\n")
    assert QueueMessage.objects.get().tries == 0
    request.getfixturevalue("worker")
    wait_until(lambda: notes.read() == ["again"])
    wait_until(no_messages)


@pytest.mark.django_db(transaction=True)
def test_what_is_set_aside_is_not_sent_once_more(notes):
    enqueue("memory.embed", "one")
    notes.send("periodic")
    QueueMessage.objects.update(tries=2, set_aside_at=timezone.now())
    enqueue("memory.embed", "one")
    notes.send("periodic")
    assert QueueMessage.objects.count() == 2
    enqueue("memory.embed", "two")
    notes.send("other")
    assert QueueMessage.objects.count() == 4
