"""Runs over facts: an agent's and a task's duplicates, the summary, what outlives a task."""

from typing import Any

import pytest

from conversations.engines.consolidation.engine import ConsolidationEngine
from conversations.engines.consolidation.grouping import link_completely
from conversations.engines.consolidation.matching import Texts, split_tokens
from conversations.models import ConsolidationRun
from memory.actors import Actor
from memory.engines.access.policies import PolicyEngine
from memory.engines.agent_tasks.engine import TaskEngine
from memory.engines.branches.manager import BranchManager
from memory.engines.facts.engine import FactEngine
from memory.engines.facts.links import LinkEngine
from memory.exceptions import (
    BranchArchived,
    BranchForbidden,
    BranchNotFound,
    DirectWritesRefused,
    NotFound,
    ScopeMissing,
)
from memory.models import Commit, Fact, Project
from tests.conversations.test_consolidation_runs import ARGON, NEARLY, counts, dump
from tests.memory.test_agent_tasks import key_actor

pytestmark = pytest.mark.django_db(transaction=True)
engine = ConsolidationEngine()
ONCE_MORE = f"{ARGON[:-1]} now."
HOOK = "conversations.engines.consolidation.automatic.TaskConsolidation"


@pytest.fixture(autouse=True)
def by_words(settings: Any, main: Any) -> None:
    settings.DAY1 = {**settings.DAY1, "embedder": "off", "task_hooks": (HOOK,)}


def write(actor: Actor, text: str, session: str, agent: str = "ada", **fields: Any) -> Fact:
    fields = {"session_id": session, "agent_id": agent, **fields}
    return FactEngine().write_fact(fact_text=text, actor=actor, **fields).fact


def states(actor: Actor, branch: str = "main") -> dict[str, tuple[str, float, int]]:
    facts = FactEngine().list_facts(actor=actor, branch_name=branch).results
    return {fact.fact_text: (fact.status, fact.confidence, fact.confirmation_count) for fact in facts}


def consolidate(actor: Actor, **options: Any) -> Any:
    return engine.consolidate_agent(agent_id="ada", actor=actor, **options)


# ---- groups ----------------------------------------------------------------------------------------------


def test_a_chain_is_no_group() -> None:
    """Where a says b and b says c, but a does not say c, only one pair becomes a group."""
    words = "red blue green black white brown pink grey gold cyan rust lime teal plum navy".split()
    lines = [" ".join(words[at : at + 13]) for at in range(3)]
    facts = [Fact(rid=at, fact_text=line) for at, line in enumerate(lines)]
    texts = Texts({line: split_tokens(line) for line in lines})
    scores = [[bool(texts.measure(a, b)) for b in lines] for a in lines]
    assert (scores[0][1], scores[1][2], scores[0][2]) == (True, True, False)
    groups = link_completely(facts, texts)
    assert [[fact.rid for fact in group] for group in groups] == [[0, 1]]


# ---- an agent --------------------------------------------------------------------------------------------


def test_the_best_of_an_agents_duplicates_stays(actor: Actor) -> None:
    one = write(actor, NEARLY, "s1")
    best = write(actor, ARGON, "s2", confidence=0.8)
    two = write(actor, ONCE_MORE, "s3")
    write(actor, "The ledger counts in cents.", "s1")
    write(actor, NEARLY, "s4", agent="bob")
    report = consolidate(actor)
    assert counts(report.run) == (0, 4, 0, 1, 2)
    assert states(actor) == {
        NEARLY: ("superseded", 0.7, 1),
        ARGON: ("active", 1.0, 2),
        ONCE_MORE: ("superseded", 0.7, 0),
        "The ledger counts in cents.": ("active", 0.7, 0),
    }
    kept = FactEngine().get_fact(fact_id=best.uid, actor=actor)
    links = LinkEngine().list_links(fact_id=best.uid, actor=actor).results
    linked = {link.to_id for link in links if link.from_id == best.uid}
    assert {kept.parent_id, *linked} == {one.uid, two.uid}
    (change,) = report.changes
    assert (change.action, change.fact.uid) == ("merged", best.uid)
    assert {evidence.id for evidence in change.evidence} == {one.uid, two.uid}


def test_a_verified_one_goes_before_a_more_confident_one(actor: Actor) -> None:
    verified = write(actor, NEARLY, "s1")
    write(actor, ARGON, "s2", confidence=1.0)
    FactEngine().set_verification(fact_id=verified.uid, verdict="verified", reason="Seen.", actor=actor)
    consolidate(actor)
    assert {text: state[0] for text, state in states(actor).items()} == {
        NEARLY: "active",
        ARGON: "superseded",
    }


@pytest.mark.parametrize(
    "fields", [{"visibility": "private"}, {"valid_until": "2099-01-01T00:00:00Z"}, {"kind": "BELIEF"}]
)
def test_what_holds_otherwise_is_left_alone(actor: Actor, fields: dict[str, str]) -> None:
    write(actor, ARGON, "s1")
    write(actor, ONCE_MORE, "s2", **fields)
    assert consolidate(actor).run.deduplicated == 0
    assert {state[0] for state in states(actor).values()} == {"active"}


def test_a_summary_holds_nothing_private(actor: Actor) -> None:
    for text in ("The ledger counts in cents.", "Anna reviews it.", "Retries end after five tries."):
        write(actor, text, "s1")
    write(actor, "The vault's word is heron.", "s1", visibility="private")
    consolidate(actor)
    (summary,) = [one for one in states(actor) if one.startswith("ada knows")]
    assert ("ada knows 3 facts" in summary, "heron" in summary) == (True, False)


def test_a_summary_is_of_the_facts_as_the_run_leaves_them(actor: Actor) -> None:
    for text, session in (
        ("Cents are counted.", "s1"),
        ("Anna reviews it.", "s1"),
        ("Refunds are booked.", "s1"),
    ):
        write(actor, text, session)
    write(actor, "Refunds are booked!", "s2")
    assert consolidate(actor).run.deduplicated == 1
    head = Commit.objects.count()
    assert (counts(consolidate(actor).run)[1:], Commit.objects.count()) == ((3, 0, 0, 0), head)


@pytest.mark.parametrize("dry_run", [True, False])
def test_a_branch_that_refuses_direct_writes_refuses_a_run(
    actor: Actor, project: Project, dry_run: bool
) -> None:
    write(actor, "Cents are counted.", "s1"), write(actor, "Cents are counted!", "s2")
    PolicyEngine().set_policy(pattern="main", direct_writes="refuse", actor=actor)
    with pytest.raises(DirectWritesRefused):
        consolidate(key_actor(project, scopes=["curate"]), dry_run=dry_run)
    assert [one[0] for one in states(actor).values()] == ["active", "active"]


def test_one_summary_of_an_agent_that_follows_its_facts(actor: Actor) -> None:
    facts = [
        write(actor, "The ledger counts in cents.", "s1", category="decision"),
        write(actor, "Anna reviews the ledger.", "s1", category="decision"),
        write(actor, "Retries end after five tries.", "s2", category="pattern"),
    ]
    report = consolidate(actor)
    text = (
        "ada knows 3 facts. decision (2): The ledger counts in cents; Anna reviews the ledger."
        " pattern (1): Retries end after five tries."
    )
    assert report.run.created == 1
    (change,) = report.changes
    assert (change.action, change.fact.fact_text, change.fact.kind) == ("created", text, "NOTE")
    assert {one.id for one in change.evidence} == {fact.uid for fact in facts}
    head = Commit.objects.count()
    assert (counts(consolidate(actor).run), Commit.objects.count()) == ((0, 3, 0, 0, 0), head)
    FactEngine().archive_fact(fact_id=facts[2].uid, actor=actor)
    write(actor, "Refunds are booked on the day.", "s3", category="decision")
    again = consolidate(actor)
    assert (again.run.created, again.run.updated) == (0, 1)
    summaries = [one for one in states(actor) if one.startswith("ada knows")]
    assert [("Refunds" in one, "Retries" in one) for one in summaries] == [(True, False)]
    links = LinkEngine().list_links(fact_id=change.fact.uid, actor=actor).results
    assert (facts[2].uid in {link.to_id for link in links}, len(links)) == (False, 3)


def test_a_run_over_facts_is_undone_whole(actor: Actor) -> None:
    for key, text in (
        ("s1", NEARLY),
        ("s2", ARGON),
        ("s3", "The ledger counts in cents."),
        ("s4", "CI is slow."),
    ):
        write(actor, text, key)
    write(actor, "Anna reviews the ledger.", "s4")
    before = states(actor)
    run = consolidate(actor).run
    assert (run.created, run.deduplicated, len(run.commits)) == (1, 1, 2)
    engine.undo_run(run_id=run.pk, actor=actor)
    assert states(actor) == before


def test_a_dry_run_over_facts(actor: Actor) -> None:
    write(actor, NEARLY, "s1")
    write(actor, ARGON, "s2")
    before = dump()
    dry = consolidate(actor, dry_run=True)
    after = dump()
    assert {name: rows for name, rows in after.items() if rows != before[name]} == {}
    real = consolidate(actor)
    assert counts(dry.run) == counts(real.run) == (0, 2, 0, 1, 1)
    assert [one.fact.fact_text for one in dry.changes] == [one.fact.fact_text for one in real.changes]


def test_only_duplicates_of_a_branch_itself_are_its_business(actor: Actor) -> None:
    write(actor, NEARLY, "s1")
    write(actor, ARGON, "s2")
    BranchManager().create_branch(name="task/x", actor=actor)
    assert consolidate(actor, branch_name="task/x").run.deduplicated == 0
    write(actor, ONCE_MORE, "s3", branch_name="task/x")
    assert consolidate(actor, branch_name="task/x").run.deduplicated == 2
    assert {state[0] for state in states(actor).values()} == {"active"}


def test_refusals(actor: Actor, project: Project) -> None:
    write(actor, ARGON, "s1")
    BranchManager().create_branch(name="task/x", actor=actor)
    reader = key_actor(project, scopes=["propose"])
    own = key_actor(project, branch_patterns=["task/*"])
    with pytest.raises(ScopeMissing):
        consolidate(reader)
    with pytest.raises(BranchForbidden):
        consolidate(own)
    with pytest.raises(NotFound):
        engine.consolidate_agent(agent_id="nobody", actor=actor)
    with pytest.raises(NotFound):
        engine.consolidate_task(task="nothing", actor=actor)
    with pytest.raises(BranchNotFound):
        consolidate(actor, branch_name="task/nothing")
    BranchManager().archive_branch(name="task/x", actor=actor)
    with pytest.raises(BranchArchived):
        consolidate(actor, branch_name="task/x")
    PolicyEngine().set_policy(pattern="main", direct_writes="propose", actor=actor)
    with pytest.raises(ScopeMissing):  # a guarded branch is changed by curators
        consolidate(key_actor(project))
    assert not ConsolidationRun.objects.exists()


# ---- a task ----------------------------------------------------------------------------------------------


def begin_task(actor: Actor) -> None:
    tasks = TaskEngine()
    tasks.create_task(name="Fix", actor=actor)
    for agent in ("ada", "bob"):
        branch = tasks.join_task(task="fix", agent_id=agent, actor=actor).part.branch.name
        text = ARGON if agent == "ada" else NEARLY
        write(actor, text, f"s-{agent}", agent, branch_name=branch, category="decision")


def test_a_tasks_run_merges_what_its_agents_learned_and_says_what_is_durable(actor: Actor) -> None:
    begin_task(actor)
    for agent in ("ada", "bob"):
        TaskEngine().complete_agent(task="fix", agent_id=agent, actor=actor)
    assert not ConsolidationRun.objects.exists()  # nothing was there twice on either agent's branch
    dry = engine.consolidate_task(task="fix", actor=actor, dry_run=True)
    assert not ConsolidationRun.objects.exists()
    report = engine.consolidate_task(task="fix", actor=actor)
    assert counts(report.run) == counts(dry.run) == (0, 2, 0, 1, 1)
    (kept,) = [fact for fact in report.changes if fact.action == "merged"]
    assert list(report.durable) == list(dry.durable) == [kept.fact.uid]
    assert (report.run.durable, report.run.target, report.run.level) == (1, "fix", "task")


def test_the_end_of_a_task_consolidates_it(actor: Actor) -> None:
    begin_task(actor)
    for agent in ("ada", "bob"):
        TaskEngine().complete_agent(task="fix", agent_id=agent, actor=actor)
    done = TaskEngine().complete_task(task="fix", actor=actor)
    assert len(done.durable) == 1
    run = ConsolidationRun.objects.get()
    assert (run.level, run.target, run.branch.name, run.deduplicated) == ("task", "fix", "task/fix", 1)
    assert states(actor, "task/fix")[ARGON] == ("active", 0.8, 1)


def test_a_guarded_branch_of_a_task_is_left_to_people(actor: Actor) -> None:
    begin_task(actor)
    for agent in ("ada", "bob"):
        TaskEngine().complete_agent(task="fix", agent_id=agent, actor=actor)
    PolicyEngine().set_policy(pattern="task/fix", direct_writes="refuse", actor=actor)
    assert TaskEngine().complete_task(task="fix", actor=actor).durable == []
    assert not ConsolidationRun.objects.exists()
