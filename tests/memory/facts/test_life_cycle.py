"""The life cycle of facts: superseded, archived and restored, by its rules."""

from typing import Any

import pytest

from memory.exceptions import (
    IllegalTransition,
    Invalid,
    ReservedValue,
)
from memory.models import AuditEntry, Commit, Fact
from tests.memory.facts.helpers import (
    NO_REFLECTION,
    branch_manager,
    everything,
    fact_engine,
    lasting,
    refused,
)


@pytest.mark.django_db
class TestSupersede:
    def test_the_old_stays_and_the_new_takes_over(self, write, actor, search, main):
        old = write(
            "Alpha is fifteen.",
            category="security",
            kind="BELIEF",
            priority="P1",
            tags=["x"],
            visibility="private",
            session_id="s1",
        ).fact
        new = fact_engine.supersede_fact(
            old_fact_id=old.uid,
            new_fact_text="Alpha is thirty.",
            actor=actor,
            confidence=0.9,
            session_id="s2",
        )
        assert (new.parent_id, new.status, new.version, new.confidence) == (old.uid, "active", 1, 0.9)
        assert (new.category, new.kind, new.priority, new.tags, new.visibility) == (
            "security",
            "BELIEF",
            "P1",
            ["x"],
            "private",
        )
        assert (new.essence, new.session_id) == ("Alpha is thirty.", "s2")
        held = fact_engine.get_fact(fact_id=old.uid, actor=actor)
        assert (held.status, held.version, held.fact_text) == ("superseded", 2, "Alpha is fifteen.")
        assert search("alpha") == ["Alpha is thirty."]
        assert sorted(search("alpha", include=["superseded"])) == ["Alpha is fifteen.", "Alpha is thirty."]
        commit = Commit.objects.get(seq=2)
        assert (commit.kind, commit.added, commit.changed, commit.session_id) == (
            "fact.supersede",
            1,
            1,
            "s2",
        )
        assert AuditEntry.objects.get(action="fact.supersede").target == str(new.uid)

    def test_what_is_given_is_not_taken_over(self, write, actor, main):
        old = write(category="security", tags=["x"]).fact
        new = fact_engine.supersede_fact(
            old_fact_id=old.uid, new_fact_text="x", actor=actor, category="error", tags=[], essence="y"
        )
        assert (new.category, new.tags, new.essence) == ("error", [], "y")

    def test_with_the_text_of_another_fact(self, write, actor, main):
        other, old = write("Alpha.").fact, write("Beta.").fact
        new = fact_engine.supersede_fact(old_fact_id=old.uid, new_fact_text="Alpha.", actor=actor)
        assert (new.uid, new.parent_id) == (other.uid, old.uid)

    @lasting
    def test_what_is_refused_leaves_nothing_behind(self, write, actor, main):
        old = write().fact
        done, proposed = write("Task.", kind="TASK").fact, write("Proposed.", propose=True).fact
        fact_engine.update_fact(fact_id=done.uid, updates={"status": "done"}, actor=actor)
        before = everything()
        for uid, fields, error, message in [
            (old.uid, {"parent_id": old.uid}, Invalid, "parent_id is set by superseding."),
            (old.uid, {"new_fact_text": ""}, Invalid, "new_fact_text may not be empty."),
            (old.uid, {"kind": "REFLECTION"}, ReservedValue, NO_REFLECTION),
            (
                old.uid,
                {"session_id": "\x00"},
                Invalid,
                "session_id holds a NUL character, which no text may.",
            ),
            (done.uid, {}, IllegalTransition, "A fact that is done cannot become superseded."),
            (proposed.uid, {}, IllegalTransition, "A fact that is created cannot become superseded."),
        ]:
            with pytest.raises(error) as caught:
                fact_engine.supersede_fact(
                    old_fact_id=uid, actor=actor, **{"new_fact_text": "x", "session_id": "new", **fields}
                )
            assert str(caught.value) == message
            assert everything() == before


def brought_to(status: str, write: Any, actor: Any) -> Fact:
    """Return a TASK with this status."""
    fact = write("A task.", kind="TASK", propose=status == "created", deduplicate=False).fact
    if status == "superseded":
        fact_engine.supersede_fact(old_fact_id=fact.uid, new_fact_text="Another.", actor=actor)
    elif status in ("done", "archived"):
        fact_engine.update_fact(fact_id=fact.uid, updates={"status": status}, actor=actor)
    return fact_engine.get_fact(fact_id=fact.uid, actor=actor)


STATUSES = ("created", "active", "done", "superseded", "archived")


LEGAL = {
    ("created", "active"),
    ("created", "archived"),
    ("active", "done"),
    ("active", "archived"),
    ("done", "archived"),
    ("superseded", "archived"),
    ("archived", "active"),
}


@pytest.mark.django_db
class TestLifeCycle:
    @pytest.mark.parametrize("old", STATUSES)
    @pytest.mark.parametrize("new", STATUSES)
    def test_each_move(self, write, actor, main, old, new):
        fact = brought_to(old, write, actor)
        assert fact.status == old
        change = {"fact_id": fact.uid, "updates": {"status": new}, "actor": actor}
        if (old, new) in LEGAL or old == new:
            assert fact_engine.update_fact(**change).status == new
            return
        before = everything()
        with refused(IllegalTransition):
            fact_engine.update_fact(**change)
        assert everything() == before

    @pytest.mark.parametrize("held", ["created", "active", "done", "superseded"])
    def test_an_archived_fact_goes_back_to_what_it_was(self, write, actor, main, held):
        fact = brought_to(held, write, actor)
        archived = fact_engine.archive_fact(fact_id=fact.uid, actor=actor)
        assert (archived.status, archived.held_status) == ("archived", held)
        for other in {"created", "active", "done", "superseded"} - {held}:
            with refused(IllegalTransition):
                fact_engine.update_fact(fact_id=fact.uid, updates={"status": other}, actor=actor)
        restored = fact_engine.restore_fact(fact_id=fact.uid, actor=actor)
        assert (restored.status, restored.held_status) == (held, "")
        assert Commit.objects.filter(kind__in=["fact.archive", "fact.restore"], changed=1).count() == 2

    def test_archived_and_restored_only_once(self, write, actor, main):
        uid = write().fact.uid
        with refused(IllegalTransition) as caught:
            fact_engine.restore_fact(fact_id=uid, actor=actor)
        assert str(caught.value) == "Only an archived fact can be restored; this one is active."
        fact_engine.archive_fact(fact_id=uid, actor=actor)
        with refused(IllegalTransition) as caught:
            fact_engine.archive_fact(fact_id=uid, actor=actor)
        assert str(caught.value) == "A fact that is archived cannot become archived."

    @pytest.mark.parametrize("kind", ["OBSERVATION", "BELIEF", "OUTPUT_DRAFT", "NOTE"])
    def test_only_a_task_is_done(self, write, actor, main, kind):
        uid = write(kind=kind).fact.uid
        with refused(IllegalTransition) as caught:
            fact_engine.update_fact(fact_id=uid, updates={"status": "done"}, actor=actor)
        assert str(caught.value) == "A fact that is active cannot become done."

    def test_what_is_done_stays_a_task(self, write, actor, main):
        fact = brought_to("done", write, actor)
        with refused(IllegalTransition) as caught:
            fact_engine.update_fact(fact_id=fact.uid, updates={"kind": "NOTE"}, actor=actor)
        assert str(caught.value) == "Only a fact of the kind TASK can be done."

    def test_searched_are_active_and_done(self, write, actor, search, main):
        for status in STATUSES:
            brought_to(status, write, actor)
        assert search("task") == ["A task."] * 2
        assert search("task", include=["created", "archived", "superseded"]) == ["A task."] * 5

    def test_on_a_branch_alone(self, write, actor, child, main):
        uid = write().fact.uid
        child()
        fact_engine.archive_fact(fact_id=uid, actor=actor, branch_name="task/a")
        assert fact_engine.get_fact(fact_id=uid, actor=actor).status == "active"
        assert fact_engine.restore_fact(fact_id=uid, actor=actor, branch_name="task/a").status == "active"

    def test_on_an_archived_branch_facts_read_as_archived(self, write, actor, child, main):
        child()
        uid = write("Alpha.", branch="task/a").fact.uid
        branch_manager.archive_branch(name="task/a", actor=actor)
        assert fact_engine.get_fact(fact_id=uid, actor=actor, branch_name="task/a").status == "archived"


class TestParents:
    def test_a_fact_over_an_active_one_takes_its_place(self, write, actor, search, main):
        old = write("Alpha old.").fact
        new = write("Alpha new.", parent_id=old.uid).fact
        assert fact_engine.get_fact(fact_id=old.uid, actor=actor).status == "superseded"
        assert (new.status, new.parent_id) == ("active", old.uid)
        assert search("alpha") == ["Alpha new."]

    def test_a_proposal_waits_until_it_is_active(self, write, actor, search, main):
        old = write("Alpha old.").fact
        new = write("Alpha new.", parent_id=old.uid, propose=True).fact
        assert search("alpha") == ["Alpha old."]
        fact_engine.update_fact(fact_id=new.uid, updates={"status": "active"}, actor=actor)
        assert search("alpha") == ["Alpha new."]
        assert fact_engine.get_fact(fact_id=old.uid, actor=actor).status == "superseded"

    def test_a_second_one_leaves_the_first_successor_alone(self, write, actor, main):
        old = write("Alpha old.").fact
        first = write("Alpha new.", parent_id=old.uid).fact
        write("Alpha newer.", parent_id=old.uid)
        assert fact_engine.get_fact(fact_id=first.uid, actor=actor).status == "active"

    def test_a_proposal_and_a_new_fact_over_the_same_one_in_one_bulk(self, write, actor, main):
        old = write("Alpha old.").fact
        write("Alpha one.", parent_id=old.uid, propose=True)
        both = [{"fact_text": "Alpha one."}, {"fact_text": "Alpha two.", "parent_id": str(old.uid)}]
        done = fact_engine.write_facts(facts=both, actor=actor)
        assert [(row.created, row.fact.status) for row in done.results] == [
            (False, "active"),
            (True, "active"),
        ]
        assert fact_engine.get_fact(fact_id=old.uid, actor=actor).status == "superseded"
