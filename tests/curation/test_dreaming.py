"""Dreaming: groups, the merge request, twice is once, undo, the model, isolation."""

import json
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import numpy as np
import pytest
from django.db.models import F
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from conversations.engines.consolidation.engine import ConsolidationEngine
from conversations.models import ConsolidationRun
from curation.engines.dreaming.engine import DreamEngine
from curation.engines.dreaming.rules import DreamRules
from curation.engines.dreaming.source import find_clusters
from memory.actors import Actor
from memory.engines.branches.manager import BranchManager, create_main
from memory.engines.facts.engine import FactEngine
from memory.engines.facts.links import LinkEngine
from memory.engines.merging.requests import MergeRequestEngine
from memory.engines.search.engine import SearchEngine
from memory.exceptions import Conflict, IllegalTransition, Invalid, ScopeMissing
from memory.models import Branch, Commit, Fact, FactLink, MergeRequest, Project, Vector, VectorClock
from memory.models.hashes import content_hash
from memory.models.vectors import vector_slot
from tests.curation.fake_judge import MODEL, FakeJudge
from tests.memory.fake_provider import FakeProvider

pytestmark = pytest.mark.django_db(transaction=True)
engine, runs, requests = DreamEngine(), ConsolidationEngine(), MergeRequestEngine()
TOPICS = {
    "build": [
        "The build fails without a cache.",
        "A cold cache makes the build slow.",
        "CI warms its cache.",
    ],
    "测试": ["测试依赖数据库。", "数据库在测试之前启动。", "测试需要干净的数据库。"],
}


NAME = "openai:test-model"


@pytest.fixture(autouse=True)
def vectors(settings: Any, main: Branch) -> Iterator[FakeProvider]:
    """Let vectors that a test stores be those of the model in force."""
    with FakeProvider() as server:
        server.dimensions = 64
        settings.DAY1 = {**settings.DAY1, **server.settings("test-model")}
        yield server


def write(
    actor: Actor, text: str, axis: int = 0, wobble: int = 0, branch: str = "main", **fields: Any
) -> Fact:
    """Write an observation whose vector is near an axis."""
    fact = FactEngine().write_fact(fact_text=text, actor=actor, branch_name=branch, **fields).fact
    vector = np.zeros(64, dtype="f4")
    vector[axis], vector[10 + wobble] = 1, 0.3
    store_vector(actor, text, vector / np.linalg.norm(vector))
    return fact


def store_vector(actor: Actor, text: str, vector: np.ndarray) -> None:
    value = content_hash(text)
    clock, _ = VectorClock.objects.get_or_create(project_id=actor.project_id)
    VectorClock.objects.filter(pk=clock.pk).update(n=F("n") + 1)
    Vector.objects.update_or_create(
        slot=vector_slot(actor.project_id, NAME, value),
        defaults={
            "project_id": actor.project_id,
            "model": NAME,
            "content_hash": value,
            "n": clock.n + 1,
            "state": "ready",
            "next_try": timezone.now(),
            "data": vector,
        },
    )


def write_topic(actor: Actor, name: str = "build", axis: int = 0, **fields: Any) -> list[Fact]:
    return [write(actor, text, axis, at, **fields) for at, text in enumerate(TOPICS[name])]


def dream(actor: Actor, **options: Any) -> Any:
    return engine.consolidate(actor=actor, **options)


def show(actor: Actor, branch: str = "main") -> list[tuple[Any, ...]]:
    """Return all that a branch shows, facts and links."""
    row = Branch.objects.get(project=actor.project_id, name=branch)
    facts = [
        (str(one.uid), one.fact_text, one.essence, one.status, one.confidence, one.visibility, one.kind)
        for one in Fact.objects.on(row).fetch_all()
    ]
    links = [
        (str(one.from_id), str(one.to_id), one.link_type) for one in FactLink.objects.on(row).fetch_all()
    ]
    return sorted(facts) + sorted(links)


def merge(actor: Actor, run: ConsolidationRun) -> None:
    request = requests.get_request(request_id=run.merge_request, actor=actor)
    requests.merge_request(request_id=request.pk, actor=actor, force=True)


def test_a_group_becomes_a_reflection_on_a_branch_of_its_own(actor: Actor) -> None:
    members = write_topic(actor)
    write(actor, "Lunch is at noon.", axis=5)
    before = show(actor)
    report = dream(actor)
    run = report.run
    assert (run.level, run.target, run.state, run.note) == ("dreaming", "main", "done", "")
    assert (run.observations, run.created, run.mode) == (4, 1, "rules")
    assert show(actor) == before
    request = requests.get_request(request_id=run.merge_request, actor=actor)
    assert request.source.name.startswith("dream/main/")
    assert request.target.name == "main"
    assert run.recall == "passed: No question is saved that the merge could hurt."
    (proposal,) = report.changes
    fact = proposal.fact
    assert (fact.kind, fact.origin, fact.source_type) == ("REFLECTION", "DREAMING", "consolidation")
    assert fact.essence in {one.fact_text for one in members}
    assert {row.id for row in proposal.evidence} == {one.uid for one in members}
    links = LinkEngine().list_links(fact_id=fact.uid, branch_name=request.source.name, actor=actor).results
    assert {link.link_type for link in links} == {"CONSOLIDATED_FROM"}


def test_what_is_merged_is_found_and_undone_exactly(actor: Actor) -> None:
    write_topic(actor)
    before = show(actor)
    run = dream(actor).run
    merge(actor, run)
    assert [row[6] for row in show(actor) if len(row) > 3].count("REFLECTION") == 1
    types = [row[2] for row in show(actor) if len(row) == 3]
    assert (types.count("CONSOLIDATED_FROM"), types.count("ASSOCIATED")) == (3, 2)
    undone = runs.undo_run(run_id=run.pk, actor=actor)
    assert undone.state == "undone"
    assert show(actor) == before
    request = requests.get_request(request_id=run.merge_request, actor=actor)
    assert request.source.archived_at is not None
    with pytest.raises(IllegalTransition):
        runs.undo_run(run_id=run.pk, actor=actor)
    assert dream(actor).run.created == 0  # what a person took back does not return


def test_the_undo_of_an_open_request_rejects_it(actor: Actor) -> None:
    write_topic(actor)
    run = dream(actor).run
    runs.undo_run(run_id=run.pk, actor=actor)
    request = requests.get_request(request_id=run.merge_request, actor=actor)
    assert (request.state, request.reason) == ("rejected", "The run was undone.")


def test_an_undo_is_refused_when_later_work_built_on_it(actor: Actor) -> None:
    write_topic(actor)
    run = dream(actor).run
    merge(actor, run)
    (uid,) = (row[0] for row in show(actor) if len(row) > 3 and row[6] == "REFLECTION")
    FactEngine().update_fact(fact_id=uid, actor=actor, updates={"tags": ["kept"]})
    with pytest.raises(Conflict) as refused:
        runs.undo_run(run_id=run.pk, actor=actor)
    assert uid in str(refused.value.data)
    assert runs.get_run(run_id=run.pk, actor=actor).run.state == "done"


def test_twice_is_once(actor: Actor) -> None:
    write_topic(actor)
    write_topic(actor, "测试", axis=1)
    first = dream(actor).run
    assert first.created == 2
    commits, asked = Commit.objects.count(), MergeRequest.objects.count()
    for _ in range(2):
        again = dream(actor).run
        assert (again.created, again.state, again.commits) == (0, "done", [])
    merge(actor, first)
    assert dream(actor).run.created == 0
    assert (Commit.objects.count(), MergeRequest.objects.count()) == (commits + 1, asked)


def test_a_group_that_grew_replaces_its_reflection(actor: Actor) -> None:
    write_topic(actor)
    first = dream(actor).run
    write(actor, "Caches are kept for a week.", wobble=7)
    waiting = dream(actor).run
    assert (waiting.state, waiting.created) == ("partial", 0)
    assert (
        waiting.note
        == f"Merge request {first.merge_request} of an earlier run is open: 1 new groups wait for it."
    )
    merge(actor, first)
    second = dream(actor).run
    merge(actor, second)
    rows = [row for row in show(actor) if len(row) > 3 and row[6] == "REFLECTION"]
    assert sorted(row[3] for row in rows) == ["active", "superseded"]
    found = SearchEngine().search(query="cache", actor=actor, limit=50)
    shown = {str(hit.fact.uid) for hit in found.hits}
    assert not shown & {row[0] for row in rows if row[3] == "superseded"}


def test_a_dry_run_writes_nothing_and_tells_the_same(actor: Actor, monkeypatch: pytest.MonkeyPatch) -> None:
    write_topic(actor)
    monkeypatch.setattr("django.db.transaction.atomic", None)  # a dry run begins no transaction of its own
    dry = dream(actor, dry_run=True)
    monkeypatch.undo()
    assert not ConsolidationRun.objects.exists()
    wet = dream(actor)
    told = [[(one.fact.uid, one.fact.fact_text, one.fact.essence) for one in x.changes] for x in (dry, wet)]
    assert told[0] == told[1]


def test_gates(actor: Actor, main: Branch) -> None:
    write_topic(actor, created_cycle=5)
    Branch.objects.filter(pk=main.pk).update(cycle=6)
    assert dream(actor, dry_run=True, rules=DreamRules(min_age_cycles=2)).run.observations == 0
    assert dream(actor, dry_run=True, rules=DreamRules(min_age_cycles=1)).run.created == 1
    assert dream(actor, dry_run=True, rules=DreamRules(allow_zero_confirmation=False)).run.created == 0
    assert dream(actor, dry_run=True, rules=DreamRules(min_size=4)).run.created == 0
    assert dream(actor, dry_run=True, rules=DreamRules(cohesion=0.99)).run.created == 0
    assert dream(actor, dry_run=True, rules=DreamRules(origins=("DISTILLED_LLM",))).run.created == 0


def test_a_cycle_never_goes_backwards(actor: Actor, main: Branch) -> None:
    Branch.objects.filter(pk=main.pk).update(cycle=6)
    with pytest.raises(Invalid) as refused:
        dream(actor, current_cycle=5)
    assert str(refused.value) == "current_cycle may not go backwards: main is at 6."
    assert dream(actor, current_cycle=9).run.cycle == 9
    with pytest.raises(Invalid):
        dream(actor, current_cycle=8)
    with pytest.raises(Invalid):
        runs.consolidate(level="agent", target="ada", actor=actor, current_cycle=9)


def test_nothing_private_or_wider_than_its_narrowest(actor: Actor) -> None:
    members = write_topic(actor, visibility="public", confidence=0.9)
    FactEngine().update_fact(
        fact_id=members[0].uid, actor=actor, updates={"visibility": "selective", "confidence": 0.4}
    )
    secret = write(actor, "The cache key is mine alone.", wobble=6, visibility="private")
    (proposal,) = dream(actor, dry_run=True).changes
    assert (proposal.fact.visibility, proposal.fact.confidence) == ("selective", 0.4)
    assert secret.uid not in {row.id for row in proposal.evidence}
    assert secret.fact_text not in proposal.fact.fact_text


def test_other_branches_and_projects_are_not_read(actor: Actor) -> None:
    BranchManager().create_branch(name="experiment/x", actor=actor)
    write_topic(actor, branch="experiment/x")
    other = Project.objects.create(name="Other", slug="other")
    create_main(other)
    assert dream(actor).run.observations == 0
    assert dream(Actor(other.pk, "local", scopes=frozenset({"admin"}))).run.observations == 0
    assert dream(actor, branch_name="experiment/x").run.created == 1


def test_inherited_groups_are_left_to_their_branch(actor: Actor) -> None:
    write_topic(actor)
    BranchManager().create_branch(name="experiment/x", actor=actor)
    run = dream(actor, branch_name="experiment/x").run
    assert (run.observations, run.created) == (3, 0)


def test_refusals(actor: Actor) -> None:
    with pytest.raises(ScopeMissing):
        dream(Actor(actor.project_id, "key", scopes=frozenset({"read"})))
    with pytest.raises(Invalid):
        BranchManager().create_branch(name="dream/main/mine", actor=actor)
    branch = Branch.objects.get(project=actor.project_id, name="main")
    ConsolidationRun.objects.create(
        project_id=actor.project_id,
        branch=branch,
        level="dreaming",
        target="main",
        slot=f"{branch.pk}:dreaming:main",
        lease_until=timezone.now() + timedelta(minutes=1),
        started_at=timezone.now(),
    )
    with pytest.raises(Conflict):
        dream(actor)


def test_without_an_embedder_it_says_so(actor: Actor, settings: Any) -> None:
    settings.DAY1 = {**settings.DAY1, "embedder": "off"}
    write_topic(actor)
    run = dream(actor).run
    assert (run.state, run.created) == ("partial", 0)
    assert run.note == "Without an embedder nothing is grouped by meaning."


# ---- the model ---------------------------------------------------------------------------------------


@pytest.fixture
def model(settings: Any) -> Iterator[FakeJudge]:
    with FakeJudge() as server:
        settings.DAY1 = {**settings.DAY1, **server.settings()}
        yield server


def test_a_sentence_of_the_model(actor: Actor, model: FakeJudge) -> None:
    write_topic(actor)
    model.text = json.dumps({"summary": "Builds depend on a warm cache."})
    report = dream(actor)
    assert report.changes[0].fact.essence == "Builds depend on a warm cache."
    assert (report.run.mode, report.run.model, report.run.calls) == ("llm", MODEL, 1)
    assert len(model.prompts) == 1


@pytest.mark.parametrize(
    "text", [json.dumps({"summary": "It takes 17 minutes."}), json.dumps({"summary": "x" * 300})]
)
def test_an_invented_number_or_a_long_sentence_is_not_taken(
    actor: Actor, model: FakeJudge, text: str
) -> None:
    write_topic(actor)
    model.text = text
    report = dream(actor)
    assert (report.run.mode, report.run.state) == ("rules", "done")
    assert report.changes[0].fact.essence in TOPICS["build"]


def test_nonsense_makes_the_run_partial(actor: Actor, model: FakeJudge) -> None:
    write_topic(actor)
    write_topic(actor, "测试", axis=1)
    model.text = "no idea"
    run = dream(actor).run
    assert (run.state, run.created, run.calls) == ("partial", 2, 1)


def test_the_budget_is_spent(actor: Actor, model: FakeJudge, settings: Any) -> None:
    settings.DAY1 = {**settings.DAY1, "consolidation_budget": 1}
    write_topic(actor)
    write_topic(actor, "测试", axis=1)
    model.text = json.dumps({"summary": "Something is noticed often."})
    run = dream(actor).run
    assert (run.state, run.created, run.calls, run.mode) == ("partial", 2, 1, "llm")
    assert run.note == "The budget of 1 calls is spent: rules read the rest."


# ---- groups --------------------------------------------------------------------------------------------


def test_a_pair_that_differs_in_numbers_is_left_out(actor: Actor) -> None:
    for at, text in enumerate(
        ["Port 80 is open.", "Port 81 is open.", "Ports are few.", "Ports leak.", "Use ports."]
    ):
        write(actor, text, wobble=0 if at < 2 else at)
    (proposal,) = dream(actor, dry_run=True).changes
    assert {row.text for row in proposal.evidence} == {"Ports are few.", "Ports leak.", "Use ports."}


@given(st.integers(0, 2**32), st.permutations(range(24)))
def test_groups_do_not_depend_on_the_order(seed: int, order: list[int]) -> None:
    random = np.random.default_rng(seed)
    matrix = random.normal(size=(24, 6)).astype("f4") + np.repeat(np.eye(6, dtype="f4") * 3, 4, axis=0)
    matrix /= np.linalg.norm(matrix, axis=1, keepdims=True)
    facts = [Fact(fact_text=f"text {at}", confidence=0.5) for at in range(24)]
    for fact in facts:
        fact.confirmation_count = 0

    def group(rows: list[int]) -> set[frozenset[str]]:
        found = find_clusters([facts[at] for at in rows], matrix[rows], "m", DreamRules(min_size=2))
        return {frozenset(str(one.uid) for one in cluster.members) for cluster in found}

    assert group(list(range(24))) == group(order)
