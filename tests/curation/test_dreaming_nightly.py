"""The nightly run of dreaming: which projects, which nights, by which gates; runs whose process died."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from conversations.models import ConsolidationRun
from conversations.tasks import sweep_runs
from curation.engines.dreaming.engine import dream_projects
from curation.engines.review.near_duplicates import NearDuplicateEngine
from curation.models import ReviewItem
from curation.tasks import dream as dream_nightly
from memory.actors import Actor
from memory.engines.access.projects import ProjectEngine
from memory.engines.merging.requests import MergeRequestEngine
from memory.models import Branch, NearCheck, Project, QueueMessage
from tests.curation.test_dreaming import dream, engine, merge, runs, vectors, write, write_topic
from tests.memory.api.client import nothing_left
from tests.memory.views.test_page_frame import text

__all__ = ["vectors"]
pytestmark = pytest.mark.django_db(transaction=True)
PAGE = "/p/test/consolidation"
FORM = {
    "do": "settings",
    "propose_reflections": "on",
    "dream_min_size": "4",
    "dream_cohesion": "0.8",
    "dream_min_age_cycles": "2",
    "dream_every_n_cycles": "10",
    "dream_origins": "EXPERIENCE, DISTILLED_LLM",
}


def set_rules(actor: Actor, **settings: Any) -> None:
    ProjectEngine().update_project(actor=actor, **settings)


def list_runs() -> list[ConsolidationRun]:
    return list(ConsolidationRun.objects.filter(level="dreaming").order_by("pk"))


def test_a_project_that_asked_for_it_dreams_every_night(actor: Actor) -> None:
    write_topic(actor)
    with nothing_left():
        dream_nightly()
    set_rules(actor, propose_reflections=True)
    dream_nightly()
    (run,) = list_runs()
    assert (run.target, run.created, run.state, run.created_by) == ("main", 1, "done", "dreaming")
    assert run.merge_request == 1


def test_a_night_without_anything_new_leaves_nothing(actor: Actor) -> None:
    set_rules(actor, propose_reflections=True)
    write_topic(actor)
    assert dream_projects() == 1
    write(actor, "Lunch is at noon.", axis=5)
    with nothing_left():
        assert dream_projects() == 0  # its request is open
    merge(actor, list_runs()[0])
    assert dream_projects() == 1
    with nothing_left():
        assert dream_projects() == 0  # nobody wrote since


def test_it_waits_for_the_cycles_that_the_project_wants(actor: Actor, main: Branch) -> None:
    set_rules(actor, propose_reflections=True, dream_every_n_cycles=3)
    assert dream_projects() == 1
    for cycle, due in ((2, 0), (3, 1), (4, 0)):
        write(actor, f"Lunch of day {cycle}.", axis=5 + cycle)
        Branch.objects.filter(pk=main.pk).update(cycle=cycle)
        assert dream_projects() == due
    assert dream(actor).run.cycle == 4  # a person does not wait


def test_a_run_that_failed_is_not_waited_for(actor: Actor, main: Branch) -> None:
    set_rules(actor, propose_reflections=True, dream_every_n_cycles=3)
    write_topic(actor)
    now = timezone.now()
    ConsolidationRun.objects.create(
        project=main.project,
        branch=main,
        level="dreaming",
        target="main",
        state="failed",
        cycle=0,
        started_at=now,
        finished_at=now,
    )
    assert dream_projects() == 1


def test_the_gates_of_the_project_are_those_of_each_run(actor: Actor, main: Branch) -> None:
    write_topic(actor)
    Branch.objects.filter(pk=main.pk).update(cycle=6)
    for gate, found in (
        ({"dream_min_size": 4}, 0),
        ({"dream_min_size": 2, "dream_cohesion": 0.99}, 0),
        ({"dream_cohesion": 0.9, "dream_min_age_cycles": 7}, 0),
        ({"dream_min_age_cycles": 6, "dream_allow_zero_confirmation": False}, 0),
        ({"dream_allow_zero_confirmation": True, "dream_origins": "DISTILLED_LLM"}, 0),
        ({"dream_origins": "DISTILLED_LLM,EXPERIENCE"}, 1),
    ):
        set_rules(actor, **gate)
        assert dream(actor, dry_run=True).run.created == found


def test_a_branch_that_is_busy_or_archived_is_left(actor: Actor, main: Branch) -> None:
    set_rules(actor, propose_reflections=True)
    write_topic(actor)
    lost = ConsolidationRun.objects.create(
        project=main.project,
        branch=main,
        level="dreaming",
        target="main",
        slot=f"{main.pk}:dreaming:main",
        lease_until=timezone.now() + timedelta(minutes=1),
        started_at=timezone.now(),
    )
    with nothing_left():
        assert dream_projects() == 0
        sweep_runs()
    ConsolidationRun.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    sweep_runs()
    lost.refresh_from_db()
    assert (lost.state, lost.note, lost.slot) == ("failed", "The process that ran it ended.", None)
    assert lost.finished_at is not None
    assert dream_projects() == 1


def test_a_queued_run_whose_message_was_lost_is_queued_again(main: Branch) -> None:
    run = ConsolidationRun.objects.create(
        project=main.project,
        branch=main,
        level="session",
        target="s1",
        state="queued",
        slot=f"{main.pk}:session:s1",
        lease_until=timezone.now() - timedelta(seconds=1),
        started_at=timezone.now(),
    )
    sweep_runs()
    sweep_runs()
    (message,) = QueueMessage.objects.all()
    assert str(run.pk) in message.payload
    run.refresh_from_db()
    assert run.state == "queued"


def test_reflections_are_no_near_duplicates(actor: Actor) -> None:
    write_topic(actor)
    merge(actor, dream(actor).run)
    NearDuplicateEngine().check_pending(actor.project_id)
    asked = {uid for pair in ReviewItem.objects.values_list("fact_id", "other_id") for uid in pair}
    (change,) = runs.get_run(run_id=list_runs()[0].pk, actor=actor).changes
    reflection = change.fact.uid
    assert reflection not in asked
    assert not NearCheck.objects.filter(uid=reflection).exists()


def test_maintainers_say_what_happens_every_night(
    maintainer: Client, curator: Client, project: Project, main: Branch
) -> None:
    assert "Every night, propose reflections" in text(maintainer.get(PAGE))
    assert "Settings of the project" not in text(curator.get(PAGE))
    with nothing_left():
        assert curator.post(PAGE, FORM).status_code == 403
        for name, value in (("dream_min_size", "1"), ("dream_cohesion", "2"), ("dream_origins", "DREAMING")):
            answer = maintainer.post(PAGE, {**FORM, name: value})
            assert (answer.status_code, name) == (400, name)
    maintainer.post(PAGE, FORM)
    project.refresh_from_db()
    assert (project.propose_reflections, project.consolidate_agents) == (True, False)
    assert (project.dream_min_size, project.dream_cohesion, project.dream_every_n_cycles) == (4, 0.8, 10)
    assert (project.dream_min_age_cycles, project.dream_allow_zero_confirmation) == (2, False)
    assert project.dream_origins == "EXPERIENCE, DISTILLED_LLM"


def test_a_proposal_of_the_night_waits_for_a_person(actor: Actor) -> None:
    set_rules(actor, propose_reflections=True)
    write_topic(actor)
    dream_projects()
    request = MergeRequestEngine().get_request(request_id=list_runs()[0].merge_request or 0, actor=actor)
    assert (request.state, request.number) == ("open", 1)
    engine.undo_run(run_id=list_runs()[0].pk, actor=actor)
    assert dream_projects() == 0  # what a person took back does not return
    assert len(list_runs()) == 1
