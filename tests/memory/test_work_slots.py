"""Slots: how many threads work at the same time, and who leaves them to others."""

import threading
from collections.abc import Iterator

import pytest

from memory.db import work_slots as module
from memory.db.sqlite.write_lock import FairLock
from memory.db.work_slots import SLOTS, SlotExecutor, work_slots
from tests.waiting import TIMEOUT_SECONDS


@pytest.fixture
def pool() -> Iterator[SlotExecutor]:
    with SlotExecutor(max_workers=16) as executor:
        yield executor


@pytest.fixture
def one_slot(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with monkeypatch.context() as patch:
        patch.setattr(module, "SLOTS", 1)
        patch.setattr(module, "MAX_WAIT_SECONDS", TIMEOUT_SECONDS)
        work_slots.reset_slots()
        yield
    work_slots.reset_slots()


def test_no_more_threads_work_at_once_than_there_are_slots(pool: SlotExecutor) -> None:
    lock, working, most = threading.Lock(), 0, 0
    full = threading.Barrier(SLOTS)

    def work() -> None:
        nonlocal working, most
        with lock:
            working += 1
            most = max(most, working)
        full.wait(TIMEOUT_SECONDS)  # so many do
        with lock:
            working -= 1

    for done in [pool.submit(work) for _ in range(4 * SLOTS)]:
        done.result(TIMEOUT_SECONDS)
    assert most == SLOTS


@pytest.mark.usefixtures("one_slot")
def test_who_waits_for_another_leaves_its_slot(pool: SlotExecutor) -> None:
    came = threading.Event()

    def wait() -> bool:
        with work_slots.leave_slot():
            return came.wait(TIMEOUT_SECONDS)

    waiting = pool.submit(wait)
    pool.submit(came.set).result(TIMEOUT_SECONDS)
    assert waiting.result(TIMEOUT_SECONDS) is True


@pytest.mark.usefixtures("one_slot")
def test_writers_that_wait_keep_no_reader_out(pool: SlotExecutor) -> None:
    lock = FairLock()
    assert lock.acquire(TIMEOUT_SECONDS)
    writers = [pool.submit(lock.acquire, TIMEOUT_SECONDS) for _ in range(3)]
    assert pool.submit(lambda: "read").result(TIMEOUT_SECONDS) == "read"
    for writer in writers:
        lock.release()
        assert writer.result(TIMEOUT_SECONDS) is True


@pytest.mark.usefixtures("one_slot")
def test_an_error_frees_the_slot(pool: SlotExecutor) -> None:
    for _ in range(3):
        with pytest.raises(ZeroDivisionError):
            pool.submit(lambda: 1 / 0).result(TIMEOUT_SECONDS)
    assert pool.submit(lambda: "free").result(TIMEOUT_SECONDS) == "free"


@pytest.mark.usefixtures("one_slot")
def test_long_work_keeps_others_out_for_a_while_only(
    pool: SlotExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_WAIT_SECONDS", 0.05)
    begun, end = threading.Event(), threading.Event()
    long = pool.submit(lambda: (begun.set(), end.wait(TIMEOUT_SECONDS)))
    assert begun.wait(TIMEOUT_SECONDS)
    assert pool.submit(lambda: "in between").result(TIMEOUT_SECONDS) == "in between"
    end.set()
    long.result(TIMEOUT_SECONDS)
