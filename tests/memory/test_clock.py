"""A clock that is set back: ids, times of commits and work that waits go on."""

from datetime import timedelta

import pytest
import time_machine
from django.db import connection
from django.utils import timezone

from memory.actors import Actor
from memory.clock import clock, read_time
from memory.engines.facts.engine import FactEngine
from memory.engines.store import release
from memory.models import AuditEntry, Commit, Fact, QueueMessage
from memory.models.nodes import new_rid, new_uuid, next_rid
from memory.queue.producer import enqueue

pytestmark = pytest.mark.django_db(transaction=True)


def write(actor: Actor, text: str) -> Fact:
    return FactEngine().write_fact(fact_text=text, actor=actor).fact


def start_again() -> None:
    """Forget what a process knows of time and ids, and open the store as a new one does."""
    clock.restart()
    next_rid.drop_leases()
    new_uuid.restart_ids()
    release._checked.clear()
    release.check_release(connection)


def test_a_new_process_goes_on_where_the_store_ends(actor: Actor) -> None:
    with time_machine.travel(timezone.now() + timedelta(days=30)):
        start_again()
        enqueue("memory.catch_up")
        first = write(actor, "Written by a clock that was wrong.")
    start_again()
    second = write(actor, "Written after it was set right.")
    assert (second.rid > first.rid, second.uid > first.uid) == (True, True)
    assert second.created_at == first.created_at + timedelta(microseconds=1)
    commits = Commit.objects.filter(branch=second.branch).order_by("at")
    assert list(commits.values_list("seq", flat=True)) == [1, 2]
    newest, older = AuditEntry.objects.order_by("-id").values_list("id", flat=True)[:2]
    assert newest > second.rid > older > first.rid
    assert QueueMessage.objects.due("day1").filter(payload__contains="memory.catch_up").exists()


def test_a_running_process_counts_on(actor: Actor) -> None:
    clock.restart()
    with time_machine.travel("2026-11-27 09:00Z", tick=False) as machine:
        at, rid, uid = read_time(), new_rid(), new_uuid()
        machine.move_to("2026-11-20 09:00Z")
        assert read_time() >= at
        assert (new_rid() > rid, new_uuid() > uid) == (True, True)
        machine.move_to("2026-11-28 09:00Z")
        assert read_time() == timezone.now()
