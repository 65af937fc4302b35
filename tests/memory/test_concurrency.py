"""Concurrent writers, in processes and in threads; concurrent readers; a killed writer."""

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import Any
from uuid import UUID

import pytest
from django.conf import settings
from django.db import OperationalError, connection, transaction
from django.test.utils import CaptureQueriesContext

from memory.actors import Actor, local_actor
from memory.db.backend import get_backend, get_features
from memory.db.sqlite.write_lock import FairLock
from memory.engines.access.key_tokens import find_key
from memory.engines.access.keys import KeyEngine
from memory.engines.branches.manager import BranchManager
from memory.engines.support.write_buffer import buffer
from memory.engines.versions.commits import open_commit
from memory.engines.versions.lookup import find_branch
from memory.exceptions import Unauthenticated
from memory.models import ApiKey, Branch, Fact, Project, nodes, usage
from memory.models.nodes import RowIds
from tests import databases
from tests.memory.api.client import api_for
from tests.memory.test_branches import content_of, fact, some_actor, write
from tests.waiting import TIMEOUT_SECONDS

pytestmark = pytest.mark.django_db(transaction=True)

WRITERS, ROUNDS = 3, 10
START = (
    "import sys, django; django.setup(); from tests.memory import test_concurrency as test_rivals;"
    " test_rivals.write_rounds(*sys.argv[1:])"
)


@pytest.fixture
def actor() -> Actor:
    """Return an actor in a project whose main has a counter and a pair of equal facts."""
    actor = some_actor()
    write(actor, "0", category="counter")
    write(actor, "pair 0", "pair 0", category="pair")
    return actor


# ---- what runs in a process or thread of its own ---------------------------------------------------


def one_round(actor: Actor, branch: str, mark: str) -> UUID:
    """Increment the counter, change the pair, add a fact: one commit. Returns the new fact's id."""
    with open_commit(actor, branch, "round") as commit:
        shown = commit.visible_rows(Fact)
        counter = shown.get(category="counter")
        commit.change_row(counter, **content_of(str(int(counter.fact_text) + 1)))
        for half in shown.filter(category="pair"):
            commit.change_row(half, **content_of(f"pair {mark}"))
        return commit.add_rows([fact(f"fact {mark}")])[0].uid


def write_rounds(project: str, who: str, rounds: str, *branches: str) -> None:
    """Run rounds on each branch in turn; print each acknowledged id."""
    actor = local_actor(UUID(project))
    for number in range(int(rounds)):
        for branch in branches:
            print(one_round(actor, branch, f"{who}r{number}"), flush=True)


def process(actor: Actor, who: str, rounds: int, *branches: str) -> subprocess.Popen[str]:
    """Run write_rounds in another Python process, on the database of this test."""
    environment = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "day1site.settings.test",
        "DAY1_TEST_DATABASE_URL": databases.url(),
    }
    return subprocess.Popen(
        [sys.executable, "-c", START, str(actor.project_id), who, str(rounds), *branches],
        cwd=settings.BASE_DIR,
        env=environment,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def alone(work: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap work for a thread: it closes its connection at the end."""

    def run(*args: Any) -> Any:
        try:
            return work(*args)
        finally:
            connection.close()

    return run


# ---- invariants afterwards -------------------------------------------------------------------------


def check_branch(actor: Actor, name: str, rounds: int) -> None:
    """Check that all rounds were written, once each, in commits without a gap."""
    branch = find_branch(actor, name)
    start = 2 if name == "main" else 0  # the commits of the fixture
    seqs = sorted(branch.commits.values_list("seq", flat=True))
    assert seqs == list(range(1, rounds + start + 1))
    assert branch.head == rounds + start
    shown = Fact.objects.on(branch)
    assert shown.get(category="counter").fact_text == str(rounds)
    assert shown.filter(category="general").count() == rounds
    assert len(set(shown.filter(category="pair").values_list("fact_text", flat=True))) == 1
    assert len(shown.match_words(["fact"], 10_000)[0]) == rounds


def check_file() -> None:
    if not databases.ON_SQLITE:
        return
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA integrity_check")
        assert cursor.fetchall() == [("ok",)]
        cursor.execute("INSERT INTO memory_fact_fts(memory_fact_fts) VALUES('integrity-check')")


# ---- writers ---------------------------------------------------------------------------------------


@pytest.mark.slow
def test_rival_processes_lose_nothing_and_pinned_readers_see_one_state(actor: Actor) -> None:
    for n in range(WRITERS):
        BranchManager().create_branch(name=f"task/{n}", actor=actor)
    rivals = [process(actor, f"p{n}", ROUNDS, "main", f"task/{n}", "task/0") for n in range(WRITERS)]
    with reading(actor, read_by_seq, read_in_a_snapshot):
        for rival in rivals:
            said, errors = rival.communicate(timeout=TIMEOUT_SECONDS)
            assert (errors, len(said.split())) == ("", 3 * ROUNDS)
    check_branch(actor, "main", WRITERS * ROUNDS)
    check_branch(actor, "task/0", (WRITERS + 1) * ROUNDS)
    for n in range(1, WRITERS):
        check_branch(actor, f"task/{n}", ROUNDS)
    check_file()


def test_rival_threads_lose_nothing_and_branches_are_made_meanwhile(actor: Actor) -> None:
    manager = BranchManager()
    manager.create_branch(name="task/0", actor=actor)

    def rounds(n: int) -> None:
        for number in range(ROUNDS):
            one_round(actor, "main", f"t{n}r{number}")
            one_round(actor, "task/0", f"t{n}r{number}")
            manager.create_branch(name=f"fork/{n}/{number}", actor=actor)

    with ThreadPoolExecutor(WRITERS) as pool:
        list(pool.map(alone(rounds), range(WRITERS)))
    check_branch(actor, "main", WRITERS * ROUNDS)
    check_branch(actor, "task/0", WRITERS * ROUNDS)
    for fork in Branch.objects.filter(project=actor.project_id, name__startswith="fork/"):
        check_pinned(Fact.objects.on(fork), fork.fork_seq - 2)


# ---- readers ---------------------------------------------------------------------------------------


def check_pinned(shown: Any, rounds: int) -> None:
    """Check that several statements on one state agree with each other."""
    assert int(shown.get(category="counter").fact_text) == rounds
    first, second = (f.fact_text for f in shown.filter(category="pair"))
    assert first == second
    assert shown.filter(category="general").count() == rounds
    assert len(shown.newest(1000)) == rounds + 3


def read_by_seq(branch: Branch) -> None:
    check_pinned(Fact.objects.on(branch), branch.head - 2)
    check_pinned(Fact.objects.on(branch, 2 + branch.head // 2 - 1), branch.head // 2 - 1)


def read_words(branch: Branch) -> None:
    assert len(Fact.objects.on(branch).match_words(["pair"], 10)[0]) == 2


def read_in_a_snapshot(branch: Branch) -> None:
    with get_backend().snapshot():
        branch.refresh_from_db()
        check_pinned(Fact.objects.on(branch), branch.head - 2)
        read_words(branch)


@contextmanager
def reading(actor: Actor, *reads: Callable[[Branch], None]) -> Iterator[None]:
    """Read main repeatedly in threads while the block runs; raise the first error."""
    done = threading.Event()

    def work(read: Callable[[Branch], None]) -> int:
        times = 0
        while not done.is_set():
            read(find_branch(actor, "main"))
            times += 1
        return times

    with ThreadPoolExecutor(len(reads)) as pool:
        readers = [pool.submit(alone(work), read) for read in reads]
        try:
            yield
        finally:
            done.set()
    assert all(reader.result() > 10 for reader in readers)


def test_nothing_is_kept_of_what_is_written_in_a_snapshot_by_mistake(actor: Actor) -> None:
    """Fail a write in a read snapshot, instead of losing it silently."""
    with suppress(OperationalError), get_backend().snapshot():
        Branch.objects.filter(project=actor.project_id).update(purpose="x")
        pytest.fail("the write was taken and lost")


# ---- a writer that is killed -----------------------------------------------------------------------


@pytest.mark.slow
def test_a_killed_writer_leaves_whole_commits_and_all_that_it_acknowledged(actor: Actor) -> None:
    acknowledged: list[str] = []
    for number in range(2):
        writer = process(actor, f"k{number}", 10_000, "main")
        assert writer.stdout
        acknowledged.append(writer.stdout.readline().strip())
        time.sleep(random.uniform(0.05, 0.3))
        writer.send_signal(signal.SIGKILL)
        said, _ = writer.communicate()
        acknowledged += [line for line in said.split() if len(line) == 36]
    rounds = find_branch(actor, "main").head - 2
    assert rounds >= len(acknowledged) > 3
    check_branch(actor, "main", rounds)
    shown = Fact.objects.on(find_branch(actor, "main"))
    assert {str(f.uid) for f in shown} >= set(acknowledged)
    check_file()
    one_round(actor, "main", "after")
    check_branch(actor, "main", rounds + 1)


# ---- row ids and the queue of writers --------------------------------------------------------------


def test_ids_are_made_while_another_thread_waits_to_lease(monkeypatch: pytest.MonkeyPatch) -> None:
    """Avoid a deadlock of writer and lease, which would last until the busy timeout."""
    ids, now = RowIds(), nodes.read_ms
    ids.ensure_lease()
    monkeypatch.setattr(nodes, "read_ms", lambda: now() + 90_000)
    with ThreadPoolExecutor(2) as pool, transaction.atomic():
        pool.submit(alone(ids.ensure_lease))
        time.sleep(0.3)
        assert pool.submit(ids).result(15) > 0  # the other thread waits for 20 s


def test_the_lock_goes_to_who_waits_longest() -> None:
    lock, order = FairLock(), []
    lock.acquire(TIMEOUT_SECONDS)

    def work(n: int) -> None:
        assert lock.acquire(TIMEOUT_SECONDS)
        order.append(n)
        lock.release()

    threads = [threading.Thread(target=work, args=(n,)) for n in range(5)]
    for number, thread in enumerate(threads, 1):
        thread.start()
        while len(lock._waiting) < number:
            time.sleep(0.001)
    lock.release()
    for thread in threads:
        thread.join()
    assert order == list(range(5))
    assert lock.acquire(0)


def test_who_gave_up_waiting_is_passed_over() -> None:
    lock = FairLock()
    assert lock.acquire(0)
    assert not lock.acquire(0.01)
    lock.release()
    assert lock.acquire(0)


def test_the_lock_is_never_held_twice_nor_lost_under_time_outs() -> None:
    lock, inside, most = FairLock(), [0], [0]

    def work(n: int) -> None:
        for _ in range(200):
            if lock.acquire(0.0001 * n):
                inside[0] += 1
                most[0] = max(most[0], inside[0])
                inside[0] -= 1
                lock.release()

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(work, range(6)))
    assert most == [1]
    assert lock.acquire(0)


def close_in_a_transaction() -> None:
    with suppress(Exception), transaction.atomic():
        find_one_branch().save()
        connection.close()
        find_one_branch()


class Killed(BaseException):
    """Exception that no error handler catches."""


def fail_in_a_transaction() -> None:
    with suppress(Killed), transaction.atomic():
        find_one_branch().save()
        raise Killed


def fail_to_begin() -> None:
    with get_backend().snapshot(), suppress(OperationalError), transaction.atomic():
        pass


def find_one_branch() -> Branch:
    return Branch.objects.all()[0]


@pytest.mark.parametrize("work", [close_in_a_transaction, fail_in_a_transaction, fail_to_begin])
def test_a_writer_that_ends_badly_passes_its_turn_on(actor: Actor, work: Callable[[], None]) -> None:
    thread = threading.Thread(target=alone(work))
    thread.start()
    thread.join()
    one_round(actor, "main", "next")
    check_branch(actor, "main", 1)


def test_a_row_is_read_again_as_soon_as_anything_has_changed(actor: Actor) -> None:
    key, token = KeyEngine().create_key(label="one", scopes=["read"], actor=actor)
    assert find_key(token).label == "one"
    with CaptureQueriesContext(connection) as queries:
        assert [find_key(token).pk, find_branch(actor, "main").name] == [key.pk, "main"]
        assert find_key(token) is not find_key(token)
    assert len(queries) == (0 if get_features().has_online_backup else 4)  # its branch came with the key
    with suppress(ZeroDivisionError), transaction.atomic():
        ApiKey.objects.update(label="two")
        assert find_key(token).label == "two"
        raise ZeroDivisionError
    assert find_key(token).label == "one"
    with transaction.atomic():  # until it writes, what was read before holds
        assert find_key(token).label == "one"
        ApiKey.objects.update(label="half")
        assert find_key(token).label == "half"
        transaction.set_rollback(True)
    assert find_key(token).label == "one"
    ApiKey.objects.update(label="three")
    assert find_key(token).label == "three"
    other = threading.Thread(target=alone(lambda: KeyEngine().revoke_key(key_id=key.pk, actor=actor)))
    other.start()
    other.join()
    assert find_key(token).revoked_at
    with get_backend().snapshot():
        assert find_key(token).revoked_at
    with pytest.raises(Unauthenticated):
        KeyEngine().verify_token(token)


@databases.only_on_sqlite
def test_a_request_takes_few_statements(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(buffer, "interval", 3600)  # what is written behind an answer is none of it
    monkeypatch.setattr(usage, "READ_SECONDS", 3600)
    api = api_for(project)
    made = api.fact("The deploy key of the gateway expires in May.")
    search = {"query": "deploy key", "search_type": "keyword"}
    requests: list[tuple[str, str, Any]] = [
        ("GET", f"/facts/{made['id']}", None),
        ("GET", "/facts", None),
        ("GET", "/branches", None),
        ("GET", "/merge-requests", None),
        ("POST", "/facts/search", search),
        ("POST", "/facts", {"fact_text": "The gateway speaks TLS 1.3."}),
    ]
    for method, path, body in requests[:-1]:
        assert api(method, path, body).status_code == 200
    counts = []
    for method, path, body in requests:
        with CaptureQueriesContext(connection) as queries:
            assert api(method, path, body).status_code in (200, 201)
        counts.append(len(queries))
    assert counts == [0, 1, 1, 1, 3, 4]  # the same again, without an embedder
