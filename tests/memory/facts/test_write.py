"""Writes of facts: their fields, and their author."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from memory.db.bulk_sql import build_row
from memory.exceptions import AgentForbidden
from memory.models import OPEN, AuditEntry, Commit, Fact, Session
from memory.models.usage import forget_known
from tests.memory.facts.helpers import everything, fact_engine, refused


@pytest.mark.django_db
class TestWrite:
    def test_what_is_not_given_has_a_default(self, write, main):
        written = write()
        fact = written.fact
        assert written.created is True
        assert (fact.essence, fact.category, fact.kind) == (
            "The cache is cleared every night.",
            "general",
            "OBSERVATION",
        )
        assert (fact.priority, fact.status, fact.held_status) == ("P3", "active", "")
        assert (fact.confidence, fact.confirmation_count, fact.access_count) == (0.7, 0, 0)
        assert (fact.parent_id, fact.last_accessed_at) == (None, None)
        assert (fact.source_type, fact.source_id, fact.source) == ("manual", "", "local")
        assert (fact.origin, fact.visibility, fact.pinned) == ("EXPERIENCE", "selective", False)
        assert (fact.created_cycle, fact.updated_cycle) == (0, 0)
        assert (fact.valid_from, fact.valid_until, fact.expires_at) == (None, None, None)
        assert (fact.tags, fact.metadata) == ([], {})
        assert (fact.session_id, fact.task_id, fact.agent_id) == ("", "", "")
        assert (fact.verification_status, fact.verified_at, fact.verified_by) == ("unverified", None, "")
        assert (fact.embedding_state, fact.embedding_model) == ("off", "")
        assert (fact.branch_id, fact.version, fact.seq_from, fact.seq_to) == (main.pk, 1, 1, OPEN)
        assert fact.uid.version == 7
        assert fact.created_at == fact.updated_at == Commit.objects.get().at

    def test_every_field_is_kept(self, write, actor):
        parent = write("What was before.").fact
        given = {
            "essence": "Nightly",
            "category": "decision, or not",
            "kind": "TASK",
            "priority": "P1",
            "confidence": 0.123456789,
            "parent_id": str(parent.uid),
            "source_type": "import",
            "source_id": "row 7",
            "source": "a file",
            "origin": "SEEDED_LLM",
            "visibility": "private",
            "created_cycle": 3,
            "updated_cycle": 5,
            "valid_from": "2026-01-01T02:00:00+02:00",
            "valid_until": datetime(2026, 2, 1),
            "expires_at": "2099-01-01",
            "pinned": True,
            "tags": ["a", 'b"c', "50 %", "d\\e", "a"],
            "metadata": {"n": [1, None, {"x": "é"}]},
            "session_id": "s",
            "task_id": "t",
            "agent_id": "g",
        }
        uid = write("Everything is given.", **given).fact.uid
        fact = fact_engine.get_fact(fact_id=uid, actor=actor)
        expected = {
            **given,
            "parent_id": parent.uid,
            "valid_from": datetime(2026, 1, 1, tzinfo=UTC),
            "valid_until": datetime(2026, 2, 1, tzinfo=UTC),
            "expires_at": datetime(2099, 1, 1, tzinfo=UTC),
            "tags": ["a", 'b"c', "50 %", "d\\e"],
        }
        assert {name: getattr(fact, name) for name in expected} == expected

    def test_what_is_answered_is_what_is_read_again(self, write, actor):
        written = write("Same.", metadata={"a": (1, 2)}, tags=("x",), confidence=1).fact
        read = fact_engine.get_fact(fact_id=written.uid, actor=actor)
        names = [*Fact.content_fields(), "version", "confirmation_count", "verification_status"]
        assert {n: getattr(written, n) for n in names} == {n: getattr(read, n) for n in names}
        assert read.metadata == {"a": [1, 2]}

    def test_a_bulk_is_one_commit_in_the_order_given(self, actor, main):
        done = fact_engine.write_facts(facts=[{"fact_text": f"Fact {i}."} for i in range(1000)], actor=actor)
        assert [row.fact.fact_text for row in done.results] == [f"Fact {i}." for i in range(1000)]
        assert {row.fact.seq_from for row in done.results} == {1}
        commit = Commit.objects.get()
        assert done.commit == commit
        assert (commit.seq, commit.kind, commit.added, commit.changed, commit.removed) == (
            1,
            "fact.bulk",
            1000,
            0,
            0,
        )
        assert AuditEntry.objects.get().target == "main@1"

    def test_each_fact_of_a_bulk_has_an_origin_and_values_of_its_own(self, actor, main):
        origins = [("s", "g"), ("s", "g"), ("t", ""), ("", ""), ("s", "h")]
        facts = [
            {"fact_text": f"Fact {i}.", "session_id": session, "agent_id": agent}
            for i, (session, agent) in enumerate(origins)
        ]
        done = [row.fact for row in fact_engine.write_facts(facts=facts, actor=actor).results]
        assert [(fact.session_id, fact.agent_id) for fact in done] == origins
        done[0].tags.append("mine")
        assert [fact.tags for fact in done] == [["mine"], [], [], [], []]
        assert len({fact.uid for fact in done}) == len({fact.rid for fact in done}) == 5

    def test_a_bulk_stops_at_the_fact_of_another_agent(self, actor, main):
        bound, before = replace(actor, bound_agent="g"), everything()
        facts = [{"fact_text": "a"}, {"fact_text": "b", "agent_id": "h"}]
        with refused(AgentForbidden):
            fact_engine.write_facts(facts=facts, actor=bound)
        assert everything() == before

    def test_a_row_is_built_as_its_model_would(self):
        fact = build_row(Fact, {"fact_text": "a", "tags": ["b"]})
        by_model = Fact(fact_text="a", tags=["b"], rid=fact.rid, uid=fact.uid)
        names = [field.attname for field in Fact._meta.concrete_fields]
        assert {name: getattr(fact, name) for name in names} == {n: getattr(by_model, n) for n in names}
        assert fact._state.adding is True
        with pytest.raises(TypeError, match="Fact has no columns"):
            build_row(Fact, {"colour": "red"})

    def test_a_bulk_of_what_is_there_is_no_commit(self, write, actor, main):
        write()
        before = everything()
        done = fact_engine.write_facts(
            facts=[{"fact_text": "The cache is cleared every night."}], actor=actor
        )
        assert (done.commit, done.results[0].created) == (None, False)
        assert everything() == before

    def test_a_write_has_its_commit_and_audit_entry(self, actor, main):
        actor = replace(actor, id="7", surface="rest")
        fact = fact_engine.write_fact(
            fact_text="x", actor=actor, session_id="s", task_id="t", agent_id="g"
        ).fact
        commit, entry = Commit.objects.get(), AuditEntry.objects.get()
        who = ("local", "7", "local", "rest")
        assert (commit.actor_kind, commit.actor_id, commit.actor_label, commit.surface) == who
        assert (entry.actor_kind, entry.actor_id, entry.actor_label, entry.surface) == who
        assert (commit.session_id, commit.task_id, commit.agent_id) == ("s", "t", "g")
        assert (commit.branch_id, commit.seq, commit.added, commit.changed, commit.removed) == (
            main.pk,
            1,
            1,
            0,
            0,
        )
        assert (entry.action, entry.target) == ("fact.write", str(fact.uid))
        counts = {"branch": "main", "seq": 1, "added": 1, "changed": 0, "removed": 0}
        assert entry.detail == counts | {"agent_id": "g"}
        assert entry.at == commit.at

    def test_the_number_of_queries_does_not_grow_with_the_batch(self, actor, main):
        def queries(count, name):
            facts = [{"fact_text": f"{name} {i}", "session_id": f"{name} {i}"} for i in range(count)]
            forget_known()  # what is stored is read again after a second, in whichever of the two
            with CaptureQueriesContext(connection) as caught:
                fact_engine.write_facts(facts=facts, actor=actor)
            again = [{**fact, "session_id": "one more"} for fact in facts]
            forget_known()
            with CaptureQueriesContext(connection) as repeated:
                fact_engine.write_facts(facts=again, actor=actor)
            return len(caught), len(repeated)

        queries(1, "first")  # includes the lease of ids
        assert queries(5, "few") == queries(40, "many")


@pytest.mark.django_db
class TestSessions:
    def test_begins_with_the_first_write_that_names_it(self, write, main):
        fact = write("a", session_id="s", task_id="t", agent_id="g").fact
        write("b", session_id="s", agent_id="h")
        session = Session.objects.get()
        assert (session.key, session.branch, session.task_id, session.agent_id) == ("s", main, "t", "g")
        assert (session.status, session.started_at, session.ended_at) == ("active", fact.created_at, None)

    def test_a_confirmation_begins_one_too(self, write, main):
        write()
        write(session_id="s")
        assert Session.objects.get().key == "s"

    def test_is_of_one_project(self, write, other_project, main):
        from memory.actors import local_actor

        write(session_id="s")
        fact_engine.write_fact(fact_text="x", session_id="s", actor=local_actor(other_project.pk))
        assert Session.objects.filter(key="s").values("project").distinct().count() == 2

    def test_none_without_a_name(self, write, main):
        write()
        assert Session.objects.count() == 0

    def test_begins_with_any_write(self, write, actor, main):
        uid = write().fact.uid
        fact_engine.update_fact(fact_id=uid, updates={"priority": "P1"}, actor=replace(actor, session_id="s"))
        assert [session.key for session in Session.objects.all()] == ["s"]


@pytest.mark.django_db
class TestPropose:
    def test_is_kept_and_not_searched_until_activated(self, write, actor, search, main):
        fact = write("Alpha beta.", propose=True).fact
        assert fact.status == "created"
        assert search("alpha") == []
        assert search("alpha", include=["created"]) == ["Alpha beta."]
        assert fact_engine.get_fact(fact_id=fact.uid, actor=actor).status == "created"
        active = fact_engine.update_fact(fact_id=fact.uid, updates={"status": "active"}, actor=actor)
        assert (active.status, active.version) == ("active", 2)
        assert search("alpha") == ["Alpha beta."]

    def test_the_same_proposal_again(self, write, main):
        first = write(propose=True, session_id="s1")
        again = write(propose=True, session_id="s2")
        assert (again.created, again.fact.uid, again.fact.confirmation_count) == (False, first.fact.uid, 0)

    def test_of_what_is_known_answers_what_is_known(self, write, main):
        first = write()
        again = write(propose=True)
        assert (again.created, again.fact.status) == (False, "active")
        assert again.fact.uid == first.fact.uid

    def test_declined(self, write, actor, search, main):
        fact = write("Alpha beta.", propose=True).fact
        assert fact_engine.archive_fact(fact_id=fact.uid, actor=actor).held_status == "created"
        assert search("alpha", include=["created"]) == []
        assert fact_engine.restore_fact(fact_id=fact.uid, actor=actor).status == "created"
