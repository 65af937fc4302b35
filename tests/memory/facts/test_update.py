"""Updates of facts."""

from uuid import uuid4

import pytest

from memory.exceptions import (
    IllegalTransition,
    Invalid,
    NotFound,
    ReservedValue,
    StaleVersion,
    TooLarge,
    UnknownField,
)
from memory.models import AuditEntry, Commit
from tests.memory.facts.helpers import FULL, NO_REFLECTION, everything, fact_engine, lasting


@pytest.mark.django_db
class TestUpdate:
    def test_without_a_change_it_is_the_same_version(self, write, actor, main):
        fact = write(tags=["a"], metadata={"b": [1]}, valid_from="2026-01-01").fact
        before = everything()
        same = {
            "fact_text": fact.fact_text,
            "essence": fact.essence,
            "category": "general",
            "confidence": 0.7,
            "status": "active",
            "tags": ["a"],
            "metadata": {"b": [1]},
            "valid_from": "2026-01-01T01:00:00+01:00",
        }
        for updates in ({}, same):
            again = fact_engine.update_fact(fact_id=fact.uid, updates=updates, actor=actor)
            assert (again.version, again.rid) == (1, fact.rid)
        assert everything() == before

    def test_a_change_is_a_new_version(self, write, actor, main):
        fact = write(session_id="s1").fact
        new = fact_engine.update_fact(
            fact_id=fact.uid, updates={"fact_text": "It is never cleared.", "confidence": 1}, actor=actor
        )
        assert (new.uid, new.version, new.fact_text, new.confidence) == (
            fact.uid,
            2,
            "It is never cleared.",
            1.0,
        )
        assert (new.created_at, new.session_id, new.prev_vid) == (fact.created_at, "s1", fact.vid)
        assert new.updated_at > fact.updated_at
        commit, entry = Commit.objects.get(seq=2), AuditEntry.objects.get(action="fact.update")
        assert (commit.kind, commit.added, commit.changed, commit.removed) == ("fact.update", 0, 1, 0)
        assert entry.target == str(fact.uid)

    def test_numbers_and_truth_values_differ(self, write, actor, main):
        fact = write(metadata={"n": 1}).fact
        new = fact_engine.update_fact(fact_id=fact.uid, updates={"metadata": {"n": True}}, actor=actor)
        assert (new.version, new.metadata) == (2, {"n": True})
        assert fact_engine.get_fact(fact_id=fact.uid, actor=actor).metadata["n"] is True

    def test_times_can_be_taken_away(self, write, actor, main):
        fact = write(valid_from="2026-01-01", valid_until="2026-02-01", expires_at="2027-01-01").fact
        updates = {"valid_from": None, "valid_until": None, "expires_at": None}
        new = fact_engine.update_fact(fact_id=fact.uid, updates=updates, actor=actor)
        assert (new.valid_from, new.valid_until, new.expires_at) == (None, None, None)

    def test_the_essence_follows_the_text_unless_it_was_given(self, write, actor, main):
        made, given = write("First text.").fact, write("Second text.", essence="Mine").fact
        for fact, essence in ((made, "Other text."), (given, "Mine")):
            new = fact_engine.update_fact(fact_id=fact.uid, updates={"fact_text": "Other text."}, actor=actor)
            assert new.essence == essence
        both = fact_engine.update_fact(
            fact_id=made.uid, updates={"fact_text": "x", "essence": "y"}, actor=actor
        )
        assert (both.fact_text, both.essence) == ("x", "y")

    def test_the_search_follows(self, write, actor, search, main):
        fact = write("Alpha beta.").fact
        fact_engine.update_fact(fact_id=fact.uid, updates={"fact_text": "Gamma delta."}, actor=actor)
        assert (search("alpha"), search("gamma")) == ([], ["Gamma delta."])

    def test_the_version_that_is_expected(self, write, actor, main):
        fact = write().fact
        fact_engine.update_fact(fact_id=fact.uid, updates={"priority": "P1"}, actor=actor, expected_version=1)
        assert fact_engine.get_fact(fact_id=fact.uid, actor=actor).version == 2

    @lasting
    def test_what_is_refused_leaves_nothing_behind(self, write, actor, main):
        fact = write(valid_from="2026-01-01", created_cycle=4, kind="TASK").fact
        before = everything()
        one = {"fact_id": fact.uid, "actor": actor}
        for updates, error, message in [
            ({"fact_text": " "}, Invalid, "fact_text may not be empty."),
            ({"fact_text": FULL + "a"}, TooLarge, "fact_text is over the limit of 64 KiB."),
            ({"confidence": 1.2}, Invalid, "confidence must be a number from 0 to 1."),
            ({"valid_until": "2025-01-01"}, Invalid, "valid_until must be later than valid_from."),
            ({"updated_cycle": 3}, Invalid, "updated_cycle may not be before created_cycle."),
            (
                {"kind": "REFLECTION"},
                ReservedValue,
                NO_REFLECTION,
            ),
            ({"parent_id": None}, UnknownField, "There is no field named parent_id."),
            ({"origin": "EXPERIENCE"}, UnknownField, "There is no field named origin."),
            ({"source_type": "import"}, UnknownField, "There is no field named source_type."),
            ({"session_id": "s"}, UnknownField, "There is no field named session_id."),
            (
                {"verification_status": "verified"},
                UnknownField,
                "There is no field named verification_status.",
            ),
            (
                {"status": "superseded"},
                IllegalTransition,
                "A fact is superseded by writing the one that replaces it.",
            ),
            ({"status": "created"}, IllegalTransition, "A fact that is active cannot become created."),
            (
                {"status": "gone"},
                Invalid,
                "status must be one of active, archived, created, done, superseded.",
            ),
            (
                {"status": "done", "kind": "NOTE"},
                IllegalTransition,
                "Only a fact of the kind TASK can be done.",
            ),
        ]:
            with pytest.raises(error) as caught:
                fact_engine.update_fact(updates={"priority": "P1", **updates}, **one)
            assert str(caught.value) == message
            assert everything() == before
        changes = [
            lambda **w: fact_engine.update_fact(updates={"priority": "P1"}, **w),
            fact_engine.archive_fact,
            fact_engine.delete_fact,
            lambda fact_id, **w: fact_engine.supersede_fact(old_fact_id=fact_id, new_fact_text="x", **w),
        ]
        for change in changes:
            with pytest.raises(StaleVersion) as stale:
                change(**one, expected_version=2)
            assert str(stale.value) == "The fact is at version 1, not 2: read it again."
            with pytest.raises(NotFound) as absent:
                change(fact_id=uuid4(), actor=actor)
            assert str(absent.value) == "Nothing with this id is visible here."
            assert everything() == before

    def test_on_a_branch_the_parent_keeps_its_own(self, write, actor, child, main):
        fact = write("Alpha.").fact
        branch = child()
        new = fact_engine.update_fact(
            fact_id=fact.uid,
            updates={"fact_text": "Beta."},
            actor=actor,
            branch_name="task/a",
            expected_version=1,
        )
        assert (new.branch_id, new.version, new.seq_from) == (branch.pk, 2, 1)
        assert fact_engine.get_fact(fact_id=fact.uid, actor=actor).fact_text == "Alpha."
        fact_engine.update_fact(fact_id=fact.uid, updates={"fact_text": "Gamma."}, actor=actor)
        assert fact_engine.get_fact(fact_id=fact.uid, actor=actor, branch_name="task/a").fact_text == "Beta."
