"""Deletion of facts, and their history."""

from uuid import uuid4

import pytest
from django.db import connection

from memory.engines.support.pagination import OTHER_LIST
from memory.exceptions import (
    Invalid,
    NotFound,
)
from memory.models import AuditEntry, Branch, Commit, Fact
from memory.models.nodes import new_rid
from tests.memory.facts.helpers import fact_engine, refused


@pytest.mark.django_db
class TestDelete:
    def test_hides_and_keeps_the_history(self, write, actor, search, main):
        fact = write("Alpha.").fact
        fact_engine.update_fact(fact_id=fact.uid, updates={"fact_text": "Alpha beta."}, actor=actor)
        assert fact_engine.delete_fact(fact_id=fact.uid, actor=actor, expected_version=2) is None
        with refused(NotFound):
            fact_engine.get_fact(fact_id=fact.uid, actor=actor)
        with refused(NotFound):
            fact_engine.delete_fact(fact_id=fact.uid, actor=actor)
        assert search("alpha") == []
        assert fact_engine.list_facts(actor=actor).results == []
        versions = fact_engine.list_versions(fact_id=fact.uid, actor=actor)
        assert [(v.version, v.deleted, v.fact_text) for v in versions] == [
            (3, True, "Alpha beta."),
            (2, False, "Alpha beta."),
            (1, False, "Alpha."),
        ]
        assert [v.commit.kind for v in versions] == ["fact.delete", "fact.update", "fact.write"]
        commit, entry = Commit.objects.get(seq=3), AuditEntry.objects.get(action="fact.delete")
        assert (commit.added, commit.changed, commit.removed) == (0, 0, 1)
        assert entry.target == str(fact.uid)

    def test_written_again_it_is_another(self, write, actor, main):
        first = write().fact
        fact_engine.delete_fact(fact_id=first.uid, actor=actor)
        again = write()
        assert again.created is True
        assert again.fact.uid != first.uid
        assert again.fact.version == 1

    def test_on_a_branch_alone(self, write, actor, child, search, main):
        uid = write("Alpha.").fact.uid
        child()
        fact_engine.delete_fact(fact_id=uid, actor=actor, branch_name="task/a")
        assert (search("alpha"), search("alpha", branch="task/a")) == (["Alpha."], [])
        assert fact_engine.get_fact(fact_id=uid, actor=actor).version == 1
        versions = fact_engine.list_versions(fact_id=uid, actor=actor, branch_name="task/a")
        assert [v.deleted for v in versions] == [True, False]

    def test_in_the_parent_alone(self, write, actor, child, search, main):
        uid = write("Alpha.").fact.uid
        child()
        fact_engine.delete_fact(fact_id=uid, actor=actor)
        assert (search("alpha"), search("alpha", branch="task/a")) == ([], ["Alpha."])
        assert fact_engine.get_fact(fact_id=uid, actor=actor, branch_name="task/a").version == 1

    def test_before_it_was_deleted_it_is_there(self, write, actor, search, main):
        uid = write("Alpha.").fact.uid
        fact_engine.delete_fact(fact_id=uid, actor=actor)
        assert fact_engine.get_fact(fact_id=uid, actor=actor, at=1).fact_text == "Alpha."
        assert search("alpha", at=1) == ["Alpha."]


def repeat_version(row, versions):
    """Insert a stored row again as later versions: to build each as an object takes longer than to read."""
    columns = [field.column for field in Fact._meta.concrete_fields]
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {', '.join(columns)} FROM memory_fact WHERE rid = %s", [row.pk])
        stored = dict(zip(columns, cursor.fetchone(), strict=True)) | {"slot": None}
        changed = (
            {"rid": new_rid(), "seq_from": n, "seq_to": n + 1, "vid": n, "version": n} for n in versions
        )
        marks = ", ".join(["%s"] * len(columns))
        cursor.executemany(
            f"INSERT INTO memory_fact ({', '.join(columns)}) VALUES ({marks})",
            [list((stored | values).values()) for values in changed],
        )


@pytest.mark.django_db
class TestHistory:
    def test_of_what_never_was(self, actor, main):
        with refused(NotFound):
            fact_engine.list_versions(fact_id=uuid4(), actor=actor)

    def test_leads_to_what_the_branch_shows(self, write, actor, child, main):
        uid = write("Zero.").fact.uid
        child()
        fact_engine.update_fact(fact_id=uid, updates={"fact_text": "On main."}, actor=actor)
        fact_engine.update_fact(
            fact_id=uid, updates={"fact_text": "On a."}, actor=actor, branch_name="task/a"
        )
        shown = {
            name: fact_engine.list_versions(fact_id=uid, actor=actor, branch_name=name)
            for name in ("main", "task/a")
        }
        assert [v.fact_text for v in shown["main"]] == ["On main.", "Zero."]
        assert [v.fact_text for v in shown["task/a"]] == ["On a.", "Zero."]
        assert [(v.commit.branch.name, v.commit.seq) for v in shown["task/a"]] == [("task/a", 1), ("main", 1)]

    @pytest.mark.slow
    def test_of_very_many_versions(self, write, actor, main):
        first = write().fact
        repeat_version(first, range(2, 1001))
        Branch.objects.filter(pk=main.pk).update(head=1000)
        page = fact_engine.list_versions(fact_id=first.uid, actor=actor, limit=100)
        versions = [version.version for version in page]
        while page.next:
            page = fact_engine.list_versions(fact_id=first.uid, actor=actor, limit=100, cursor=page.next)
            assert len(page) == 100
            versions += [version.version for version in page]
        assert versions == list(range(1000, 0, -1))

    def test_in_pages_as_the_first_one_saw_it(self, write, actor, child, main):
        uid = write("Text 1.").fact.uid
        for i in range(2, 6):
            fact_engine.update_fact(fact_id=uid, updates={"fact_text": f"Text {i}."}, actor=actor)
        first = fact_engine.list_versions(fact_id=uid, actor=actor, limit=2)
        fact_engine.update_fact(fact_id=uid, updates={"fact_text": "Text 6."}, actor=actor)
        second = fact_engine.list_versions(fact_id=uid, actor=actor, limit=2, cursor=first.next)
        third = fact_engine.list_versions(fact_id=uid, actor=actor, limit=2, cursor=second.next)
        assert [[v.version for v in page] for page in (first, second, third)] == [[5, 4], [3, 2], [1]]
        assert [v.commit.kind for page in (first, third) for v in page] == ["fact.update"] * 2 + [
            "fact.write"
        ]
        assert (first.previous, third.next) == (None, None)
        back = fact_engine.list_versions(fact_id=uid, actor=actor, limit=2, cursor=third.previous)
        assert back == second
        child()
        for where in ({"branch_name": "task/a"}, {"fact_id": write("Another.").fact.uid}):
            with refused(Invalid) as caught:
                fact_engine.list_versions(**{"fact_id": uid, "actor": actor, "cursor": first.next, **where})
            assert str(caught.value) == OTHER_LIST

    @pytest.mark.parametrize("key", ["-1", "x", "1.5", "", "9" * 30, "\u0665"])
    def test_a_cursor_that_was_made_up(self, write, actor, main, key):
        from memory.engines.support.pagination import list_fingerprint, write_cursor

        uid = write().fact.uid
        mark = list_fingerprint(Fact.objects.history(main.lineage(1), uid))
        with refused(Invalid):
            fact_engine.list_versions(
                fact_id=uid, actor=actor, cursor=write_cursor({"key": key, "list": mark, "seq": 1})
            )
