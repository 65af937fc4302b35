"""Each use of a model at a budget that is used up: it says so, keeps what it has, and doubles nothing."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from conversations.engines.replays.engine import ReplayEngine
from conversations.models import ConsolidationRun, Message, Replay
from curation.engines.dreaming.engine import DreamEngine
from curation.engines.scoring.engine import ScoringEngine
from curation.engines.templates.engine import TemplateEngine
from curation.engines.verification.engine import VerificationEngine
from curation.models import Scoring, Verification, VerificationJob
from memory.actors import Actor
from memory.engines.branches.manager import BranchManager
from memory.engines.facts.engine import FactEngine
from memory.models import Fact, Project
from tests.conversations.conftest import begin, model, say, source
from tests.conversations.fake_model import FakeModel
from tests.conversations.fake_model import completion as step
from tests.conversations.test_consolidation_runs import ARGON
from tests.conversations.test_consolidation_runs import run as consolidate
from tests.curation.fake_judge import FakeJudge, rating
from tests.curation.test_dreaming import TOPICS, vectors, write_topic
from tests.curation.test_scoring import NAMES, talk
from tests.memory.fake_provider import FakeProvider
from tests.memory.test_model_budgets import allow, spend, write_facts

__all__ = ["begin", "model", "say", "source", "talk", "vectors"]
pytestmark = pytest.mark.django_db(transaction=True)
WORDS = "Repair the login of the mobile application"


@dataclass
class World:
    """What the uses of models are made of."""

    actor: Actor
    judge: FakeJudge
    replayer: FakeModel
    embedder: FakeProvider
    say: Any
    talk: Any
    begin: Any

    def count_requests(self) -> int:
        return len(self.judge.prompts) + len(self.replayer.sent) + len(self.embedder.calls)


@pytest.fixture
def world(
    actor: Actor,
    vectors: FakeProvider,
    judge: FakeJudge,
    model: FakeModel,
    say: Any,
    talk: Any,
    begin: Any,
) -> World:
    return World(actor, judge, model, vectors, say, talk, begin)


@dataclass(frozen=True)
class Use:
    """A use of a model. ``take`` begins it, or goes on, and returns what it says; ``count`` what it has made;
    ``calls`` are those of the budget, ``requests`` those that it sends once the budget is raised.
    """

    take: Callable[[World], str]
    count: Callable[[World], Any]
    calls: int
    made: Any
    made_later: Any
    requests: int


def take_consolidation(world: World) -> str:
    if not ConsolidationRun.objects.exists():
        world.say(ARGON, role="user")
    return str(consolidate(world.actor).run.note)


def take_dream(world: World) -> str:
    if not Fact.objects.all_versions().exists():
        for axis, name in enumerate(TOPICS):
            write_topic(world.actor, name, axis)
        world.judge.text = json.dumps({"summary": "Something is noticed often."})
    return str(DreamEngine().consolidate(actor=world.actor).run.note)


def take_verification(world: World) -> str:
    jobs, job = VerificationEngine(), VerificationJob.objects.first()
    if job is None:
        write_facts(world.actor)
        job = jobs.verify_batch(actor=world.actor, votes=3, limit=2)
    VerificationJob.objects.update(resume_at=job.created_at)
    jobs.run_job(job.pk)
    job.refresh_from_db()
    return str(job.note if job.state == "waiting" else "")


def take_scoring(world: World) -> str:
    engine, row = ScoringEngine(), Scoring.objects.first()
    if row is None:
        world.judge.text = rating(0.5, names=NAMES)
        row = engine.start_scoring(conversation_id=world.talk().uid, actor=world.actor, votes=3)
    Scoring.objects.update(resume_at=row.created_at)
    engine.run_scoring(row.pk)
    row.refresh_from_db()
    return str(row.warning)


def take_replay(world: World) -> str:
    engine, replay = ReplayEngine(), Replay.objects.first()
    if replay is None:
        world.replayer.next += [step("I look.", ("Read", {"path": "auth.py"})), step("It is the clock.")]
        replay = world.begin()
        engine.run_replay(replay_id=replay.pk, actor=world.actor)
    Replay.objects.update(resume_at=replay.created_at)
    engine.execute_replay(replay.pk)
    replay.refresh_from_db()
    return str(replay.note)


def take_ranking(world: World) -> str:
    engine = TemplateEngine()
    if not engine.list_templates(actor=world.actor).results:
        BranchManager().create_branch(name="task/login", actor=world.actor)
        about = {"name": "bug-fix", "source_branch": "task/login", "description": WORDS}
        engine.create_template(**about, actor=world.actor)
    found = engine.find_template(description=WORDS, actor=world.actor)
    return f"{len(found)} by words" if not world.embedder.calls else ""


def count_replayed(world: World) -> int:
    row = Replay.objects.get()
    return Message._base_manager.filter(conversation_id=row.conversation_id).count()


def count_votes(world: World) -> tuple[int, ...]:
    rows = Verification.objects.filter(method="judge").order_by("pk")
    return (*rows.values_list("votes", flat=True), VerificationJob.objects.get().calls)


def count_reflections(world: World) -> int:
    return Fact.objects.all_versions().filter(kind=Fact.Kind.REFLECTION).count()


USES = {
    "consolidation": Use(take_consolidation, lambda world: Fact.objects.all_versions().count(), 0, 1, 1, 0),
    "dreaming": Use(take_dream, count_reflections, 1, 2, 2, 1),
    "verification": Use(take_verification, count_votes, 2, (2, 2), (2, 3, 5), 5),
    "scoring": Use(take_scoring, lambda world: len(Scoring.objects.get().ballots), 2, 2, 3, 3),
    "replays": Use(take_replay, count_replayed, 1, 2, 3, 2),
}


@pytest.mark.parametrize("name", USES)
def test_a_use_stops_at_the_budget_and_doubles_nothing_later(
    name: str, world: World, project: Project
) -> None:
    use = USES[name]
    allow(project, world.actor, model_calls=use.calls + 1)
    spend(project)
    said = use.take(world)
    assert said.startswith(f"Partial: budget used up. The project has spent {use.calls + 1} of")
    assert (use.count(world), world.count_requests()) == (use.made, use.calls)
    use.take(world)
    assert (use.count(world), world.count_requests()) == (use.made, use.calls)
    allow(project, world.actor)
    for _again in range(2):
        use.take(world)
        assert (use.count(world), world.count_requests()) == (use.made_later, use.requests)


def test_what_rules_read_the_model_does_not_read_later(world: World, project: Project) -> None:
    allow(project, world.actor, model_calls=1)
    spend(project)
    assert take_consolidation(world).endswith("Rules read the rest; the model does not come back to it.")


def test_templates_are_ranked_by_their_words(world: World, project: Project) -> None:
    allow(project, world.actor, model_calls=1)
    spend(project)
    assert take_ranking(world) == "1 by words"
    allow(project, world.actor)
    assert take_ranking(world) == ""
    assert FactEngine().list_facts(actor=world.actor).results == []
