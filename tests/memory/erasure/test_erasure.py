"""Erasure: no byte is left, ids and history stay."""

import pytest
from django.apps import apps
from django.db import models

from memory.actors import Actor
from memory.db.fields import JSONTextField
from memory.engines.merging.plan import Decision
from memory.engines.merging.requests import MergeRequestEngine
from memory.exceptions import Conflict
from memory.models import (
    AuditEntry,
    BranchedModel,
    Session,
    Vector,
)
from memory.models.base import ERASED_MARK
from tests.databases import only_on_sqlite
from tests.memory.erasure.helpers import (
    BRANCHES,
    ERASURES,
    FACTS,
    SESSION,
    WORD,
    add_vector,
    files_with,
    prepare_traces,
    read_epoch,
    read_head,
    tables_with,
    write_everything,
)

pytestmark = pytest.mark.django_db(transaction=True)


# Columns of versions that hold no content: ids, addresses, names of programs and models, fixed choices.
WITHOUT_CONTENT = {
    "session_id": "an id",
    "task_id": "an id",
    "agent_id": "an id",
    "user_id": "an id",
    "app_id": "an id",
    "slot": "made of ids, except in relations",
    "kind": "a choice",
    "priority": "a choice",
    "source_type": "a choice",
    "origin": "a choice",
    "visibility": "a choice",
    "status": "a choice",
    "method": "a choice",
    "by": "who gave a verdict",
    "role": "a choice",
    "outcome": "a choice",
    "observation_type": "a choice",
    "link_type": "a choice",
    "to_type": "a choice",
    "repository": "the address of a repository",
    "tool_name": "the name of a program",
    "model": "the name of a model",
}


def test_every_column_with_content_is_declared() -> None:
    """A new column of text is either blanked, or said to hold no content."""
    versioned = [model for model in apps.get_models() if issubclass(model, BranchedModel)]
    undeclared = {
        f"{model.__name__}.{field.attname}"
        for model in versioned
        for field in model._meta.concrete_fields
        if isinstance(field, models.CharField | models.TextField | JSONTextField)
        and field.attname not in model.ERASED
        and field.attname not in WITHOUT_CONTENT
    }
    assert undeclared == set()
    assert {m.__name__ for m in versioned if not m.ERASED} == {"FactLink"}  # ids alone


class TestNothingIsLeft:
    @only_on_sqlite
    def test_no_byte_of_a_session(self, actor, main, other_project) -> None:
        write_everything(actor)
        prepare_traces(actor)
        assert files_with(WORD)
        done = ERASURES.erase(actor=actor, scope="session", target=SESSION, confirm=SESSION)
        assert (done.state, done.waits_for) == ("done", "")
        assert files_with(WORD) == {}

    @only_on_sqlite
    def test_no_byte_of_a_match_that_was_edited_on_branches(self, actor, main) -> None:
        fact = write_everything(actor)["fact"]
        BRANCHES.create_branch(name="task/a", actor=actor)
        for n in range(30):
            for branch in ("main", "task/a"):
                FACTS.update_fact(
                    fact_id=fact.uid,
                    updates={"fact_text": f"{WORD} {n} on {branch} {'long ' * (n * 70)}"},
                    actor=actor,
                    branch_name=branch,
                )
            FACTS.write_fact(actor=actor, fact_text=f"Other fact {n} {'pad ' * (n * 50)}")
        FACTS.delete_fact(fact_id=fact.uid, actor=actor, branch_name="task/a")
        ERASURES.erase(actor=actor, scope="match", target=WORD.upper(), confirm="test")
        assert files_with(WORD) == {}
        assert FACTS.list_facts(actor=actor, limit=100).results[0].fact_text.startswith("Other fact 29")

    def test_no_row_of_any_table(self, actor, main) -> None:
        write_everything(actor)
        prepare_traces(actor)
        assert tables_with(WORD)
        ERASURES.erase(actor=actor, scope="agent", target="ada", confirm="ada")
        assert tables_with(WORD) == set()

    def test_a_decision_that_no_merge_carried_out(self, actor, main) -> None:
        """Its text stands in no version yet, so that only the id of the fact tells whose it is."""
        fact = FACTS.write_fact(actor=actor, fact_text="The vault opens at night.").fact
        BRANCHES.create_branch(name="task/x", actor=actor)
        for branch, text in (("main", "The vault opens at dawn."), ("task/x", "The vault opens at noon.")):
            FACTS.update_fact(fact_id=fact.uid, updates={"fact_text": text}, branch_name=branch, actor=actor)
        request = MergeRequestEngine().create_request(source="task/x", actor=actor)
        decision = Decision(fact.uid, "edited", text=f"The vault opens with {WORD}.")
        MergeRequestEngine().decide_conflicts(request_id=request.pk, decisions=[decision], actor=actor)
        assert tables_with(WORD) == {"MergeDecision.text"}
        ERASURES.erase(scope="fact", target=str(fact.uid), confirm="test", actor=actor)
        assert tables_with(WORD) == set()

    def test_a_sibling_is_untouched(self, actor, main, other_project) -> None:
        other = Actor(other_project.pk, "local", scopes=frozenset({"admin"}))
        write_everything(actor)
        theirs = write_everything(other)
        ERASURES.erase(actor=actor, scope="match", target=WORD, confirm="test")
        fact = FACTS.get_fact(fact_id=theirs["fact"].uid, actor=other)
        assert (fact.fact_text, fact.tags) == (theirs["fact"].fact_text, [WORD])
        assert Session.objects.get(project=other_project).summary == f"We opened it with {WORD}."

    def test_vectors_go_unless_another_memory_has_the_text(self, actor, project, main) -> None:
        own = FACTS.write_fact(actor=actor, fact_text=f"Alone {WORD}").fact
        twin = FACTS.write_fact(actor=actor, fact_text="Said twice, here.", deduplicate=False).fact
        same = FACTS.write_fact(actor=actor, fact_text="Said twice, here.", deduplicate=False).fact
        for fact in (own, twin):
            add_vector(project, fact)
        epoch = read_epoch(project)
        for fact in (own, twin):
            ERASURES.erase(actor=actor, scope="fact", target=str(fact.uid), confirm="test")
        assert list(Vector.objects.values_list("content_hash", flat=True)) == [same.content_hash]
        assert read_epoch(project) > epoch


class TestWhatStays:
    def test_ids_and_history_stay(self, actor, main) -> None:
        made = write_everything(actor)
        fact = made["fact"]
        FACTS.update_fact(fact_id=fact.uid, updates={"fact_text": f"Edited {WORD}"}, actor=actor)
        FACTS.set_verification(fact_id=fact.uid, verdict="verified", actor=actor, reason=f"seen {WORD}")
        head = read_head(main)
        before = FACTS.list_versions(fact_id=fact.uid, actor=actor).results
        ERASURES.erase(actor=actor, scope="session", target=SESSION, confirm=SESSION)
        after = FACTS.list_versions(fact_id=fact.uid, actor=actor).results
        assert [(v.uid, v.version, v.vid, v.seq_from, v.created_at) for v in after] == [
            (v.uid, v.version, v.vid, v.seq_from, v.created_at) for v in before
        ]
        assert {(v.fact_text, v.essence, v.status) for v in after} == {(ERASED_MARK, ERASED_MARK, "archived")}
        assert read_head(main) == head
        diff = BRANCHES.compare_branch(name="main", against="main", against_at=0, actor=actor)
        assert [(one.uid, one.after.fact_text) for one in diff.page.results] == [(fact.uid, ERASED_MARK)]

    def test_an_erased_fact_cannot_be_changed(self, actor, main) -> None:
        fact = FACTS.write_fact(actor=actor, fact_text=f"Gone {WORD}").fact
        ERASURES.erase(actor=actor, scope="fact", target=str(fact.uid), confirm="test")
        for change in (
            lambda: FACTS.update_fact(fact_id=fact.uid, updates={"fact_text": "New"}, actor=actor),
            lambda: FACTS.restore_fact(fact_id=fact.uid, actor=actor),
        ):
            with pytest.raises(Conflict, match="erased"):
                change()
        assert FACTS.get_fact(fact_id=fact.uid, actor=actor).fact_text == ERASED_MARK

    def test_the_same_text_may_be_written_anew(self, actor, main) -> None:
        made = write_everything(actor)
        ERASURES.erase(actor=actor, scope="session", target=SESSION, confirm=SESSION)
        again = write_everything(actor, session="another")
        assert again["fact"].uid != made["fact"].uid
        assert again["relation"].uid != made["relation"].uid
        assert again["relation"].source_entity == f"vault {WORD}"

    def test_the_preview_writes_nothing_and_lists_what_stays(self, actor, main) -> None:
        made = write_everything(actor)
        derived = FACTS.write_fact(actor=actor, fact_text=f"Someone noted: {made['fact'].fact_text}").fact
        before = tables_with(WORD), AuditEntry.objects.count()
        plan = ERASURES.preview_erasure(actor=actor, scope="fact", target=str(made["fact"].uid))
        assert (plan.counts, plan.confirm) == ({"fact": 1}, "test")
        assert [(one.id, one.why) for one in plan.left] == [(derived.uid, "repeats")]
        assert (tables_with(WORD), AuditEntry.objects.count()) == before

    def test_what_was_learned_of_a_message_goes_with_it(self, actor, main) -> None:
        from memory.engines.facts.links import LinkEngine

        made = write_everything(actor)
        for source_type, linked in (("extraction", True), ("manual", True)):
            fact = FACTS.write_fact(
                actor=actor, fact_text=f"Learned {source_type}", source_type=source_type
            ).fact
            assert linked
            LinkEngine().write_link(
                from_id=fact.uid,
                to_id=made["message"].uid,
                to_type="message",
                link_type="MESSAGE_OF",
                actor=actor,
            )
        plan = ERASURES.preview_erasure(actor=actor, scope="match", target=f"I found {WORD}")
        assert plan.counts == {"fact": 1, "message": 1}
        assert [(one.line, one.why) for one in plan.left] == [("Learned manual", "derived")]
