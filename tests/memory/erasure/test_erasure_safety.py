"""Erasure: nothing brings it back, copies are listed, it is refused well, and a crash does no harm."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from random import Random
from typing import Any

import pytest
from django.db import connection

from conversations.capture.engine import IngestEngine
from conversations.models import Message
from memory.actors import Actor
from memory.db.sqlite import overwriting
from memory.engines.facts.import_export import FactImport, export_facts
from memory.engines.store.snapshots import SnapshotManager
from memory.engines.store.workspaces import WorkspaceEngine
from memory.engines.versions.blanking import replay_erasures
from memory.engines.versions.erased import closed_sessions, erased_uids
from memory.exceptions import Conflict, Invalid, NotFound, ScopeMissing
from memory.models import (
    AuditEntry,
    ErasedMemory,
    Erasure,
    Fact,
)
from memory.models.base import ERASED_MARK
from memory.models.nodes import uuid7
from tests.amounts import is_thorough
from tests.databases import ON_SQLITE, only_on_sqlite
from tests.memory.erasure.helpers import (
    CONVERSATIONS,
    ERASURES,
    FACTS,
    OBSERVATIONS,
    SESSION,
    WORD,
    files_with,
    prepare_traces,
    tables_with,
    write_everything,
)
from tests.waiting import TIMEOUT_SECONDS

pytestmark = pytest.mark.django_db(transaction=True)
SNAPSHOTS = SnapshotManager()
STOPS = [10, 22, 45, 70, 90, 300, 500, *(pytest.param(n, marks=only_on_sqlite) for n in (690, 710, 725, 730))]


class TestNothingBringsItBack:
    def test_an_export_made_before(self, actor, main) -> None:
        fact = FACTS.write_fact(actor=actor, fact_text=f"Old {WORD}").fact
        line = {"id": str(fact.uid), "fact_text": fact.fact_text}
        assert [row.uid for row, _ in export_facts(actor=actor)] == [fact.uid]
        FACTS.delete_fact(fact_id=fact.uid, actor=actor)
        ERASURES.erase(actor=actor, scope="fact", target=str(fact.uid), confirm="test")
        for look in (True, False):
            run = FactImport(actor=actor)
            (outcome,) = (run.preview_lines if look else run.apply_lines)([(1, line)])
            assert (outcome.state, outcome.reason) == ("broken", "conflict: This fact was erased.")
        assert tables_with(WORD) == set()

    def test_the_id_of_an_imported_fact(self, actor, main) -> None:
        foreign = uuid7()
        line = {"id": str(foreign), "fact_text": f"From elsewhere {WORD}"}
        (new,) = FactImport(actor=actor).apply_lines([(1, line)])
        ERASURES.erase(actor=actor, scope="fact", target=str(new.fact_id), confirm="test")
        (again,) = FactImport(actor=actor).apply_lines([(1, line)])
        assert again.state == "broken"

    def test_a_snapshot_of_a_branch_made_before(self, actor, main) -> None:
        fact = FACTS.write_fact(actor=actor, fact_text=f"Old {WORD}").fact
        point = SNAPSHOTS.create_snapshot(name="before", actor=actor)
        FACTS.update_fact(fact_id=fact.uid, updates={"fact_text": "Harmless"}, actor=actor)
        FACTS.delete_fact(fact_id=fact.uid, actor=actor)
        ERASURES.erase(actor=actor, scope="fact", target=str(fact.uid), confirm="test")
        SNAPSHOTS.restore_snapshot(snapshot_id=point.pk, actor=actor)
        assert FACTS.get_fact(fact_id=fact.uid, actor=actor).fact_text == ERASED_MARK
        assert tables_with(WORD) == set()

    def test_rows_copied_in_are_blanked_again(self, actor, project, main) -> None:
        fact = FACTS.write_fact(actor=actor, fact_text=f"Old {WORD}").fact
        ERASURES.erase(actor=actor, scope="fact", target=str(fact.uid), confirm="test")
        erasure = Erasure.objects.get()
        Fact._base_manager.filter(uid=fact.uid).update(fact_text=f"Back {WORD}")
        found = ERASURES.verify_erasure(erasure_id=erasure.pk, actor=actor)
        assert (found.holds, found.versions_left, found.proof_holds) == (False, 1, True)
        assert replay_erasures(project.pk) == 1
        assert replay_erasures(project.pk) == 0
        assert ERASURES.verify_erasure(erasure_id=erasure.pk, actor=actor).holds

    def test_asked_by_a_merge(self, actor, project, main, other_project) -> None:
        one, other = (FACTS.write_fact(actor=actor, fact_text=text).fact.uid for text in ("One", "Other"))
        ERASURES.erase(actor=actor, scope="fact", target=str(one), confirm="test")
        assert erased_uids(project.pk, [one, other]) == {one}
        assert erased_uids(other_project.pk, [one, other]) == set()

    def test_a_session_that_goes_on(self, actor, project, main) -> None:
        write_everything(actor)
        ERASURES.erase(actor=actor, scope="session", target=SESSION, confirm=SESSION)
        assert closed_sessions(project.pk, [SESSION, "another", ""]) == {SESSION}
        agent = actor.with_origin(session_id=SESSION)
        for write in (
            lambda: FACTS.write_fact(actor=agent, fact_text="Later"),
            lambda: CONVERSATIONS.create_conversation(actor=agent, title="Later"),
            lambda: OBSERVATIONS.write_observation(
                actor=agent, observation_type="insight", summary="Later", session_id=SESSION
            ),
        ):
            with pytest.raises(Conflict, match="was erased"):
                write()
        event = {"hook_event_name": "UserPromptSubmit", "session_id": SESSION, "prompt": f"Late {WORD}"}
        IngestEngine().ingest(
            events=[event, {**event, "session_id": "fresh"}], actor=actor, client="claude-code"
        )
        assert [row.session_id for row in Message._base_manager.exclude(content=ERASED_MARK)] == ["fresh"]


@pytest.mark.usefixtures("copies_open")
class TestCopies:
    def test_a_frozen_copy_is_listed_and_refused_or_dropped(self, actor, main) -> None:
        fact = FACTS.write_fact(actor=actor, fact_text=f"Frozen {WORD}").fact
        SNAPSHOTS.create_store_snapshot(name="nightly", actor=actor)
        WorkspaceEngine().create_workspace(name="cleaning", actor=actor)
        plan = ERASURES.preview_erasure(actor=actor, scope="fact", target=str(fact.uid))
        assert [(one.kind, one.name) for one in plan.copies] == [
            ("snapshot", "nightly"),
            ("workspace", "cleaning"),
        ]
        with pytest.raises(Conflict, match=r"2 copies .*snapshot nightly, workspace cleaning"):
            ERASURES.erase(actor=actor, scope="fact", target=str(fact.uid), confirm="test")
        assert FACTS.get_fact(fact_id=fact.uid, actor=actor).fact_text == f"Frozen {WORD}"
        assert not Erasure.objects.exists()
        done = ERASURES.erase(
            actor=actor, scope="fact", target=str(fact.uid), confirm="test", drop_copies=True
        )
        assert (done.state, done.dropped) == ("done", ["snapshot nightly", "workspace cleaning"])
        assert SNAPSHOTS.list_snapshots(actor=actor).results == []
        if ON_SQLITE:
            assert files_with(WORD) == {}

    def test_of_another_project(self, actor, main, other_project) -> None:
        fact = FACTS.write_fact(actor=actor, fact_text="Frozen").fact
        theirs = Actor(other_project.pk, "local", scopes=frozenset({"admin"}))
        SNAPSHOTS.create_store_snapshot(name="secret name", actor=theirs)
        (copy,) = ERASURES.preview_erasure(actor=actor, scope="fact", target=str(fact.uid)).copies
        assert (copy.own, copy.name) == (False, "")
        key = Actor(actor.project_id, "key", "1", "k", frozenset({"admin"}))
        with pytest.raises(Conflict, match="other projects"):
            ERASURES.erase(actor=key, scope="fact", target=str(fact.uid), confirm="test", drop_copies=True)
        done = ERASURES.erase(
            actor=actor, scope="fact", target=str(fact.uid), confirm="test", drop_copies=True
        )
        assert done.state == "done"


class TestRefused:
    def test_another_name(self, actor, main) -> None:
        fact = FACTS.write_fact(actor=actor, fact_text="Keep me").fact
        with pytest.raises(Invalid, match="nothing was erased"):
            ERASURES.erase(actor=actor, scope="fact", target=str(fact.uid), confirm="tset")
        assert not Erasure.objects.exists()
        assert FACTS.get_fact(fact_id=fact.uid, actor=actor).fact_text == "Keep me"

    def test_without_the_right(self, actor, project, main) -> None:
        fact = FACTS.write_fact(actor=actor, fact_text="Keep me").fact
        for weak in (
            Actor(project.pk, "key", "1", "k", frozenset({"merge"})),
            Actor(project.pk, "key", "1", "k", frozenset({"admin"}), branch_patterns=("task/*",)),
        ):
            for call in (
                lambda weak=weak: ERASURES.preview_erasure(actor=weak, scope="fact", target=str(fact.uid)),
                lambda weak=weak: ERASURES.erase(
                    actor=weak, scope="fact", target=str(fact.uid), confirm="test"
                ),
            ):
                with pytest.raises(Exception) as caught:  # noqa: PT011
                    call()
                assert caught.value.status == 403
        with pytest.raises(ScopeMissing):
            ERASURES.list_erasures(actor=Actor(project.pk, "key", scopes=frozenset({"merge"})))
        assert FACTS.get_fact(fact_id=fact.uid, actor=actor).fact_text == "Keep me"

    def test_what_another_project_holds(self, actor, main, other_project) -> None:
        theirs = Actor(other_project.pk, "local", scopes=frozenset({"admin"}))
        made = write_everything(theirs)
        for scope, target in (
            ("fact", str(made["fact"].uid)),
            ("session", SESSION),
            ("agent", "ada"),
            ("match", WORD),
        ):
            with pytest.raises(NotFound):
                ERASURES.erase(actor=actor, scope=scope, target=target, confirm="test")
        done = ERASURES.erase(actor=theirs, scope="session", target=SESSION, confirm=SESSION)
        with pytest.raises(NotFound):
            ERASURES.get_erasure(erasure_id=done.pk, actor=actor)

    def test_twice(self, actor, main) -> None:
        fact = FACTS.write_fact(actor=actor, fact_text="Once").fact
        ERASURES.erase(actor=actor, scope="fact", target=str(fact.uid), confirm="test")
        with pytest.raises(Conflict, match="erased already"):
            ERASURES.erase(actor=actor, scope="fact", target=str(fact.uid), confirm="test")
        assert Erasure.objects.count() == 1

    def test_a_person_is_no_agent(self, actor, project, main) -> None:
        mira = Actor(project.pk, "user", "7", "mira", frozenset({"write"}))
        FACTS.write_fact(actor=mira, fact_text="Written on a page")
        FACTS.write_fact(actor=mira.with_origin(agent_id="ada"), fact_text="Written by a program")
        for name in ("mira", "7"):
            with pytest.raises(NotFound):
                ERASURES.preview_erasure(actor=actor, scope="agent", target=name)
        plan = ERASURES.preview_erasure(actor=actor, scope="agent", target="ada")
        assert [one.line for one in plan.examples] == ["Written by a program"]

    @pytest.mark.parametrize(
        ("scope", "target", "error"),
        [
            ("fact", "no id", NotFound),
            ("match", "abc", Invalid),
            ("branch", "main", Invalid),
            ("agent", "x", NotFound),
        ],
    )
    def test_what_is_nothing(self, actor, main, scope, target, error) -> None:
        with pytest.raises(error):
            ERASURES.preview_erasure(actor=actor, scope=scope, target=target)


class TestOthersMeanwhile:
    def test_who_writes_the_same_fact(self, actor, main) -> None:
        """A writer that copies the text forward all the time brings none of it past the erasure."""
        fact = FACTS.write_fact(actor=actor, fact_text=f"Busy {WORD}").fact
        other = FACTS.write_fact(actor=actor, fact_text="Untouched").fact
        refused, written = threading.Event(), []

        def keep_writing() -> None:
            try:
                for number in range(10_000):
                    new = {"confidence": number % 10 / 10}
                    FACTS.update_fact(fact_id=fact.uid, updates=new, actor=actor)
                    written.append(number)
            except Conflict:
                refused.set()
                FACTS.update_fact(fact_id=other.uid, updates={"confidence": 0.1}, actor=actor)
            finally:
                connection.close()

        writer = threading.Thread(target=keep_writing)
        writer.start()
        while len(written) < 5:
            time.sleep(0.01)
        done = ERASURES.erase(actor=actor, scope="fact", target=str(fact.uid), confirm="test")
        writer.join(TIMEOUT_SECONDS)
        assert (done.state, refused.is_set()) == ("done", True)
        assert tables_with(WORD) == set()
        assert FACTS.get_fact(fact_id=other.uid, actor=actor).confidence == 0.1
        if ON_SQLITE:
            assert files_with(WORD) == {}

    @pytest.mark.nightly
    @pytest.mark.slow
    @only_on_sqlite
    @pytest.mark.parametrize("seed", range(3 if is_thorough() else 1))
    def test_who_writes_everything_else(self, actor, main, monkeypatch, seed) -> None:
        """Rows longer than a page, rebalanced pages and freed ones: no byte is left, nothing else is hurt.

        Others write all the time, also between the steps in which full-text tables are merged.
        """
        monkeypatch.setattr(overwriting, "MERGED_PAGES", 20)
        random, texts = Random(seed), {}
        for _ in range(12):
            batch = [{"fact_text": make_text(random, word)} for word in (WORD, "") for _ in range(15)]
            facts = [one.fact for one in FACTS.write_facts(facts=batch, actor=actor).results]
            texts |= {fact.uid: [fact.fact_text] for fact in facts}
            for uid in random.sample(sorted(texts), 10):
                texts[uid].append(make_text(random, random.choice((WORD, ""))))
                FACTS.update_fact(fact_id=uid, updates={"fact_text": texts[uid][-1]}, actor=actor)
        with busy_writers(actor) as written:
            done = ERASURES.erase(actor=actor, scope="match", target=WORD, confirm="test")
        assert (done.state, done.waits_for) == ("done", "")
        assert written
        assert files_with(WORD) == {}
        with connection.cursor() as cursor:
            assert cursor.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
            for table in ("memory_fact_fts", "memory_fact_fts_closed"):
                cursor.execute(f"INSERT INTO {table}({table}) VALUES ('integrity-check')")
        main.refresh_from_db()
        shown = {row.uid: row.fact_text for row in Fact.objects.on(main).fetch_all()}
        expected = {
            uid: ERASED_MARK if any(WORD in one for one in each) else each[-1] for uid, each in texts.items()
        }
        assert {uid: shown[uid] for uid in texts} == expected
        assert all(text in shown.values() for text in written)


def make_text(random: Random, word: str) -> str:
    words = (str(random.randrange(10**8)) for _ in range(random.choice((3, 30, 300, 900, 2500))))
    return " ".join(f"{one} {word}" if random.random() < 0.3 else one for one in words) + word


@contextmanager
def busy_writers(actor: Any) -> Iterator[list[str]]:
    """Let two threads write facts and change them; give the texts that were written."""
    ends, written = threading.Event(), []

    def keep_writing(name: str) -> None:
        try:
            for number in count():
                text = f"Busy {name} {number} {'pad ' * (number % 9 * 200)}".strip()
                fact = FACTS.write_fact(actor=actor, fact_text=text).fact
                FACTS.update_fact(fact_id=fact.uid, updates={"confidence": 0.1}, actor=actor)
                written.append(text)
                if ends.is_set():
                    return
        finally:
            connection.close()

    threads = [threading.Thread(target=keep_writing, args=(name,)) for name in "ab"]
    for thread in threads:
        thread.start()
    try:
        yield written
    finally:
        ends.set()
        for thread in threads:
            thread.join(TIMEOUT_SECONDS)


class TestProof:
    def test_it_is_audited_without_content(self, actor, project, main) -> None:
        write_everything(actor)
        done = ERASURES.erase(actor=actor, scope="match", target=WORD, confirm="test")
        entries = AuditEntry.objects.filter(action__startswith="erasure.").order_by("id")
        assert [entry.action for entry in entries] == ["erasure.begin", "erasure.done"]
        assert entries[1].detail["proof"] == done.proof
        assert (len(done.proof), done.target, done.pattern) == (64, "", "")
        assert not ErasedMemory.objects.exclude(salt="").exists()
        assert ErasedMemory.objects.filter(digest="").count() == 0
        assert ERASURES.verify_erasure(erasure_id=done.pk, actor=actor).holds

    @pytest.mark.nightly
    @pytest.mark.slow
    @pytest.mark.parametrize("number", STOPS if is_thorough() else STOPS[::3])
    def test_an_interrupted_one_is_finished(self, actor, main, number) -> None:
        """Whatever statement is the last before a crash, a sweep finishes the erasure."""
        texts = [f"{WORD} number {n}" for n in range(250)]  # more than one batch
        FACTS.write_facts(facts=[{"fact_text": text} for text in texts], actor=actor)
        write_everything(actor)
        prepare_traces(actor)
        with connection.execute_wrapper(StopAt(number)), pytest.raises(KeyboardInterrupt):
            ERASURES.erase(actor=actor, scope="match", target=WORD, confirm="test")
        if not Erasure.objects.exists():  # before it was recorded nothing is changed
            assert Fact._base_manager.filter(fact_text__contains=WORD).count() > 250
            return
        (erasure,) = ERASURES.list_erasures(actor=actor, state="pending").results
        uids = Fact._base_manager.filter(fact_text__startswith=WORD).values_list("uid", flat=True)
        assert erased_uids(actor.project_id, uids) == set(uids)
        assert ERASURES.finish_pending() == 1
        assert tables_with(WORD) == set()
        if ON_SQLITE:
            assert files_with(WORD) == {}
        assert ERASURES.verify_erasure(erasure_id=erasure.pk, actor=actor).holds
        assert ERASURES.finish_pending() == 0


class StopAt:
    """Interrupts the process at the n-th statement."""

    def __init__(self, n: int) -> None:
        self.left = n

    def __call__(self, execute: Any, *args: Any) -> Any:
        self.left -= 1
        if self.left < 0:
            raise KeyboardInterrupt
        return execute(*args)
