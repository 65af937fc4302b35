"""Handoffs: what a packet freezes, who may make and answer one, and what is refused."""

import threading
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection

from conversations.engines.conversations import ConversationEngine
from conversations.engines.messages import MessageEngine
from curation.engines.handoffs.engine import HandoffEngine
from curation.engines.handoffs.packet import compute_sha256, list_missing, measure_completeness
from curation.models import Handoff
from memory.actors import Actor
from memory.engines.access.key_actors import get_actor
from memory.engines.access.keys import KeyEngine
from memory.engines.branches.manager import BranchManager
from memory.engines.facts.engine import FactEngine
from memory.engines.sessions.manager import SessionManager
from memory.engines.support.write_buffer import buffer
from memory.exceptions import (
    AgentForbidden,
    BranchArchived,
    BranchForbidden,
    BranchNotFound,
    IllegalTransition,
    Invalid,
    NotFound,
    ScopeMissing,
    UnknownField,
)
from memory.models import AuditEntry, Fact, Project

engine = HandoffEngine()
pytestmark = pytest.mark.django_db(transaction=True)  # a refusal rolls its transaction back
ADA, BOB = "task/login/ada", "task/login/bob"


def key_actor(project: Project, **options: Any) -> Actor:
    """Return the actor of a new key."""
    wanted = {"label": "agent", "scopes": ["write"], **options}
    key, _ = KeyEngine().create_key(actor=Actor(project.pk, "local", scopes=frozenset({"admin"})), **wanted)
    return get_actor(key, "rest")


def write_fact(actor: Actor, text: str, verdict: str = "verified", branch: str = ADA, **fields: Any) -> Fact:
    fact = FactEngine().write_fact(fact_text=text, branch_name=branch, actor=actor, **fields).fact
    if verdict:
        FactEngine().set_verification(
            fact_id=fact.uid, verdict=verdict, reason="seen", branch_name=branch, actor=actor
        )
    return fact


@pytest.fixture
def branches(actor: Actor) -> None:
    for name in (ADA, BOB):
        BranchManager().create_branch(name=name, actor=actor)


@pytest.fixture
def session(actor: Actor, branches: None) -> Actor:
    """Return Ada in a session with a conversation, a summary and a fact on her branch."""
    ada = actor.with_origin(session_id="s1", agent_id="ada")
    talk = ConversationEngine().create_conversation(title="Debug", actor=ada, branch_name=ADA)
    for role, content in (("user", "Why is the clock wrong?"), ("assistant", "x" * 3000)):
        MessageEngine().write_message(
            conversation_id=talk.uid, role=role, content=content, actor=ada, branch_name=ADA
        )
    write_fact(ada, "The clock is two minutes ahead.", confidence=0.9)
    SessionManager().end_session(session_id="s1", summary="Looked for the cause.", actor=ada)
    return ada


@pytest.fixture
def handoff(actor: Actor, branches: None) -> Handoff:
    write_fact(actor, "The clock is two minutes ahead.")
    return engine.create_handoff(
        source_branch=ADA, target_branch=BOB, instructions="Mend the clock.", actor=actor
    )


def unchanged(call: Callable[[], Any], error: type[Exception], **data: Any) -> Exception:
    """Check that a call is refused and leaves no trace."""
    before = count_rows()
    with pytest.raises(error) as caught:
        call()
    assert count_rows() == before
    for name, value in data.items():
        assert caught.value.data[name] == value
    return caught.value


def count_rows() -> list[Any]:
    return [sorted(Handoff.objects.values_list("pk", "state", "reason")), AuditEntry.objects.count()]


def texts_of(handoff: Handoff) -> list[str]:
    return [fact["fact_text"] for fact in handoff.facts]


# ---- creation --------------------------------------------------------------------------------------


def test_a_session_hands_over_its_facts_messages_and_summary(session: Actor) -> None:
    done = engine.create_handoff(
        handoff_type="session_handoff",
        instructions="Mend the clock.",
        blockers=["No access to the server."],
        actor=session,
    )
    assert (done.source.name, done.target.name, done.state) == (ADA, ADA, "pending")
    assert (done.session_id, done.agent_id, done.verification_status) == ("s1", "ada", "verified")
    assert texts_of(done) == ["The clock is two minutes ahead."]
    assert done.context_summary == (
        "Looked for the cause.\n- The clock is two minutes ahead. [" + done.facts[0]["id"] + "]"
    )
    (talk,) = done.conversations
    assert talk["title"] == "Debug"
    assert [(m["role"], len(m["content"]), m["truncated"]) for m in talk["messages"]] == [
        ("user", 23, False),
        ("assistant", 2000, True),
    ]
    assert (list_missing(done), measure_completeness(done)) == ([], 1.0)
    assert done.sha256 == compute_sha256(engine.get_handoff(handoff_id=done.pk, actor=session))
    assert AuditEntry.objects.filter(action="handoff.create", target=str(done.pk)).count() == 1


def test_without_a_session_the_branch_hands_over_what_it_wrote(actor: Actor, branches: None) -> None:
    write_fact(actor, "Known on main.", branch="main")
    best = write_fact(actor, "The best.", confidence=0.9)
    write_fact(actor, "The next.", confidence=0.5)
    done = engine.create_handoff(source_branch=ADA, target_branch=BOB, actor=actor)
    assert (texts_of(done), done.left_out) == (["The best.", "The next."], {})
    assert done.context_summary.splitlines()[0] == f"- The best. [{best.uid}]"
    assert list_missing(done) == ["instructions", "conversations"]
    assert done.handoff_type == "task_continuation"


def test_only_verified_facts_are_handed_over(actor: Actor, branches: None) -> None:
    good = write_fact(actor, "Verified.")
    new = write_fact(actor, "Not looked at.", verdict="")
    wrong = write_fact(actor, "Wrong.", verdict="invalidated")
    own = write_fact(actor, "Private.", visibility="private")
    where = {"source_branch": ADA, "actor": actor}
    done = engine.create_handoff(**where)
    assert (texts_of(done), done.verification_status) == (["Verified."], "verified")
    assert done.left_out == {"private": 1, "unverified": 1}
    ids = [str(fact.uid) for fact in (new, wrong, own, good)]
    done = engine.create_handoff(fact_ids=ids, include_unverified=True, **where)
    assert (texts_of(done), done.verification_status) == (["Not looked at.", "Verified."], "partial")
    assert done.left_out == {"invalidated": 1, "private": 1}
    ids = [str(own.uid), str(wrong.uid)]
    done = engine.create_handoff(fact_ids=ids, include_unverified=True, instructions="Begin.", **where)
    assert (done.facts, done.verification_status) == ([], "empty")
    assert "Private" not in done.context_summary


def test_a_packet_is_frozen(actor: Actor, handoff: Handoff) -> None:
    fact = handoff.facts[0]
    FactEngine().update_fact(
        fact_id=fact["id"], updates={"fact_text": "Other."}, branch_name=ADA, actor=actor
    )
    read = engine.get_handoff(handoff_id=handoff.pk, actor=actor)
    assert (read.facts, read.sha256) == ([fact], handoff.sha256)


def test_any_script_and_many_facts(actor: Actor, branches: None) -> None:
    rows = [{"fact_text": f"事実 {n} 🌍 " + "é" * 12_000} for n in range(60)]
    FactEngine().write_facts(facts=rows, branch_name=ADA, actor=actor)
    done = engine.create_handoff(
        source_branch=ADA,
        include_unverified=True,
        instructions="時計を直す ‏مرحبا",
        blockers=["🚧"],
        actor=actor,
    )
    assert sum(len(text.encode()) for text in texts_of(done)) <= 1024 * 1024
    assert (done.fact_count, done.left_out) == (43, {"over_limit": 17})
    read = engine.get_handoff(handoff_id=done.pk, actor=actor)
    assert (read.instructions, read.blockers) == ("時計を直す ‏مرحبا", ["🚧"])


def test_an_empty_branch_hands_over_nothing_but_words(actor: Actor, branches: None) -> None:
    done = engine.create_handoff(source_branch=ADA, instructions="Begin.", actor=actor)
    assert (done.verification_status, done.context_summary, done.facts) == ("empty", "", [])
    assert measure_completeness(done) == 0.2


def test_a_handoff_of_nothing_is_refused(actor: Actor, branches: None) -> None:
    where: Any = {"source_branch": ADA, "actor": actor}
    nothing = {"context_summary": " ", "instructions": "", "blockers": []}
    for fields in ({}, nothing):
        error = unchanged(lambda fields=fields: engine.create_handoff(**where, **fields), Invalid)
        assert str(error).startswith("There is nothing to hand over: no facts")
    for text in ("Nobody checked this.", "Nor that."):
        write_fact(actor, text, verdict="")
    write_fact(actor, "Private.", visibility="private")
    error = unchanged(lambda: engine.create_handoff(**where), Invalid, field="instructions")
    assert "all facts are left out (1 private, 2 unverified)" in str(error)
    for fields in ({"blockers": ["No access."]}, {"include_unverified": True}):
        assert engine.create_handoff(**where, **fields)


def test_secrets_are_not_kept(actor: Actor, branches: None) -> None:
    secret = "password=hunter2-Long-And-Random-93"
    done = engine.create_handoff(
        source_branch=ADA,
        context_summary=f"It was {secret}",
        instructions=f"Use {secret}",
        blockers=[f"Needs {secret}"],
        actor=actor,
    )
    engine.reject_handoff(handoff_id=done.pk, reason=f"No {secret}", actor=actor)
    row = Handoff.objects.get()
    assert "hunter2" not in row.context_summary + row.instructions + row.blockers[0] + row.reason


@pytest.mark.parametrize(
    ("fields", "error", "field"),
    [
        ({"handoff_type": "gift"}, Invalid, "handoff_type"),
        ({"source_branch": "nowhere"}, BranchNotFound, None),
        ({"target_branch": "nowhere"}, BranchNotFound, None),
        ({"context_summary": "x" * 4001}, Invalid, "context_summary"),
        ({"instructions": "a\x00b"}, Invalid, "instructions"),
        ({"blockers": "one"}, Invalid, "blockers"),
        ({"blockers": ["one", " "]}, Invalid, "blockers[1]"),
        ({"blockers": ["x"] * 21}, Invalid, "blockers"),
        ({"fact_ids": ["x"]}, Invalid, "fact_ids[0]"),
        ({"fact_ids": ["01890000-0000-7000-8000-000000000000"]}, NotFound, "fact_ids"),
        ({"include_unverified": "yes"}, Invalid, "include_unverified"),
        ({"state": "accepted"}, UnknownField, "state"),
    ],
)
def test_a_bad_handoff_is_refused(
    actor: Actor, branches: None, fields: dict, error: type[Exception], field: str | None
) -> None:
    wanted = {"field": field} if field else {}
    given = {"source_branch": ADA, **fields}
    unchanged(lambda: engine.create_handoff(**given, actor=actor), error, **wanted)


def test_a_session_hands_over_from_its_own_branch(session: Actor, actor: Actor) -> None:
    unchanged(lambda: engine.create_handoff(source_branch=BOB, actor=session), Invalid, field="source_branch")
    unchanged(lambda: engine.create_handoff(actor=actor.with_origin(session_id="no")), NotFound)


def test_an_archived_branch_hands_over_and_receives_nothing(actor: Actor, branches: None) -> None:
    BranchManager().archive_branch(name=BOB, actor=actor)
    for names in ((ADA, BOB), (BOB, ADA)):
        given = dict(zip(("source_branch", "target_branch"), names, strict=True))
        unchanged(lambda given=given: engine.create_handoff(**given, actor=actor), BranchArchived)


# ---- answers ---------------------------------------------------------------------------------------


def test_a_handoff_is_accepted_once(actor: Actor, handoff: Handoff) -> None:
    done = engine.accept_handoff(handoff_id=handoff.pk, actor=actor)
    assert (done.state, done.decided_by) == ("accepted", actor.label)
    assert done.read_at == done.decided_at
    for call in (
        lambda: engine.accept_handoff(handoff_id=handoff.pk, actor=actor),
        lambda: engine.reject_handoff(handoff_id=handoff.pk, reason="Late.", actor=actor),
    ):
        error = unchanged(call, IllegalTransition)
        assert str(error) == "This handoff is accepted already."


def test_a_rejection_has_a_reason(actor: Actor, handoff: Handoff) -> None:
    unchanged(
        lambda: engine.reject_handoff(handoff_id=handoff.pk, reason=" ", actor=actor), Invalid, field="reason"
    )
    done = engine.reject_handoff(handoff_id=handoff.pk, reason="The cause is unknown.", actor=actor)
    assert (done.state, done.reason) == ("rejected", "The cause is unknown.")
    unchanged(lambda: engine.accept_handoff(handoff_id=handoff.pk, actor=actor), IllegalTransition)
    assert AuditEntry.objects.filter(action="handoff.reject").count() == 1


def test_of_two_answers_at_once_one_wins(actor: Actor, handoff: Handoff) -> None:
    results: list[str] = []
    start = threading.Barrier(4)

    def answer(n: int) -> None:
        start.wait()
        try:
            if n % 2:
                engine.accept_handoff(handoff_id=handoff.pk, actor=actor)
            else:
                engine.reject_handoff(handoff_id=handoff.pk, reason="No.", actor=actor)
            results.append("done")
        except IllegalTransition:
            results.append("refused")
        finally:
            connection.close()

    threads = [threading.Thread(target=answer, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(results) == ["done", "refused", "refused", "refused"]
    actions = AuditEntry.objects.filter(action__in=("handoff.accept", "handoff.reject"))
    assert actions.count() == 1


def test_another_agents_handoff_is_not_taken(actor: Actor, branches: None) -> None:
    made = engine.create_handoff(
        source_branch=ADA, target_branch=BOB, to_agent="bob", instructions="Go on.", actor=actor
    )
    eve, bob = (actor.with_origin(agent_id=name) for name in ("eve", "bob"))
    unchanged(lambda: engine.accept_handoff(handoff_id=made.pk, actor=eve), AgentForbidden)
    assert not engine.may_decide(handoff=made, actor=eve)
    assert engine.may_decide(handoff=made, actor=bob)
    assert engine.accept_handoff(handoff_id=made.pk, actor=bob).state == "accepted"


def test_it_is_known_when_a_receiver_first_read_it(actor: Actor, project: Project, handoff: Handoff) -> None:
    reader = key_actor(project, scopes=["read"])
    for one in (actor, reader):
        assert engine.get_handoff(handoff_id=handoff.pk, actor=one).read_at is None
        buffer.flush()
    receiver = key_actor(project, branch_patterns=["task/login/bob"])
    engine.get_handoff(handoff_id=handoff.pk, actor=receiver)
    buffer.flush()
    first = Handoff.objects.get().read_at
    assert first is not None
    engine.get_handoff(handoff_id=handoff.pk, actor=receiver)
    buffer.flush()
    assert Handoff.objects.get().read_at == first


# ---- who ---------------------------------------------------------------------------------------------


def test_who_may(actor: Actor, project: Project, other_project: Project, handoff: Handoff) -> None:
    stranger = Actor(other_project.pk, "local", scopes=frozenset({"admin"}))
    reader = key_actor(project, scopes=["read"])
    sender = key_actor(project, branch_patterns=[ADA])
    receiver = key_actor(project, branch_patterns=[BOB])
    elsewhere = key_actor(project, branch_patterns=["main"])
    uid = handoff.pk
    unchanged(lambda: engine.get_handoff(handoff_id=uid, actor=stranger), NotFound)
    unchanged(lambda: engine.accept_handoff(handoff_id=uid, actor=stranger), NotFound)
    unchanged(lambda: engine.get_handoff(handoff_id=uid, actor=elsewhere), BranchForbidden)
    unchanged(lambda: engine.accept_handoff(handoff_id=uid, actor=reader), ScopeMissing)
    unchanged(lambda: engine.accept_handoff(handoff_id=uid, actor=sender), BranchForbidden)
    unchanged(lambda: engine.create_handoff(source_branch=ADA, actor=reader), ScopeMissing)
    for one in (sender, receiver):
        given = {"source_branch": ADA, "target_branch": BOB, "actor": one}
        unchanged(lambda given=given: engine.create_handoff(**given), BranchForbidden)
    listed = [len(engine.list_handoffs(actor=one)) for one in (sender, receiver, reader, elsewhere, stranger)]
    assert listed == [1, 1, 1, 0, 0]
    assert engine.count_handoffs(actor=receiver) == {"pending": 1, "accepted": 0, "rejected": 0}
    assert engine.accept_handoff(handoff_id=uid, actor=receiver).state == "accepted"


def test_a_deleted_handoff_is_told_to_nobody_and_comes_back(
    actor: Actor, project: Project, handoff: Handoff
) -> None:
    one = {"handoff_id": handoff.pk}
    others = key_actor(project)
    for refused in (others, key_actor(project, scopes=["curate"], branch_patterns=[BOB])):
        with pytest.raises((ScopeMissing, BranchForbidden)):
            engine.delete_handoff(**one, actor=refused)
    with pytest.raises(ScopeMissing):
        engine.delete_handoff(**one, actor=key_actor(project, scopes=["curate"]), erase=True)
    assert engine.delete_handoffs(state="pending", actor=actor, dry_run=True).ids == [str(handoff.pk)]
    engine.delete_handoff(**one, actor=actor)
    for act in (engine.get_handoff, engine.accept_handoff, engine.delete_handoff):
        with pytest.raises(NotFound):
            act(**one, actor=actor)
    assert engine.list_handoffs(actor=actor).results == []
    assert engine.restore_handoff(**one, actor=actor).facts == handoff.facts
    with pytest.raises(IllegalTransition):
        engine.restore_handoff(**one, actor=actor)
    assert engine.delete_handoffs(ids=[handoff.pk], actor=actor).count == 1
    engine.delete_handoff(**one, actor=actor, erase=True)
    assert not Handoff.every.exists()
    actions = AuditEntry.objects.filter(action__startswith="handoff.").values_list("action", flat=True)
    told = ["create", "delete", "restore", "delete", "erase"]
    assert list(actions.order_by("pk")) == [f"handoff.{action}" for action in told]


def test_lists_have_filters_and_pages(actor: Actor, branches: None) -> None:
    made = [
        engine.create_handoff(
            source_branch=ADA, target_branch=name, to_agent=agent, instructions="Go on.", actor=actor
        )
        for name, agent in ((ADA, ""), (BOB, "bob"), (BOB, ""))
    ]
    engine.accept_handoff(handoff_id=made[0].pk, actor=actor)

    def listed(**filters: str) -> list[int]:
        return [made.index(row) for row in engine.list_handoffs(actor=actor, **filters)]

    assert listed() == [2, 1, 0]
    assert listed(state="pending") == [2, 1]
    assert listed(target_branch=BOB, to_agent="bob") == [1]
    assert listed(handoff_type="escalation") == []
    first = engine.list_handoffs(actor=actor, limit=2)
    after = engine.list_handoffs(actor=actor, limit=2, cursor=first.next)
    assert [row.pk for row in (*first, *after)] == [one.pk for one in reversed(made)]
    for filters in ({"state": "open"}, {"handoff_type": "gift"}):
        with pytest.raises(Invalid):
            engine.list_handoffs(actor=actor, **filters)


def test_what_may_leave_is_decided_for_each_state(actor: Actor, branches: None) -> None:
    """Go through every verdict, visibility and life of a fact, named or found."""
    states = [
        (verdict, visibility, is_archived)
        for verdict in ("", "verified", "invalidated")
        for visibility in ("private", "selective", "public")
        for is_archived in (False, True)
    ]
    ids = {}
    for state in states:
        verdict, visibility, is_archived = state
        fact = write_fact(actor, f"State {state}.", verdict, visibility=visibility)
        ids[str(fact.uid)] = state
        if is_archived:
            FactEngine().archive_fact(fact_id=fact.uid, branch_name=ADA, actor=actor)
    for unverified in (False, True):
        verdicts = {"verified", ""} if unverified else {"verified"}
        expected = {
            uid
            for uid, (verdict, seen, gone) in ids.items()
            if verdict in verdicts and seen != "private" and not gone
        }
        for named in ({}, {"fact_ids": list(ids)}):
            done = engine.create_handoff(
                source_branch=ADA, include_unverified=unverified, actor=actor, **named
            )
            assert {fact["id"] for fact in done.facts} == expected
            if named:
                assert len(expected) + sum(done.left_out.values()) == len(states)
