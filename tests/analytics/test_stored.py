"""Stored tallies: what is derived from one is what is counted anew, after any change."""

from dataclasses import replace
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from analytics.engines import tallies as t
from analytics.engines.engine import AnalyticsEngine
from analytics.engines.stored import MEASURES, load_stored, read_tally, update_tallies
from analytics.models import StoredTally
from analytics.tasks import update_tallies as run_task
from curation.engines.quarantine.engine import QuarantineEngine
from memory.actors import Actor
from memory.engines.branches.manager import BranchManager
from memory.engines.branches.revert import RevertEngine
from memory.engines.erasure.engine import ErasureEngine
from memory.engines.facts.engine import FactEngine
from memory.engines.merging.engine import MergeEngine
from memory.models import Branch, Commit
from tests.analytics.test_figures import Write, without_vectors, write

__all__ = ["without_vectors", "write"]
pytestmark = pytest.mark.django_db(transaction=True)
engine, facts = AnalyticsEngine(), FactEngine()


def check(*names: str) -> None:
    """Compare the derived tallies of branches with what is counted anew, at the head and at each commit."""
    for branch in Branch.objects.filter(name__in=names or ["main"]):
        for seq in range(branch.head + 1):
            lineage = branch.lineage(seq)
            stored = load_stored(lineage)
            for name, measure in MEASURES.items():
                counted = {key: count for key, count in t.tally_rows(measure, lineage).items() if count}
                derived = {key: n for key, n in read_tally(measure, lineage, stored).items() if n}
                assert derived == counted, (branch.name, seq, name)


def test_the_task_stores_once_and_goes_on(write: Write, say: Any, did: Any, actor: Actor) -> None:
    write("One.", category="decision")
    say("Why?", role="user")
    did("Bash", "make")
    assert update_tallies() == len(MEASURES)
    with CaptureQueriesContext(connection) as queries:
        assert (update_tallies(), StoredTally.objects.count()) == (0, len(MEASURES))
    assert "counts" not in str(queries.captured_queries)  # of nothing that is stored
    check()
    fact = write("Two.")
    facts.set_verification(fact_id=fact.uid, verdict="verified", actor=actor)
    facts.archive_fact(fact_id=fact.uid, actor=actor)
    check()
    run_task()
    assert set(StoredTally.objects.values_list("seq", flat=True)) == {Branch.objects.get(name="main").head}
    check()


def test_a_child_a_merge_and_its_revert(write: Write, actor: Actor, without_gates: None) -> None:
    old, kept = write("One."), write("Two.")
    BranchManager().create_branch(name="task/x", actor=actor)
    update_tallies()
    facts.delete_fact(fact_id=old.uid, actor=actor, branch_name="task/x")
    facts.set_verification(fact_id=kept.uid, verdict="invalidated", actor=actor, branch_name="task/x")
    write("Three.", branch="task/x")
    write("Four, on main.")
    check("main", "task/x")
    update_tallies()
    check("main", "task/x")
    MergeEngine().merge_branch(source="task/x", actor=actor)
    check("main", "task/x")
    merge = Commit.objects.filter(branch__name="main").order_by("-seq")[0]
    RevertEngine().revert_commit(commit_id=merge.pk, actor=actor)
    check("main", "task/x")
    assert not StoredTally.objects.exclude(branch__name="main").exists()


def test_an_erasure_drops_what_was_stored(write: Write, actor: Actor) -> None:
    fact = write("One.", category="secret-project")
    update_tallies()
    ErasureEngine().erase(scope="fact", target=str(fact.uid), confirm="test", actor=actor)
    assert not StoredTally.objects.exists()
    assert "secret-project" not in str(engine.overview(actor=actor))
    update_tallies()
    check()
    # Rows that were read before the end of the erasure are not used.
    StoredTally.objects.update(made_at=fact.created_at, counts=[])
    check()
    update_tallies()
    assert StoredTally.objects.exclude(counts=[]).exists()


def test_nothing_is_used_while_something_is_in_quarantine(write: Write, actor: Actor) -> None:
    write("One.", agent="eve")
    write("Two.")
    update_tallies()
    made = QuarantineEngine().create_quarantine(source="agent", target="eve", actor=actor)
    assert engine.overview(actor=actor).counts["facts"] == 1
    write("Three.")
    assert update_tallies() == 0
    QuarantineEngine().release_quarantine(quarantine_id=made.pk, actor=actor)
    assert engine.overview(actor=actor).counts["facts"] == 3
    check()


def test_many_groups_and_many_changes_are_counted_anew(
    write: Write, monkeypatch: pytest.MonkeyPatch, actor: Actor
) -> None:
    write("One.", category="a")
    update_tallies()
    monkeypatch.setattr("analytics.engines.stored.MAX_CHANGES", 1)
    write("Two.", category="b")
    write("Three.", category="c")
    check()
    StoredTally.objects.all().delete()
    monkeypatch.setattr("analytics.engines.stored.MAX_GROUPS", 2)
    update_tallies()
    assert not StoredTally.objects.filter(measure="facts").exists()
    check()


def list_seqs(measure: str) -> list[int]:
    return sorted(StoredTally.objects.filter(measure=measure).values_list("seq", flat=True))


def test_the_past_keeps_a_tally_for_each_step(
    write: Write, actor: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("analytics.engines.stored.STEP", 2)
    for n in range(3):
        fact = write(f"Fact {n}.", category=f"c{n}")
        facts.set_verification(fact_id=fact.uid, verdict="verified", actor=actor)
        facts.archive_fact(fact_id=fact.uid, actor=actor)
        update_tallies()
    head = Branch.objects.get(name="main").head
    assert list_seqs("facts") == [3, 6, head]
    assert list_seqs("relations") == [head]
    check()


def test_an_older_past_is_filled_step_by_step(
    write: Write, actor: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    fact = write("Fact.")
    facts.write_facts(facts=[{"fact_text": f"At once {n}."} for n in range(9)], actor=actor)
    for n in range(8):
        facts.update_fact(fact_id=fact.uid, updates={"category": f"c{n}"}, actor=actor)
    monkeypatch.setattr("analytics.engines.stored.STEP", 2)
    monkeypatch.setattr("analytics.engines.stored.MAX_FILLED", 1)
    assert update_tallies() == len(MEASURES) + 3  # facts by state and by day, verdicts
    while update_tallies():
        check()
    assert list_seqs("facts") == [1, 2, 4, 7, 10]  # the second commit is more than a step
    check()


def test_the_page_has_the_figures_of_the_engine(write: Write, actor: Actor) -> None:
    write("One.")
    update_tallies()
    write("Two.")
    for at in (None, 1):
        page = engine.load_dashboard(actor=actor, at=at)
        assert page.overview == engine.overview(actor=actor, at=at)
        assert page.trends == engine.trends(actor=actor, at=at)
        assert page.curation == engine.curation_analytics(actor=actor, at=at)
    assert engine.load_dashboard(actor=replace(actor, scopes=frozenset({"read"}))).curation is None
