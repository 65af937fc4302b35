"""Runs over sessions: kept, measured, idempotent, undone whole; the same statement is one fact."""

from collections.abc import Callable
from itertools import permutations
from typing import Any

import pytest
from django.apps import apps

from conversations.engines.consolidation import session as consolidation
from conversations.engines.consolidation.engine import ConsolidationEngine
from conversations.engines.consolidation.runs import open_run
from conversations.models import ConsolidationRun
from conversations.tasks import sweep_runs
from memory.actors import Actor
from memory.engines.access.policies import PolicyEngine
from memory.engines.branches.manager import BranchManager
from memory.engines.branches.revert import RevertEngine
from memory.engines.facts.engine import FactEngine
from memory.engines.facts.links import LinkEngine
from memory.engines.sessions.manager import SessionManager
from memory.engines.support.write_buffer import buffer
from memory.exceptions import (
    BranchArchived,
    BranchForbidden,
    Conflict,
    IllegalTransition,
    NotFound,
    ScopeMissing,
)
from memory.models import AuditEntry, Branch, Commit, Project, QueueMessage, Session
from tests.memory.test_agent_tasks import key_actor
from tests.site.hook_events import CONSOLIDATOR

pytestmark = pytest.mark.django_db(transaction=True)
engine, manager = ConsolidationEngine(), SessionManager()
ARGON = "We decided to use argon2 for all the new passwords of the shop."
NEARLY = "We decided to use argon2 for all new passwords of the shop."
Say = Callable[..., Any]


@pytest.fixture(autouse=True)
def by_words(settings: Any) -> None:
    settings.DAY1 = {**settings.DAY1, "embedder": "off", "consolidator": CONSOLIDATOR}


def end(actor: Actor, key: str = "s1") -> None:
    manager.end_session(session_id=key, actor=actor)


def run(actor: Actor, key: str = "s1", **options: Any) -> Any:
    if Session.objects.get(key=key).status == Session.Status.ACTIVE:
        end(actor, key)
    report = engine.consolidate_session(session_id=key, actor=actor, **options)
    if report.run.state != "queued":
        return report
    engine.carry_out_queued(run_id=report.run.pk)
    return engine.get_run(run_id=report.run.pk, actor=actor)


def shown(actor: Actor, branch: str = "main") -> list[tuple[Any, ...]]:
    """Return what the branch shows of its facts, and their links."""
    facts = FactEngine().list_facts(actor=actor, branch_name=branch).results
    where = {"actor": actor, "branch_name": branch}
    return [
        (
            fact.fact_text,
            fact.status,
            fact.confidence,
            fact.confirmation_count,
            {(link.to_id, link.link_type) for link in LinkEngine().list_links(fact_id=fact.uid, **where)},
        )
        for fact in facts
    ]


def brief(actor: Actor) -> list[tuple[str, float, int]]:
    facts = FactEngine().list_facts(actor=actor).results
    return [(fact.fact_text, fact.confidence, fact.confirmation_count) for fact in facts]


def dump() -> dict[str, list[Any]]:
    """Return all rows of all tables."""
    buffer.flush()
    models = [*apps.get_app_config("memory").get_models(), *apps.get_app_config("conversations").get_models()]
    kept = [model for model in models if model.__name__ not in ("IdLease", "NodeLease", "Node")]
    return {model.__name__: list(model._base_manager.order_by("pk").values()) for model in kept}


def counts(found: ConsolidationRun) -> tuple[int, ...]:
    return (found.messages, found.observations, found.created, found.updated, found.deduplicated)


# ---- what a run is -------------------------------------------------------------------------------------


def test_a_run_is_kept_with_its_counts_and_its_evidence(actor: Actor, say: Say, did: Say) -> None:
    said = say(f"Thanks. {ARGON}", role="user")
    say("Understood, I will look at the hashing module now.")
    did("Bash", {"command": "ls"}, "auth")
    report = run(actor)
    found = report.run
    assert counts(found) == (2, 1, 1, 0, 0)
    assert (found.level, found.target, found.state, found.mode) == ("session", "s1", "done", "rules")
    assert (found.yield_rate, found.created_by, found.branch.name) == (0.3333, "local", "main")
    assert [str(row.pk) for row in Commit.objects.filter(kind="consolidate.session")] == found.commits
    (change,) = report.changes
    assert (change.action, change.fact.fact_text) == ("created", ARGON)
    assert [(one.kind, one.id, one.text) for one in change.evidence] == [
        ("message", said.uid, f"Thanks. {ARGON}")
    ]
    entry = AuditEntry.objects.get(action="consolidation.run")
    assert (entry.target, entry.detail["created"]) == (str(found.pk), 1)


def test_again_changes_nothing(actor: Actor, say: Say) -> None:
    say(ARGON)
    run(actor)
    before = shown(actor)
    again = run(actor).run
    assert (counts(again), again.state, again.commits) == ((0, 0, 0, 0, 0), "done", [])
    assert shown(actor) == before


def test_the_workers_empty_run_leaves_no_row(actor: Actor, say: Say) -> None:
    say(ARGON)
    end(actor)
    session = Session.objects.get()
    assert manager.consolidate_session(session.pk) == 1
    assert manager.consolidate_session(session.pk) == 0
    assert ConsolidationRun.objects.count() == 1


def test_what_came_since_is_counted_once(actor: Actor, say: Say) -> None:
    say(ARGON)
    run(actor)
    say("We decided to rotate keys monthly.")
    assert counts(run(actor).run) == (1, 0, 1, 0, 0)


@pytest.mark.parametrize("order", list(permutations(("s1", "s2", "s3"))))
def test_twice_is_once_in_any_order(actor: Actor, say: Say, order: tuple[str, ...]) -> None:
    for key, text in (("s1", ARGON), ("s2", NEARLY), ("s3", ARGON.lower())):
        say(text, session=key)
    for key in order:
        run(actor, key)
    before = shown(actor)
    for key in order:
        run(actor, key)
    assert shown(actor) == before
    assert [row[1:4] for row in before] == [("active", 0.9, 2)]
    assert len(before[0][4]) == 3


# ---- the same --------------------------------------------------------------------------------------------


def test_nearly_the_same_of_another_session_confirms(actor: Actor, say: Say) -> None:
    say(ARGON)
    said = say(NEARLY, session="s2")
    run(actor)
    report = run(actor, "s2")
    assert counts(report.run) == (1, 0, 0, 1, 1)
    assert brief(actor) == [(ARGON, 0.8, 1)]
    (change,) = report.changes
    assert (change.action, [one.id for one in change.evidence]) == ("confirmed", [said.uid])


def test_the_same_decision_in_other_words_confirms_and_an_undo_takes_it_back(actor: Actor, say: Say) -> None:
    say("We decided to use Kafka for the ledger export.", role="user")
    run(actor)
    before = shown(actor)
    said = say("Go with Kafka for the ledger export, and leave RabbitMQ alone.", role="user", session="s2")
    report = run(actor, "s2")
    assert (counts(report.run), brief(actor)) == (
        (1, 0, 0, 1, 1),
        [("We decided to use Kafka for the ledger export.", 0.8, 1)],
    )
    (change,) = report.changes
    assert (change.action, [one.id for one in change.evidence]) == ("confirmed", [said.uid])
    engine.undo_run(run_id=report.run.pk, actor=actor)
    assert shown(actor) == before


def test_nearly_the_same_of_one_session_is_one_fact_and_confirms_nothing(actor: Actor, say: Say) -> None:
    say(ARGON, role="user")
    say(NEARLY)
    assert counts(run(actor).run) == (2, 0, 1, 0, 1)
    assert brief(actor) == [(ARGON, 0.7, 0)]
    say(f"{ARGON[:-1]} now.")
    assert counts(run(actor).run) == (1, 0, 0, 0, 1)
    assert brief(actor) == [(ARGON, 0.7, 0)]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (
            "We decided that the webhook of the shop retries 5 times before it gives up.",
            "We decided that the webhook of the shop retries 6 times before it gives up.",
        ),
        (
            "We decided that the new ledger service should write to the old audit table.",
            "We decided that the new ledger service should not write to the old audit table.",
        ),
        (
            "We decided that Alice reviews every change of the ledger before it goes out.",
            "We decided that Bob reviews every change of the ledger before it goes out.",
        ),
        ("我们决定网关的请求超时设为30秒钟。", "我们决定网关的请求超时设为60秒钟。"),
    ],
)
def test_what_differs_in_numbers_negation_or_names_is_two(
    actor: Actor, say: Say, one: str, other: str
) -> None:
    say(one)
    say(other, session="s2")
    assert (run(actor).run.created, run(actor, "s2").run.created) == (1, 1)
    assert sorted(brief(actor)) == sorted([(one, 0.7, 0), (other, 0.7, 0)])


def test_a_confidence_ends_at_one(actor: Actor, say: Say) -> None:
    FactEngine().write_fact(fact_text=ARGON, confidence=0.95, session_id="s0", actor=actor)
    say(NEARLY)
    run(actor)
    assert brief(actor) == [(ARGON, 1.0, 1)]


def test_a_proposal_of_a_guarded_branch_confirms_nothing(actor: Actor, say: Say) -> None:
    FactEngine().write_fact(fact_text=ARGON, session_id="s0", actor=actor)
    PolicyEngine().set_policy(pattern="main", direct_writes="propose", actor=actor)
    say(f"{NEARLY} We decided to rotate keys monthly.")
    report = run(actor)
    assert counts(report.run) == (1, 0, 1, 0, 1)
    facts = {row[0]: row[1:4] for row in shown(actor)}
    assert facts[ARGON] == ("active", 0.7, 0)
    assert sorted(row[1] for row in shown(actor)) == ["active", "created"]


# ---- echoes and contradictions ---------------------------------------------------------------------------


def test_what_memory_told_the_session_is_neither_learned_nor_confirmed(actor: Actor, say: Say) -> None:
    fact = FactEngine().write_fact(fact_text=ARGON, session_id="s0", actor=actor).fact
    manager.create_session(session_id="s1", actor=actor)
    Session.objects.filter(key="s1").update(recalled={"p1": [str(fact.uid)]})
    say(f"{ARGON} {NEARLY}")
    assert counts(run(actor).run) == (1, 0, 0, 0, 0)
    assert brief(actor) == [(ARGON, 0.7, 0)]


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("We decided to keep the session tokens in Redis.", "We no longer keep the session tokens in Redis."),
        (
            "We decided to use Redis for the job queue.",
            "Let's use Postgres instead of Redis for the job queue.",
        ),
        ("会话令牌用 Redis 存储。", "会话令牌改用 PostgreSQL 存储。"),
    ],
)
def test_a_decision_that_takes_anothers_place_is_linked_and_put_to_a_curator(
    actor: Actor, say: Say, older: str, newer: str
) -> None:
    ReviewItem = apps.get_model("curation", "ReviewItem")
    say(older, role="user")
    say(newer, role="user", session="s2")
    run(actor)
    run(actor, "s2")
    facts = {fact.fact_text: fact for fact in FactEngine().list_facts(actor=actor).results}
    assert {text: fact.status for text, fact in facts.items()} == dict.fromkeys((older, newer), "active")
    links = LinkEngine().list_links(fact_id=facts[older].uid, actor=actor).results
    contests = [link for link in links if link.link_type == "CONTESTED_BY"]
    assert [(link.from_id, link.to_id) for link in contests] == [(facts[older].uid, facts[newer].uid)]
    assert {(item.fact_id, item.other_id) for item in ReviewItem.objects.all()} == {
        (facts[newer].uid, facts[older].uid)
    }


# ---- dry run and undo ------------------------------------------------------------------------------------


def test_a_dry_run_answers_the_same_and_writes_nothing(actor: Actor, say: Say) -> None:
    FactEngine().write_fact(fact_text=ARGON, session_id="s0", actor=actor)
    say(f"{NEARLY} We decided to rotate keys monthly.")
    end(actor)
    before = dump()
    dry = run(actor, dry_run=True)
    after = dump()
    assert {name: rows for name, rows in after.items() if rows != before[name]} == {}
    real = run(actor)
    assert (dry.run.dry_run, real.run.dry_run) == (True, False)
    assert (counts(dry.run), dry.run.state) == (counts(real.run), real.run.state)
    says = [
        [(one.action, one.fact.fact_text, one.evidence) for one in report.changes] for report in (dry, real)
    ]
    assert sorted(says[0], key=str) == sorted(says[1], key=str)
    assert len(says[0]) == 2


def test_an_undo_takes_all_of_it_back_for_good(actor: Actor, say: Say) -> None:
    FactEngine().write_fact(fact_text=ARGON, session_id="s0", actor=actor)
    say(f"{NEARLY} We decided to rotate keys monthly.")
    before = shown(actor)
    found = run(actor).run
    assert shown(actor) != before
    undone = engine.undo_run(run_id=found.pk, actor=actor)
    assert (undone.state, undone.undone_by, shown(actor)) == ("undone", "local", before)
    assert AuditEntry.objects.filter(action="consolidation.undo", target=str(found.pk)).count() == 1
    assert counts(run(actor).run) == (0, 0, 0, 0, 0)
    assert shown(actor) == before
    say("We decided to pin the base image.")
    assert run(actor).run.created == 1
    with pytest.raises(IllegalTransition):
        engine.undo_run(run_id=found.pk, actor=actor)


def test_an_undo_of_several_commits(actor: Actor, say: Say, monkeypatch: Any) -> None:
    monkeypatch.setattr(consolidation, "MAX_COMMIT_FINDINGS", 1)
    for name in ("Ada", "Bob", "Cyd"):
        say(f"We decided that {name} reviews the ledger.")
    found = run(actor).run
    assert (len(found.commits), found.created) == (3, 3)
    engine.undo_run(run_id=found.pk, actor=actor)
    assert shown(actor) == []


def test_an_undo_skips_what_was_reverted_by_hand(actor: Actor, say: Say, monkeypatch: Any) -> None:
    monkeypatch.setattr(consolidation, "MAX_COMMIT_FINDINGS", 1)
    for name in ("Ada", "Bob"):
        say(f"We decided that {name} reviews the ledger.")
    found = run(actor).run
    RevertEngine().revert_commit(commit_id=found.commits[0], actor=actor)
    assert engine.undo_run(run_id=found.pk, actor=actor).state == "undone"
    assert shown(actor) == []


def test_an_undo_is_refused_with_what_was_built_on_it(actor: Actor, say: Say) -> None:
    say(f"{ARGON} We decided to rotate keys monthly.")
    say(NEARLY, session="s2")
    first = run(actor).run
    second = run(actor, "s2").run
    fact = next(one for one in FactEngine().list_facts(actor=actor).results if one.fact_text == ARGON)
    before = dump()
    with pytest.raises(Conflict) as refusal:
        engine.undo_run(run_id=first.pk, actor=actor)
    assert refusal.value.data["changed"] == [str(fact.uid)]
    after = dump()
    assert {name: rows for name, rows in after.items() if rows != before[name]} == {}
    engine.undo_run(run_id=second.pk, actor=actor)
    engine.undo_run(run_id=first.pk, actor=actor)
    assert shown(actor) == []


# ---- refusals --------------------------------------------------------------------------------------------


def refused(error: type[Exception], actor: Actor, key: str = "s1") -> None:
    before = dump()
    with pytest.raises(error):
        engine.consolidate_session(session_id=key, actor=actor)
    after = dump()
    assert {name: rows for name, rows in after.items() if rows != before[name]} == {}


def test_who_and_what_is_refused(actor: Actor, project: Project, say: Say) -> None:
    BranchManager().create_branch(name="task/x", actor=actor)
    say(ARGON, session="active")
    say(ARGON, session="there", branch="task/x")
    end(actor, "there")
    refused(Conflict, actor, "active")
    refused(NotFound, actor, "nowhere")
    refused(ScopeMissing, key_actor(project, scopes=frozenset({"propose"})), "there")
    refused(BranchForbidden, key_actor(project, branch_patterns=("main",)), "there")
    BranchManager().archive_branch(name="task/x", actor=actor)
    refused(BranchArchived, actor, "there")


def test_of_two_workers_on_one_session_one_is_told(actor: Actor, main: Branch, say: Say) -> None:
    say(ARGON)
    end(actor)
    session = Session.objects.get()
    with open_run(main, "session", "s1", actor):
        with pytest.raises(Conflict, match="being consolidated already"):
            engine.consolidate_session(session_id="s1", actor=actor)
        assert manager.consolidate_session(session.pk) == 0
        session.refresh_from_db()
        assert session.consolidated_at is None  # the sweep looks again
    assert run(actor).run.created == 1


def test_the_run_of_a_dead_process_is_replaced(actor: Actor, main: Branch, say: Say) -> None:
    say(ARGON)
    end(actor)
    lost = ConsolidationRun.objects.create(
        project_id=main.project_id,
        branch=main,
        level="session",
        target="s1",
        slot=f"{main.pk}:session:s1",
        started_at=main.head_at,
        lease_until=main.head_at,
    )
    assert run(actor).run.created == 1
    lost.refresh_from_db()
    assert (lost.state, lost.slot, lost.note) == ("failed", None, "The process that ran it ended.")


def test_the_session_of_a_dead_process_is_queued_again(actor: Actor, main: Branch, say: Say) -> None:
    say(ARGON)
    end(actor)
    QueueMessage.objects.all().delete()
    ConsolidationRun.objects.create(
        project_id=main.project_id,
        branch=main,
        level="session",
        target="s1",
        slot=f"{main.pk}:session:s1",
        started_at=main.head_at,
        lease_until=main.head_at,
    )
    sweep_runs()
    sweep_runs()
    (message,) = QueueMessage.objects.all()
    assert "memory.consolidate" in message.payload
    assert ConsolidationRun.objects.get().state == "failed"


def test_an_undo_needs_the_right_and_the_run(
    actor: Actor, project: Project, other_project: Project, say: Say
) -> None:
    say(ARGON)
    found = run(actor).run
    writer = key_actor(project, scopes=frozenset({"write"}))
    with pytest.raises(ScopeMissing):
        engine.undo_run(run_id=found.pk, actor=writer)
    with pytest.raises(NotFound):
        engine.undo_run(run_id=found.pk, actor=key_actor(project, branch_patterns=("task/*",)))
    with pytest.raises(NotFound):
        engine.get_run(run_id=found.pk, actor=key_actor(other_project))
    assert engine.list_runs(actor=key_actor(other_project)).results == []
    empty = run(actor).run
    with pytest.raises(IllegalTransition):
        engine.undo_run(run_id=empty.pk, actor=actor)


def test_runs_are_listed_newest_first_and_filtered(actor: Actor, say: Say) -> None:
    say(ARGON)
    say(NEARLY, session="s2")
    first, second = run(actor).run, run(actor, "s2").run
    assert [one.pk for one in engine.list_runs(actor=actor).results] == [second.pk, first.pk]
    assert [one.pk for one in engine.list_runs(actor=actor, target="s1").results] == [first.pk]
    assert engine.list_runs(actor=actor, level="agent").results == []
    assert engine.list_runs(actor=actor, state="undone").results == []


def test_two_sessions_that_are_learned_from_at_once_make_one_fact(
    actor: Actor, say: Say, monkeypatch: pytest.MonkeyPatch
) -> None:
    say(ARGON, session="s1")
    say(NEARLY, session="s2")
    end(actor, "s1"), end(actor, "s2")
    plan, others = consolidation.plan_piece, ["s2"]

    def plan_beside_another(*rest: Any) -> Any:
        made = plan(*rest)
        if others:
            run(actor, others.pop())
        return made

    monkeypatch.setattr(consolidation, "plan_piece", plan_beside_another)
    assert counts(run(actor, "s1").run) == (1, 0, 0, 1, 1)
    assert brief(actor) == [(NEARLY, 0.8, 1)]
