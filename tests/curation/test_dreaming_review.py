"""Dreaming under changes made while its request is open, limited scopes, and later work."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from conversations.models import ConsolidationRun
from curation.engines.quarantine.engine import QuarantineEngine
from memory.actors import Actor
from memory.conf import conf
from memory.engines.branches.manager import BranchManager
from memory.engines.erasure.engine import ErasureEngine
from memory.engines.evaluation.questions import QuestionEngine
from memory.engines.facts.engine import FactEngine
from memory.engines.merging.engine import MergeEngine
from memory.exceptions import Conflict, IllegalTransition, ScopeMissing
from memory.models import Branch, Fact
from tests.curation.test_dreaming import dream, merge, requests, runs, show, vectors, write, write_topic  # noqa: F401
from tests.memory.fake_provider import failing

pytestmark = pytest.mark.django_db(transaction=True)
SECRET = "A cold cache makes the build slow."


def reflections(actor: Actor, branch: str = "main") -> list[Fact]:
    row = Branch.objects.get(project=actor.project_id, name=branch)
    return [one for one in Fact.objects.on(row).fetch_all() if one.kind == "REFLECTION"]


def verify_proposal(actor: Actor, run: ConsolidationRun) -> None:
    """Verify the reflection on the run's branch, as the gate require_verified asks of a person."""
    request = requests.get_request(request_id=run.merge_request or 0, actor=actor)
    (one,) = reflections(actor, request.source.name)
    FactEngine().set_verification(
        fact_id=one.uid, verdict="verified", actor=actor, branch_name=request.source.name
    )


def try_merge(actor: Actor, run: ConsolidationRun) -> None:
    """Merge a request through its gates; a refusal keeps the text out as well."""
    request = requests.get_request(request_id=run.merge_request or 0, actor=actor)
    try:
        requests.merge_request(request_id=request.pk, actor=actor)
    except Conflict as refused:
        print("merge refused:", refused)


def test_a_curator_without_the_scope_merge_reverts_no_merge(actor: Actor) -> None:
    write_topic(actor)
    run = dream(actor).run
    merge(actor, run)
    curator = replace(actor, scopes=frozenset({"curate"}), label="curator", kind="key")
    before = show(actor)
    with pytest.raises(ScopeMissing):
        runs.undo_run(run_id=run.pk, actor=curator)
    assert show(actor) == before


@pytest.mark.parametrize(
    "how", ["nothing", "private", "edited", "deleted", "invalidated", "erased", "quarantined"]
)
def test_what_a_member_no_longer_says_does_not_arrive(actor: Actor, how: str) -> None:
    ada = replace(actor, session_id="s-ada", agent_id="ada")
    bob = replace(actor, session_id="s-bob", agent_id="bob")
    members = [
        write(bob if text == SECRET else ada, text, 0, at)
        for at, text in enumerate(["The build fails without a cache.", SECRET, "CI warms its cache."])
    ]
    one = next(fact for fact in members if fact.fact_text == SECRET)
    run = dream(actor).run
    assert run.created == 1
    verify_proposal(actor, run)
    engine = FactEngine()
    if how == "nothing":
        pass
    elif how == "private":
        engine.update_fact(fact_id=one.uid, actor=actor, updates={"visibility": "private"})
    elif how == "edited":
        engine.update_fact(fact_id=one.uid, actor=actor, updates={"fact_text": "Nothing of the sort."})
    elif how == "deleted":
        engine.delete_fact(fact_id=one.uid, actor=actor)
    elif how == "invalidated":
        engine.set_verification(fact_id=one.uid, actor=actor, verdict="invalidated", reason="wrong")
    elif how == "erased":
        from memory.engines.erasure.engine import confirm_name

        name = confirm_name(actor.project_id, "fact", str(one.uid))
        ErasureEngine().erase(actor=actor, scope="fact", target=str(one.uid), confirm=name)
    else:
        QuarantineEngine().create_quarantine(actor=actor, source="agent", target="bob", reason="test")
    try_merge(actor, run)
    texts = [fact.fact_text + fact.essence for fact in reflections(actor)]
    assert any(SECRET in text for text in texts) == (how == "nothing"), (how, texts)


def test_the_undo_of_a_grown_group_brings_the_older_reflection_back(actor: Actor) -> None:
    write_topic(actor)
    merge(actor, dream(actor).run)
    write(actor, "Caches are kept for a week.", wobble=7)
    before = show(actor)
    second = dream(actor).run
    merge(actor, second)
    assert sorted(one.status for one in reflections(actor)) == ["active", "superseded"]
    runs.undo_run(run_id=second.pk, actor=actor)
    assert show(actor) == before


def test_the_undo_of_the_first_is_refused_once_a_second_replaced_it(actor: Actor) -> None:
    write_topic(actor)
    first = dream(actor).run
    merge(actor, first)
    (old,) = reflections(actor)
    write(actor, "Caches are kept for a week.", wobble=7)
    merge(actor, dream(actor).run)
    with pytest.raises(Conflict) as refused:
        runs.undo_run(run_id=first.pk, actor=actor)
    assert str(old.uid) in str(refused.value.data)


def test_the_gate_measures_a_saved_question(actor: Actor) -> None:
    members = write_topic(actor)
    QuestionEngine().create_question(
        text="What makes the build slow?", expected=[members[1].uid], actor=actor
    )
    assert dream(actor).run.recall != "passed: No question is saved that the merge could hurt."


def test_a_gate_that_fails_leaves_no_request_that_no_run_names(actor: Actor, settings: Any) -> None:
    write_topic(actor)
    gates = {**conf().merge_gates, "recall": "tests.curation.failing_gate.fail"}
    settings.DAY1 = {**settings.DAY1, "merge_gates": gates}
    run = dream(actor).run
    assert (run.state, run.created, run.recall) == ("partial", 1, "")
    assert run.note == "Recall before and after was not measured (RuntimeError)."
    (request,) = requests.list_requests(actor=actor).results
    assert run.merge_request == request.number
    assert dream(actor).run.created == 0
    runs.undo_run(run_id=run.pk, actor=actor)
    assert requests.get_request(request_id=request.pk, actor=actor).state == "rejected"


def test_a_run_that_is_cut_off_before_its_request_leaves_nothing(actor: Actor) -> None:
    write_topic(actor)
    table = connection.ops.quote_name("memory_mergerequest")
    with failing(f"INSERT INTO {table}"), pytest.raises(KeyboardInterrupt):
        dream(actor)
    (run,) = ConsolidationRun.objects.filter(level="dreaming")
    assert (run.commits, run.merge_request) == ([], None)
    assert not Branch.objects.filter(name__startswith="dream/").exists()
    ConsolidationRun.objects.update(lease_until=timezone.now() - timedelta(minutes=1))
    again = dream(actor).run
    assert (again.created, again.merge_request) == (1, 1)


def test_no_force_brings_a_reflection_of_a_changed_fact(actor: Actor) -> None:
    members = write_topic(actor)
    run = dream(actor).run
    FactEngine().update_fact(fact_id=members[1].uid, actor=actor, updates={"visibility": "private"})
    before = show(actor)
    with pytest.raises(Conflict) as refused:
        merge(actor, run)
    assert "Reflections of facts that have changed since" in str(refused.value)
    assert str(members[1].uid) in str(refused.value)
    assert show(actor) == before
    fork = requests.get_request(request_id=run.merge_request or 0, actor=actor).source.name
    BranchManager().create_branch(name="experiment/fork", parent=fork, actor=actor)
    with pytest.raises(Conflict):
        MergeEngine().merge_branch(source="experiment/fork", target="main", actor=actor)
    assert show(actor) == before


def test_other_changes_of_a_member_do_not_matter(actor: Actor) -> None:
    members = write_topic(actor)
    run = dream(actor).run
    FactEngine().update_fact(fact_id=members[1].uid, actor=actor, updates={"tags": ["seen"]})
    merge(actor, run)
    assert len(reflections(actor)) == 1


def test_changes_of_a_dream_are_answered_by_its_request_alone(actor: Actor) -> None:
    write_topic(actor)
    report = dream(actor)
    uid = report.changes[0].fact.uid
    for answer in (runs.accept_changes, runs.reject_changes):
        with pytest.raises(IllegalTransition) as refused:
            answer(run_id=report.run.pk, fact_ids=[uid], actor=actor)
        assert "merge request of this run decides" in str(refused.value)
    assert requests.get_request(request_id=report.run.merge_request, actor=actor).slot is not None
