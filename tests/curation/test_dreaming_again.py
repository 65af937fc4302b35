"""What a later run of dreaming sees: counters, changed members and nights without news."""

from typing import Any

import pytest

from conversations.models import ConsolidationRun
from curation.engines.dreaming import source
from curation.engines.dreaming.engine import dream_projects
from curation.engines.dreaming.rules import DreamRules
from memory.actors import Actor
from memory.engines.access.projects import ProjectEngine
from memory.engines.facts.engine import FactEngine
from memory.exceptions import Invalid
from memory.models import Branch, Fact, Vector
from tests.curation.test_dreaming import dream, merge, requests, runs, store_vector, vectors, write_topic

__all__ = ["vectors"]
pytestmark = pytest.mark.django_db(transaction=True)


def reject(actor: Actor, run: ConsolidationRun) -> None:
    request = requests.get_request(request_id=run.merge_request or 0, actor=actor)
    requests.reject_request(request_id=request.pk, actor=actor, reason="no")


def reflections(branch: Branch) -> list[Fact]:
    rows = Fact.objects.on(Branch.objects.get(pk=branch.pk))
    return list(rows.filter(kind="REFLECTION", status="active").fetch_all())


class TestCycles:
    def test_a_run_that_was_undone_sets_no_counter(self, actor: Actor) -> None:
        write_topic(actor)
        run = dream(actor, current_cycle=1000).run
        with pytest.raises(Invalid):
            dream(actor, current_cycle=5)
        runs.undo_run(run_id=run.pk, actor=actor)
        assert dream(actor, current_cycle=5).run.cycle == 5

    @pytest.mark.parametrize("cycle", [1_000_007, 2**53])
    def test_a_cycle_far_ahead_is_refused(self, actor: Actor, main: Branch, cycle: int) -> None:
        Branch.objects.filter(pk=main.pk).update(cycle=6)
        with pytest.raises(Invalid) as refused:
            dream(actor, current_cycle=cycle)
        assert str(refused.value) == (
            "current_cycle is too far ahead: main is at 6; at most 1000000 more are taken."
        )
        assert not ConsolidationRun.objects.exists()
        assert dream(actor, current_cycle=1_000_006).run.cycle == 1_000_006


class TestChangedMembers:
    @pytest.mark.parametrize(
        "change",
        [{"essence": "Cold caches are slow."}, {"fact_text": "A build is slow while its cache is cold."}],
    )
    def test_a_rejected_group_is_proposed_anew_with_its_new_text(
        self, actor: Actor, change: dict[str, str]
    ) -> None:
        _, second, _ = write_topic(actor)
        reject(actor, dream(actor).run)
        assert dream(actor).run.created == 0
        FactEngine().update_fact(fact_id=second.uid, updates=change, actor=actor)
        vector = Vector.objects.get(content_hash=second.content_hash).data
        store_vector(actor, change.get("fact_text", second.fact_text), vector)
        assert dream(actor).run.created == 1

    def test_a_new_text_takes_the_place_of_the_reflection_with_the_old_one(
        self, actor: Actor, main: Branch
    ) -> None:
        _, second, _ = write_topic(actor)
        merge(actor, dream(actor).run)
        (before,) = reflections(main)
        FactEngine().update_fact(
            fact_id=second.uid, updates={"essence": "Cold caches are slow."}, actor=actor
        )
        run = dream(actor).run
        assert run.created == 1
        merge(actor, run)
        (after,) = reflections(main)
        assert (after.parent_id, after.uid != before.uid) == (before.uid, True)
        assert dream(actor).run.created == 0


class TestNights:
    def nights(self) -> tuple[list[int], int]:
        return [dream_projects() for _ in range(3)], ConsolidationRun.objects.count()

    def test_nothing_is_due_without_an_embedder(self, actor: Actor, settings: Any) -> None:
        ProjectEngine().update_project(actor=actor, propose_reflections=True)
        write_topic(actor)
        settings.DAY1 = {**settings.DAY1, "embedder": "off"}
        assert self.nights() == ([0, 0, 0], 0)

    def test_a_partial_run_is_kept_once(self, actor: Actor) -> None:
        ProjectEngine().update_project(actor=actor, propose_reflections=True)
        FactEngine().write_fact(fact_text="No vector here.", actor=actor)
        assert self.nights() == ([1, 0, 0], 1)
        run = ConsolidationRun.objects.get()
        assert (run.state, run.note) == ("partial", "1 observations have no vector, and were left out.")
        FactEngine().write_fact(fact_text="Nor here.", actor=actor)
        assert self.nights() == ([1, 0, 0], 2)


def test_confirmed_facts_are_found_behind_newer_ones(actor: Actor, monkeypatch: Any) -> None:
    monkeypatch.setattr(source, "MAX_FACTS", 3)
    for session in ("s1", "s2"):
        write_topic(actor, session_id=session)
    write_topic(actor, "测试", 3)
    run = dream(actor, dry_run=True, rules=DreamRules(allow_zero_confirmation=False)).run
    assert (run.observations, run.created, run.note) == (3, 1, "")
    run = dream(actor, dry_run=True).run
    assert (run.observations, run.note) == (3, "Only the newest 3 observations were compared.")
