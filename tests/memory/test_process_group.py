"""What processes of one server share: numbers, locks, and a bell."""

import os
import signal
import time
from collections.abc import Callable, Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.cache import ServerCache
from memory.db import process_group
from memory.db.process_group import FOREVER, ProcessGroup, Turn, end_group, start_group
from memory.db.sqlite.storage import get_state, note_refusal
from memory.db.sqlite.write_lock import FileLock
from tests.systems import needs_fork
from tests.waiting import TIMEOUT_SECONDS, wait_until

pytestmark = needs_fork
KEYS = st.sampled_from([f"key {number}" for number in range(12)])


@pytest.fixture
def group() -> Iterator[ProcessGroup]:
    yield start_group(has_worker=False)
    end_group()


def in_child(work: Callable[[], object]) -> int:
    """Run work in a forked process; return its process id."""
    if (process := os.fork()) == 0:
        try:
            work()
        finally:
            os._exit(0)
    return process


def end_of(process: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


@given(st.lists(st.tuples(st.sampled_from(["put", "remove", "change"]), KEYS, st.integers(-5, 5))))
def test_numbers_are_those_of_a_dictionary(steps: list[tuple[str, str, int]]) -> None:
    known: dict[str, int] = {}
    with ProcessGroup(has_worker=False).hold_numbers() as numbers:
        for step, key, number in steps:
            if step == "put":
                numbers.put_number(key, number)
                known[key] = number
            elif step == "remove":
                numbers.put_number(key, 0, seconds=0)
                known.pop(key, None)
            else:
                if key in known:
                    known[key] += number
                assert numbers.change_number(key, number) == known.get(key)
            assert [numbers.get_number(one) for one in ("key 0", key)] == [known.get("key 0"), known.get(key)]


def test_a_number_is_over_when_it_expires(group: ProcessGroup, monkeypatch: pytest.MonkeyPatch) -> None:
    now = time.monotonic()
    with group.hold_numbers() as numbers:
        numbers.put_number("short", 1, seconds=60)
        numbers.put_number("long", 2, seconds=FOREVER)
        monkeypatch.setattr(process_group, "monotonic", lambda: now + 61)
        assert (numbers.get_number("short"), numbers.change_number("short", 1)) == (None, None)
        assert numbers.get_number("long") == 2


def test_more_keys_than_slots_push_out_those_that_expire_first(
    group: ProcessGroup, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process_group, "SLOTS", 8)
    with group.hold_numbers() as numbers:
        for number in range(8):
            numbers.put_number(f"key {number}", number, seconds=100 + number)
        numbers.put_number("one more", 8, seconds=200)
        assert [numbers.get_number(f"key {number}") for number in range(8)] == [None, *range(1, 8)]
        assert numbers.get_number("one more") == 8


def test_processes_count_together_and_lose_no_count(group: ProcessGroup) -> None:
    cache = ServerCache("counts", {})
    assert cache.add("tries", 0, 60) is True
    counting = [in_child(lambda: [cache.incr("tries") for _ in range(500)]) for _ in range(3)]
    assert [end_of(process) for process in counting] == [0, 0, 0]
    assert cache.get("tries") == 1500
    assert cache.add("tries", 0, 60) is False
    assert cache.decr("tries") == 1499
    with pytest.raises(ValueError, match="not found"):
        cache.incr("nobody's")
    assert cache.get_or_set("a-text", lambda: "as before") == "as before"


def test_a_refused_write_of_one_process_is_known_to_all(group: ProcessGroup, tmp_path) -> None:
    path = str(tmp_path / "store.sqlite3")
    assert end_of(in_child(lambda: note_refusal(path, "full"))) == 0
    assert get_state(path) == "full"


def test_a_wait_that_an_error_ends_leaves_no_lock(
    group: ProcessGroup, monkeypatch: pytest.MonkeyPatch
) -> None:
    read, write = os.pipe()

    def hold() -> None:
        FileLock("a store").acquire(TIMEOUT_SECONDS)
        os.write(write, b"!")
        time.sleep(60)

    holder = in_child(hold)
    os.read(read, 1)
    mine = FileLock("a store")
    with monkeypatch.context() as patch:
        patch.setattr(process_group, "sleep", lambda _seconds: os.close(-1))
        with pytest.raises(OSError, match="Bad file descriptor"):
            mine.acquire(TIMEOUT_SECONDS)
    os.kill(holder, signal.SIGKILL)
    os.waitpid(holder, 0)
    assert mine.acquire(TIMEOUT_SECONDS) is True


def test_a_signal_ends_a_wait_for_another_thread_and_leaves_no_lock() -> None:
    lock = FileLock("a store")
    assert lock.acquire(TIMEOUT_SECONDS) is True

    def end_wait(*_args: object) -> None:
        raise InterruptedError

    before = signal.signal(signal.SIGALRM, end_wait)
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    try:
        with pytest.raises(InterruptedError):
            lock.acquire(TIMEOUT_SECONDS)
    finally:
        signal.signal(signal.SIGALRM, before)
    lock.release()
    assert lock.acquire(0) is True


def test_a_killed_process_leaves_no_lock(group: ProcessGroup) -> None:
    read, write = os.pipe()

    def hold() -> None:
        FileLock("a store").acquire(TIMEOUT_SECONDS)
        os.write(write, b"!")
        time.sleep(60)

    holder = in_child(hold)
    os.read(read, 1)
    mine = FileLock("a store")
    assert mine.acquire(0.05) is False
    assert FileLock("another store").acquire(0.05) is True
    os.kill(holder, 9)
    assert end_of(holder) == -9
    assert mine.acquire(TIMEOUT_SECONDS) is True
    mine.release()


def test_a_process_that_waits_comes_before_the_next_one(group: ProcessGroup) -> None:
    read, write = os.pipe()

    def wait() -> None:
        turn = Turn(group, "a store")
        os.write(write, b"?")
        turn.acquire(time.monotonic() + TIMEOUT_SECONDS)
        os.write(write, b"!")
        turn.release()

    turn = Turn(group, "a store")
    assert turn.acquire(time.monotonic() + TIMEOUT_SECONDS)
    waiting = in_child(wait)
    os.read(read, 1)
    # It waits when it has the place of the next.
    wait_until(lambda: not group.try_lock(turn._next) or group.unlock_byte(turn._next))
    turn.release()
    assert turn.acquire(time.monotonic() + TIMEOUT_SECONDS)  # at once again, and yet after the other
    assert os.read(read, 1) == b"!"
    turn.release()
    assert end_of(waiting) == 0


def test_the_bell_wakes_another_process(group: ProcessGroup) -> None:
    waiting = in_child(group.wait_for_bell)
    for _ in range(100_000):  # a bell that nobody waits for any more blocks nobody
        group.ring_bell()
    assert end_of(waiting) == 0
