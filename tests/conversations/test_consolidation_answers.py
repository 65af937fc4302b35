"""Answers to single changes of a run: accepted as true, or taken away for good; it stays undoable whole."""

from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection

from conversations.engines.consolidation import engine as engine_module
from conversations.engines.consolidation import session as session_module
from conversations.engines.consolidation.engine import ConsolidationEngine
from conversations.models import ConsolidationRun
from memory.actors import Actor
from memory.engines.branches.revert import RevertEngine
from memory.engines.facts.engine import FactEngine
from memory.exceptions import Conflict, IllegalTransition, Invalid, NotFound, ScopeMissing
from memory.models import AuditEntry, Commit, Fact, Project
from tests.conversations.test_consolidation_levels import ONCE_MORE, begin_task, states, write
from tests.conversations.test_consolidation_runs import ARGON, NEARLY, by_words, counts, run, shown
from tests.memory.test_agent_tasks import key_actor

__all__ = ["by_words"]
pytestmark = pytest.mark.django_db(transaction=True)
engine = ConsolidationEngine()
MONTHLY = "We decided to rotate keys monthly."
Say = Callable[..., Any]


@pytest.fixture(autouse=True)
def on_main(main: Any) -> None:
    """Have the branch that the facts of agents are on."""


def by_text(report: Any) -> dict[str, Any]:
    return {one.fact.fact_text: one for one in report.changes}


def answers(report: Any) -> dict[str, str]:
    return {one.fact.fact_text: one.answer for one in report.changes}


def merge(actor: Actor, **options: Any) -> Any:
    return engine.consolidate_agent(agent_id="ada", actor=actor, **options)


# ---- accept ------------------------------------------------------------------------------------------------


def test_an_accepted_fact_is_verified_by_who_accepted_it(actor: Actor, say: Say) -> None:
    say(f"{ARGON} {MONTHLY}")
    report = run(actor)
    uid = by_text(report)[ARGON].fact.uid
    told = engine.accept_changes(run_id=report.run.pk, fact_ids=[uid], actor=actor)
    assert answers(told) == {ARGON: "accepted", MONTHLY: ""}
    fact = FactEngine().get_fact(fact_id=uid, actor=actor)
    assert fact.verification_status == "verified"
    entry = AuditEntry.objects.get(action="consolidation.accepted")
    assert (entry.target, entry.detail["facts"]) == (str(report.run.pk), 1)


def test_all_of_at_least_a_confidence_are_accepted_together(actor: Actor) -> None:
    write(actor, NEARLY, "s1"), write(actor, ARGON, "s2", confidence=0.9)
    write(actor, "Cents are counted.", "s1"), write(actor, "Cents are counted!", "s2")
    report = merge(actor)
    told = engine.accept_changes(run_id=report.run.pk, min_confidence=0.95, actor=actor)
    assert answers(told) == {ARGON: "accepted", "Cents are counted.": ""}
    with pytest.raises(Invalid):
        engine.accept_changes(run_id=report.run.pk, min_confidence=0.95, actor=actor)


def test_what_says_something_else_by_now_is_not_accepted(actor: Actor, say: Say) -> None:
    say(ARGON)
    report = run(actor)
    (change,) = report.changes
    FactEngine().update_fact(fact_id=change.fact.uid, updates={"fact_text": "Other."}, actor=actor)
    with pytest.raises(Conflict, match="Changed since the run"):
        engine.accept_changes(run_id=report.run.pk, fact_ids=[change.fact.uid], actor=actor)
    assert FactEngine().get_fact(fact_id=change.fact.uid, actor=actor).verification_status == "unverified"


# ---- reject ------------------------------------------------------------------------------------------------


def test_a_rejected_fact_is_gone_for_good_and_the_rest_stays(actor: Actor, say: Say) -> None:
    say(f"{ARGON} {MONTHLY}")
    report = run(actor)
    uid = by_text(report)[ARGON].fact.uid
    told = engine.reject_changes(run_id=report.run.pk, fact_ids=[uid], actor=actor)
    assert answers(told) == {ARGON: "rejected", MONTHLY: ""}
    assert [one[0] for one in shown(actor)] == [MONTHLY]
    assert counts(run(actor).run) == (0, 0, 0, 0, 0)
    say(f"{ARGON} Now for the other shop too.", session="s2")
    assert run(actor, "s2").run.created == 1  # another session says it for itself


def test_a_rejected_confirmation_is_taken_back(actor: Actor, say: Say) -> None:
    FactEngine().write_fact(fact_text=ARGON, session_id="s0", actor=actor)
    say(f"{NEARLY} {MONTHLY}")
    before = shown(actor)
    report = run(actor)
    change = by_text(report)[ARGON]
    assert change.action == "confirmed"
    engine.reject_changes(run_id=report.run.pk, fact_ids=[change.fact.uid], actor=actor)
    assert [one for one in shown(actor) if one[0] == ARGON] == before
    assert len(shown(actor)) == 2


def test_a_rejected_merge_is_taken_apart_and_stays_so(actor: Actor) -> None:
    write(actor, NEARLY, "s1"), write(actor, ONCE_MORE, "s3"), write(actor, ARGON, "s2", confidence=0.8)
    write(actor, "Cents are counted.", "s1"), write(actor, "Cents are counted!", "s2")
    before = states(actor)
    report = merge(actor)
    kept = by_text(report)[ARGON].fact.uid
    engine.reject_changes(run_id=report.run.pk, fact_ids=[kept], actor=actor)
    after = states(actor)
    assert {text: after[text] for text in (NEARLY, ARGON, ONCE_MORE)} == {
        text: before[text] for text in (NEARLY, ARGON, ONCE_MORE)
    }
    assert after["Cents are counted!"][0] == "superseded"
    assert merge(actor).run.deduplicated == 0
    assert {text: state for text, state in states(actor).items() if text in after} == after


def test_a_run_is_undone_whole_whatever_was_answered(actor: Actor, say: Say) -> None:
    say(f"{ARGON} {MONTHLY} We decided to pin the base image.")
    report = run(actor)
    one, two, _ = (
        by_text(report)[text].fact.uid for text in (ARGON, MONTHLY, "We decided to pin the base image.")
    )
    engine.accept_changes(run_id=report.run.pk, fact_ids=[one], actor=actor)
    engine.reject_changes(run_id=report.run.pk, fact_ids=[two], actor=actor)
    assert engine.undo_run(run_id=report.run.pk, actor=actor).state == "undone"
    assert shown(actor) == []
    assert counts(run(actor).run) == (0, 0, 0, 0, 0)


def test_an_undo_takes_back_a_confirmation_that_was_rejected_before(actor: Actor, say: Say) -> None:
    FactEngine().write_fact(fact_text=ARGON, session_id="s0", actor=actor)
    say(f"{NEARLY} {MONTHLY}")
    before = shown(actor)
    report = run(actor)
    uid = by_text(report)[ARGON].fact.uid
    engine.reject_changes(run_id=report.run.pk, fact_ids=[uid], actor=actor)
    engine.undo_run(run_id=report.run.pk, actor=actor)
    assert shown(actor) == before


def test_the_way_back_of_a_rejection_is_the_revert_of_its_commit(actor: Actor, say: Say) -> None:
    say(ARGON)
    report = run(actor)
    before, uid = shown(actor), report.changes[0].fact.uid
    engine.reject_changes(run_id=report.run.pk, fact_ids=[uid], actor=actor)
    commit = Commit.objects.get(kind="consolidate.reject")
    RevertEngine().revert_commit(commit_id=commit.pk, actor=actor)
    assert shown(actor) == before
    assert answers(engine.get_run(run_id=report.run.pk, actor=actor)) == {ARGON: ""}
    engine.undo_run(run_id=report.run.pk, actor=actor)
    assert shown(actor) == []


def test_what_later_work_built_on_is_not_rejected(actor: Actor, say: Say) -> None:
    say(ARGON)
    say(NEARLY, session="s2")
    first = run(actor)
    run(actor, "s2")
    before = shown(actor)
    uid = first.changes[0].fact.uid
    with pytest.raises(Conflict) as refusal:
        engine.reject_changes(run_id=first.run.pk, fact_ids=[uid], actor=actor)
    assert refusal.value.data["changed"] == [str(uid)]
    assert (shown(actor), ConsolidationRun.objects.get(pk=first.run.pk).answers) == (before, {})


def test_refusals(actor: Actor, say: Say, project: Project) -> None:
    say(ARGON)
    report = run(actor)
    uid, where = report.changes[0].fact.uid, {"run_id": report.run.pk, "actor": actor}
    with pytest.raises(NotFound):
        engine.reject_changes(**where, fact_ids=[uuid4()])
    with pytest.raises(Invalid):
        engine.reject_changes(**where, fact_ids=[])
    with pytest.raises(Invalid):
        engine.accept_changes(**where, min_confidence=1.5)
    writer = key_actor(project, scopes=["write"])
    for answer in (engine.accept_changes, engine.reject_changes):
        with pytest.raises(ScopeMissing):
            answer(run_id=report.run.pk, fact_ids=[uid], actor=writer)
    engine.undo_run(**where)
    for answer in (engine.accept_changes, engine.reject_changes):
        with pytest.raises(IllegalTransition):
            answer(**where, fact_ids=[uid])


# ---- an undone run of facts is not done again --------------------------------------------------------------


def test_what_an_undone_run_of_an_agent_did_is_not_done_again(actor: Actor) -> None:
    write(actor, NEARLY, "s1"), write(actor, ARGON, "s2", confidence=0.8)
    write(actor, "Cents are counted.", "s1"), write(actor, "Retries end after five tries.", "s1")
    before = states(actor)
    report = merge(actor)
    assert counts(report.run)[2:] == (1, 1, 1)
    engine.undo_run(run_id=report.run.pk, actor=actor)
    assert states(actor) == before
    again = merge(actor).run
    assert (counts(again)[2:4], states(actor)) == ((1, 0), {**before, **summary_of(actor)})
    write(actor, ONCE_MORE, "s9")
    assert merge(actor).run.deduplicated == 1  # a new fact is the same as one of them


def summary_of(actor: Actor) -> dict[str, Any]:
    """Return the summary, of the facts that are apart: another than the one that was taken away."""
    found = {text: state for text, state in states(actor).items() if text.startswith("ada knows")}
    assert next(iter(found)).startswith("ada knows 4 facts")
    return found


def test_a_summary_that_was_taken_away_is_not_written_again(actor: Actor) -> None:
    for text in ("Cents are counted.", "Anna reviews it.", "Retries end after five tries."):
        write(actor, text, "s1")
    engine.undo_run(run_id=merge(actor).run.pk, actor=actor)
    assert counts(merge(actor).run) == (0, 3, 0, 0, 0)
    write(actor, "Refunds are booked.", "s2")
    assert merge(actor).run.created == 1


def test_what_an_undone_run_of_a_task_did_is_not_done_again(actor: Actor) -> None:
    begin_task(actor)
    from memory.engines.agent_tasks.engine import TaskEngine

    for agent in ("ada", "bob"):
        TaskEngine().complete_agent(task="fix", agent_id=agent, actor=actor)
    report = engine.consolidate_task(task="fix", actor=actor)
    engine.undo_run(run_id=report.run.pk, actor=actor)
    before = states(actor, "task/fix")
    assert engine.consolidate_task(task="fix", actor=actor).run.deduplicated == 0
    assert states(actor, "task/fix") == before


# ---- what a run is told as ---------------------------------------------------------------------------------


def test_a_fact_that_once_took_anothers_place_is_told_as_confirmed(actor: Actor, say: Say) -> None:
    old = FactEngine().write_fact(fact_text="Old.", session_id="s0", actor=actor).fact
    FactEngine().supersede_fact(
        old_fact_id=old.uid, new_fact_text=ARGON, actor=actor.with_origin(session_id="s0")
    )
    say(NEARLY)
    (change,) = run(actor).changes
    assert (change.action, change.superseded) == ("confirmed", [])


# ---- dry runs read without a lock --------------------------------------------------------------------------


def test_a_dry_run_reads_and_compares_before_it_takes_the_lock(
    actor: Actor, say: Say, monkeypatch: pytest.MonkeyPatch
) -> None:
    say(f"{ARGON} {MONTHLY}", role="user")
    in_transaction: list[bool] = []

    def spy(module: Any, name: str) -> None:
        real = getattr(module, name)

        def look(*args: Any, **options: Any) -> Any:
            in_transaction.append(connection.in_atomic_block)
            return real(*args, **options)

        monkeypatch.setattr(module, name, look)

    for name in ("find_same", "compare_texts", "read_texts", "drop_open"):
        spy(session_module, name)
    spy(engine_module, "read_facts")
    assert run(actor, dry_run=True).run.created == 2
    begin_task(actor)
    engine.consolidate_task(task="fix", actor=actor, dry_run=True)
    assert in_transaction == [False] * 5


def test_a_dry_run_over_several_commits_answers_what_the_run_answers(
    actor: Actor, say: Say, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session_module, "MAX_COMMIT_FINDINGS", 1)
    for text in (ARGON, NEARLY, MONTHLY):
        say(text)
    dry, real = run(actor, dry_run=True), run(actor)
    assert counts(dry.run) == counts(real.run) == (3, 0, 2, 0, 1)


# ---- facts that changed while they were compared -----------------------------------------------------------


@pytest.mark.parametrize(
    "change", [{"visibility": "private"}, {"valid_until": "2099-01-01T00:00:00Z"}, {"pinned": True}, "verify"]
)
def test_a_fact_that_changed_after_it_was_compared_is_left(
    actor: Actor, monkeypatch: pytest.MonkeyPatch, change: Any
) -> None:
    worse, _ = write(actor, NEARLY, "s1"), write(actor, ARGON, "s2", confidence=0.8)
    real = engine_module.read_facts

    def read_slowly(*args: Any) -> Any:
        source = real(*args)
        if change == "verify":
            FactEngine().set_verification(fact_id=worse.uid, verdict="verified", reason="", actor=actor)
        else:
            FactEngine().update_fact(fact_id=worse.uid, updates=change, actor=actor)
        return source

    monkeypatch.setattr(engine_module, "read_facts", read_slowly)
    assert merge(actor).run.deduplicated == 0
    assert {state[0] for state in states(actor).values()} == {"active"}


def test_many_facts_that_share_their_words_are_grouped_in_bounded_steps(
    actor: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each fact is measured against a bounded number of others, however many share its words."""
    from conversations.engines.consolidation import grouping
    from conversations.engines.consolidation.matching import Texts, split_tokens

    monkeypatch.setattr(grouping, "MAX_COMPARED", 5)
    lines = [f"Retry the job number {number} after five seconds of rest." for number in range(60)]
    lines += ["Retry the job number 7 after five seconds of rest!"]
    texts = Texts({line: split_tokens(line) for line in lines})
    measured: list[tuple[str, str]] = []
    real = Texts.measure

    def count(self: Texts, one: str, other: str) -> float:
        measured.append((one, other))
        return real(self, one, other)

    monkeypatch.setattr(Texts, "measure", count)
    facts = [Fact(rid=at, uid=uuid4(), fact_text=line) for at, line in enumerate(lines)]
    groups = grouping.link_completely(facts, texts)
    assert [[fact.rid for fact in group] for group in groups] == [[7, 60]]
    assert len(measured) <= 5 * len(facts)


def test_an_accepted_change_may_be_rejected_and_the_run_undone(actor: Actor, say: Say) -> None:
    say(ARGON)
    report = run(actor)
    where = {"run_id": report.run.pk, "actor": actor}
    uid = report.changes[0].fact.uid
    engine.accept_changes(**where, fact_ids=[uid])
    engine.reject_changes(**where, fact_ids=[uid])
    assert (shown(actor), answers(engine.get_run(**where))) == ([], {ARGON: "rejected"})
    engine.undo_run(**where)
    assert shown(actor) == []
