"""Erasure reaches frozen packets: they are rewritten and hashed anew."""

import threading

import pytest
from django.db import connection

from curation.engines.handoffs.engine import HandoffEngine
from curation.engines.handoffs.packet import compute_sha256
from curation.models import Handoff
from memory.actors import Actor
from memory.engines.erasure.engine import ErasureEngine
from memory.models import Project
from memory.models.base import ERASED_MARK
from tests.curation.test_handoffs import ADA, BOB, branches, session, write_fact  # noqa: F401

engine = HandoffEngine()
pytestmark = pytest.mark.django_db(transaction=True)


def erase(actor: Actor, scope: str, target: str, confirm: str = "test") -> None:
    ErasureEngine().erase(scope=scope, target=target, confirm=confirm, actor=actor)


def test_a_fact_goes_out_of_packets(actor: Actor, branches: None) -> None:  # noqa: F811
    gone = write_fact(actor, "Anna's salary is 90,000 a year.")
    write_fact(actor, "Salaries are paid on the first.")
    made = engine.create_handoff(
        source_branch=ADA,
        target_branch=BOB,
        instructions="Check this: Anna's salary is 90,000 a year.",
        blockers=["Anna's salary is 90,000 a year."],
        actor=actor,
    )
    other = engine.create_handoff(source_branch=BOB, instructions="Nothing of it.", actor=actor)
    erase(actor, "fact", str(gone.uid))
    row = Handoff.objects.get(pk=made.pk)
    by_id = {fact["id"]: fact for fact in row.facts}
    assert by_id[str(gone.uid)]["fact_text"] == by_id[str(gone.uid)]["essence"] == ERASED_MARK
    assert sorted(fact["fact_text"] for fact in row.facts) == [
        "Salaries are paid on the first.",
        ERASED_MARK,
    ]
    assert "Anna" not in row.instructions + row.context_summary + str(row.blockers)
    assert row.sha256 == compute_sha256(row) != made.sha256
    assert Handoff.objects.get(pk=other.pk).sha256 == other.sha256


def test_a_session_goes_out_of_packets(actor: Actor, session: Actor) -> None:  # noqa: F811
    made = engine.create_handoff(instructions="Ask Anna.", blockers=["Anna is away."], actor=session)
    erase(actor, "session", "s1", confirm="s1")
    row = Handoff.objects.get(pk=made.pk)
    assert (row.context_summary, row.instructions, row.blockers) == ("", "", [])
    assert {message["content"] for one in row.conversations for message in one["messages"]} == {ERASED_MARK}
    assert {fact["fact_text"] for fact in row.facts} == {ERASED_MARK}
    assert row.sha256 == compute_sha256(row)


def test_what_an_agent_said_goes_with_it(actor: Actor, branches: None) -> None:  # noqa: F811
    for agent in ("ada", "bob"):
        one = actor.with_origin(agent_id=agent)
        write_fact(one, f"Written by {agent}.")
        engine.create_handoff(source_branch=ADA, instructions=f"Said by {agent}.", actor=one)
    erase(actor, "agent", "ada", confirm="ada")
    rows = {row.agent_id: row for row in Handoff.objects.all()}
    assert (rows["ada"].instructions, rows["bob"].instructions) == ("", "Said by bob.")
    assert "Written by ada." not in str(rows["bob"].facts)


def test_a_text_goes_wherever_it_stands(actor: Actor, branches: None) -> None:  # noqa: F811
    write_fact(actor, "Call 555-0199 at night.")
    made = engine.create_handoff(source_branch=ADA, instructions="Or call 555-0199.", actor=actor)
    engine.reject_handoff(handoff_id=made.pk, reason="555-0199 is dead.", actor=actor)
    erase(actor, "match", "555-0199")
    row = Handoff.objects.get()
    assert "555-0199" not in str([row.facts, row.instructions, row.context_summary, row.reason])


def test_another_projects_packets_stay(actor: Actor, branches: None, other_project: Project) -> None:  # noqa: F811
    stranger = Actor(other_project.pk, "local", scopes=frozenset({"admin"}))
    write_fact(actor, "Call 555-0199 at night.")
    made = engine.create_handoff(instructions="Call 555-0199 at night.", actor=stranger)
    erase(actor, "match", "555-0199")
    assert Handoff.objects.get(pk=made.pk).instructions == "Call 555-0199 at night."


def test_a_packet_that_is_made_meanwhile_is_clean(actor: Actor, branches: None) -> None:  # noqa: F811
    gone = write_fact(actor, "Anna's salary is 90,000 a year.")
    start = threading.Barrier(3)

    def hand_over() -> None:
        start.wait()
        for _ in range(5):
            engine.create_handoff(source_branch=ADA, actor=actor)
        connection.close()

    def take_out() -> None:
        start.wait()
        erase(actor, "fact", str(gone.uid))
        connection.close()

    threads = [threading.Thread(target=work) for work in (hand_over, take_out, hand_over)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    rows = list(Handoff.objects.all())
    assert len(rows) == 10
    assert "Anna" not in str([[row.facts, row.context_summary] for row in rows])
    assert all(row.sha256 == compute_sha256(row) for row in rows)
