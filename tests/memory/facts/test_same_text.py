"""Deduplication: the same text is stored once, also by concurrent writers."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection
from django.utils import timezone

from memory.exceptions import (
    StaleVersion,
)
from memory.models import AuditEntry, Branch, Commit, Confirmation, Fact, Session
from tests.memory.facts.helpers import SOON, fact_engine, lasting


@pytest.mark.django_db
class TestSameText:
    @pytest.mark.parametrize(
        ("one", "other"),
        [
            ("Straße gesperrt", "STRASSE  gesperrt"),
            ("caf\u00e9 closed", "cafe\u0301 CLOSED"),
            (" two\n\nlines ", "two lines"),
            ("ﬁle № 5", "file No 5"),
            ("ΣΊΣΥΦΟΣ", "σίσυφος"),
            ("ｆｕｌｌ", "full"),
            ("a\u00a0b", "a b"),
        ],
    )
    def test_spelling_that_carries_no_meaning(self, write, one, other, main):
        first = write(one)
        again = write(other)
        assert (again.created, again.fact.uid, again.fact.fact_text) == (False, first.fact.uid, one)
        assert (again.fact.version, main.pk, Branch.objects.get(pk=main.pk).head) == (1, main.pk, 1)

    def test_other_texts_are_other_facts(self, write, main):
        assert write("a.").created
        assert write("a").created
        assert write("ä").created

    def test_each_other_source_confirms_once(self, write, actor, main):
        uid = write(session_id="s1", agent_id="a1").fact.uid
        said = [
            ({"session_id": "s1", "agent_id": "a1"}, 0),
            ({}, 0),
            ({"session_id": "s2"}, 1),
            ({"session_id": "s2"}, 1),
            ({"session_id": "s2", "agent_id": "a2"}, 1),
            ({"agent_id": "a3"}, 2),
            ({"agent_id": "a3"}, 2),
            ({"session_id": "s3"}, 3),
        ]
        for source, count in said:
            again = write("THE cache is cleared every night.", **source)
            assert (again.created, again.fact.uid, again.fact.confirmation_count) == (False, uid, count)
            assert again.fact.version == 1
        assert fact_engine.get_fact(fact_id=uid, actor=actor).confirmation_count == 3
        found = Confirmation.objects.order_by("id").values_list("source", flat=True)
        assert list(found) == ["session:s2", "agent:a3", "session:s3"]
        commits = Commit.objects.order_by("seq").values_list("seq", "added", "changed", "removed")
        assert list(commits) == [(1, 1, 0, 0), (2, 0, 0, 0), (3, 0, 0, 0), (4, 0, 0, 0)]
        assert AuditEntry.objects.count() == 4

    def test_what_comes_again_changes_nothing_else(self, write, main):
        write(category="decision", confidence=0.5, tags=["a"], session_id="s1")
        again = write(category="error", confidence=0.9, tags=["b"], session_id="s2").fact
        assert (again.category, again.confidence, again.tags, again.session_id) == (
            "decision",
            0.5,
            ["a"],
            "s1",
        )

    def test_what_is_not_current_does_not_match(self, write, actor, main):
        expired = write("Expired.", expires_at=timezone.now() - SOON).fact
        archived, wrong, replaced = (write(text).fact for text in ("Archived.", "Wrong.", "Replaced."))
        deleted = write("Deleted.").fact
        fact_engine.archive_fact(fact_id=archived.uid, actor=actor)
        fact_engine.set_verification(fact_id=wrong.uid, verdict="invalidated", actor=actor)
        fact_engine.supersede_fact(old_fact_id=replaced.uid, new_fact_text="The new one.", actor=actor)
        fact_engine.delete_fact(fact_id=deleted.uid, actor=actor)
        for old in (expired, archived, wrong, replaced, deleted):
            again = write(old.fact_text)
            assert again.created is True
            assert again.fact.uid != old.uid
            assert write(old.fact_text).fact.uid == again.fact.uid

    def test_what_expires_later_and_what_is_verified_matches(self, write, actor, main):
        later = write("Later.", expires_at=timezone.now() + SOON).fact
        fact_engine.set_verification(fact_id=later.uid, verdict="verified", actor=actor)
        assert write("Later.").fact.uid == later.uid

    def test_what_is_done_matches(self, write, actor, main):
        task = write("Do it.", kind="TASK").fact
        fact_engine.update_fact(fact_id=task.uid, updates={"status": "done"}, actor=actor)
        assert write("Do it.").created is False

    def test_it_can_be_turned_off(self, write, main):
        first, second = write(), write(deduplicate=False)
        assert second.created is True
        assert write().fact.uid == min(first.fact.uid, second.fact.uid)

    def test_inside_one_bulk(self, actor, main):
        rows = [("Once.", "s1"), ("ONCE.", "s1"), ("once. ", "s2"), ("Twice.", "s1"), ("once.", "s2")]
        facts = [{"fact_text": text, "session_id": session} for text, session in rows]
        done = fact_engine.write_facts(facts=facts, actor=actor)
        assert [row.created for row in done.results] == [True, False, False, True, False]
        first = done.results[0].fact
        assert [row.fact.uid for row in done.results[1:3]] == [first.uid, first.uid]
        assert (first.confirmation_count, done.results[3].fact.confirmation_count) == (1, 0)
        assert (done.commit.added, Confirmation.objects.count(), Session.objects.count()) == (2, 1, 2)

    def test_inside_one_bulk_when_turned_off(self, actor, main):
        done = fact_engine.write_facts(facts=[{"fact_text": "x"}] * 3, actor=actor, deduplicate=False)
        assert [row.created for row in done.results] == [True, True, True]
        assert len({row.fact.uid for row in done.results}) == 3

    def test_on_a_child_branch(self, write, child, actor, main):
        uid = write(session_id="s1").fact.uid
        child()
        again = write(branch="task/a", session_id="s2")
        assert (again.created, again.fact.uid, again.fact.confirmation_count) == (False, uid, 1)
        assert fact_engine.get_fact(fact_id=uid, actor=actor).confirmation_count == 0
        assert fact_engine.get_fact(fact_id=uid, actor=actor, branch_name="task/a").branch_id == main.pk
        assert write("Only there.", branch="task/a").created
        assert write("Only there.").created  # not visible on main

    def test_what_the_parent_learned_after_the_fork_does_not_match(self, write, child, main):
        child()
        first = write().fact
        again = write(branch="task/a")
        assert again.created is True
        assert again.fact.uid != first.uid

    def test_a_verdict_on_a_branch_decides_there_alone(self, write, child, actor, main):
        uid = write().fact.uid
        child()
        fact_engine.set_verification(fact_id=uid, verdict="invalidated", actor=actor, branch_name="task/a")
        assert write(branch="task/a").created is True
        assert write().created is False

    def test_what_was_written_is_found_although_it_was_proposed(self, write, search, main):
        write("Alpha beta.", propose=True)
        write("Alpha beta.")
        assert search("alpha") == ["Alpha beta."]

    def test_what_is_true_again_is_found(self, write, search, main):
        write("Alpha beta.", valid_until=timezone.now() - SOON)
        write("Alpha beta.")
        assert search("alpha") == ["Alpha beta."]


@lasting
class TestAtTheSameTime:
    def test_one_text_from_many_writers_is_one_fact(self, actor, main):
        def one(i):
            try:
                return fact_engine.write_fact(fact_text="Same.", actor=actor, session_id=f"s{i % 2}").created
            finally:
                connection.close()

        with ThreadPoolExecutor(4) as pool:
            created = list(pool.map(one, range(8)))
        assert sorted(created) == [False] * 7 + [True]
        assert (Fact._base_manager.count(), Session.objects.count(), Confirmation.objects.count()) == (
            1,
            2,
            1,
        )

    def test_one_session_begins_once_although_branches_race(self, actor, main, child):
        names = [child(f"task/{i}").name for i in range(4)]

        def one(i):
            try:
                fact_engine.write_fact(
                    fact_text=f"{i}", actor=actor, session_id="s", branch_name=names[i % 4]
                )
            finally:
                connection.close()

        with ThreadPoolExecutor(4) as pool:
            list(pool.map(one, range(8)))
        session = Session.objects.get()
        assert (session.key, session.project_id, session.status) == ("s", actor.project_id, "active")
        assert Fact._base_manager.count() == 8

    def test_of_updates_of_one_version_one_wins(self, actor, main, write):
        uid = write().fact.uid

        def one(i):
            try:
                fact_engine.update_fact(
                    fact_id=uid, updates={"confidence": i / 10}, actor=actor, expected_version=1
                )
                return "won"
            except StaleVersion as error:
                return error.data["current"]
            finally:
                connection.close()

        with ThreadPoolExecutor(4) as pool:
            results = list(pool.map(one, range(1, 7)))
        assert sorted(map(str, results)) == ["2"] * 5 + ["won"]
        assert [v.version for v in fact_engine.list_versions(fact_id=uid, actor=actor)] == [2, 1]
        assert Branch.objects.get(pk=main.pk).head == 2
