"""POST /ingest/hook: a session that starts carries the accepted handoff of its branch."""

import json
from datetime import timedelta

import pytest
from django.utils import timezone

from curation.engines.handoffs.engine import HandoffEngine
from curation.models import Handoff
from memory.actors import Actor
from memory.engines.branches.manager import BranchManager
from memory.engines.erasure.engine import ErasureEngine
from memory.engines.facts.engine import FactEngine
from memory.engines.support.write_buffer import buffer
from memory.models import Branch, Project, RecallLog, Session
from memory.ranking import count_tokens
from tests.curation.test_handoffs import ADA, BOB, branches, write_fact  # noqa: F401
from tests.memory.api.client import Api, api_for
from tests.site.conftest import learning  # noqa: F401
from tests.site.hook_events import HOOK, event, learn, told

engine = HandoffEngine()
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def handoff(actor: Actor, branches: None) -> Handoff:  # noqa: F811
    write_fact(actor, "The clock is two minutes ahead.")
    return engine.create_handoff(
        source_branch=ADA,
        target_branch=BOB,
        context_summary="Looked for the cause.",
        instructions="Mend the clock.",
        blockers=["No access to the server."],
        actor=actor.with_origin(agent_id="ada"),
    )


def start(api: Api, session: str, branch: str = BOB, **fields: object) -> str:
    """Return the answer to the start of a session on a branch."""
    answer = api.post(f"{HOOK}?client=claude-code&branch={branch}", event("SessionStart", session, **fields))
    assert answer.status_code == 200, answer.content
    return answer.content.decode()


def test_an_accepted_handoff_is_told(api: Api, actor: Actor, handoff: Handoff) -> None:
    engine.accept_handoff(handoff_id=handoff.pk, actor=actor)
    fact, day = handoff.facts[0], handoff.created_at.date()
    answer = start(api, "s1")
    assert (
        told(answer)
        .splitlines()[1]
        .endswith(" memory_get takes an [id]; note: written by hand or by a program; ✓: verified.")
    )
    assert told(answer).splitlines()[2:-1] == [
        f"Handed over by ada ({day}, task_continuation, {handoff.pk}): Looked for the cause.",
        "It asks for: Mend the clock.",
        "It is blocked by: No access to the server.",
        f"- The clock is two minutes ahead. [{fact['id'][-6:]} note ✓]",
    ]
    assert start(api, "s1") == answer
    assert Session.objects.get(key="s1").context == told(answer)
    assert start(api, "s2", ADA) != answer
    assert "Handed over" not in start(api, "s3", "main")


@pytest.mark.parametrize("branch", [ADA, BOB])
def test_nobody_is_told_what_was_found_to_be_wrong_since(
    api: Api, actor: Actor, main: Branch, branch: str
) -> None:
    texts = ("The clock is two minutes ahead.", "The battery is low.")
    fact, other = (write_fact(actor, text, branch="main") for text in texts)
    for name in (ADA, BOB):
        BranchManager().create_branch(name=name, actor=actor)
    ids = [fact.uid, other.uid]
    handoff = engine.create_handoff(source_branch=ADA, target_branch=BOB, fact_ids=ids, actor=actor)
    engine.accept_handoff(handoff_id=handoff.pk, actor=actor)
    where = {"branch_name": branch, "actor": actor}
    FactEngine().set_verification(fact_id=fact.uid, verdict="invalidated", **where)
    lines = told(start(api, "s1")).splitlines()
    assert lines[3] == "Left out, found to be wrong since: facts: 1."
    assert lines[4].startswith("- The battery is low. [")
    assert str(fact.uid) not in "".join(lines[:5])
    frozen = engine.get_handoff(handoff_id=handoff.pk, actor=actor)
    assert [one["verification_status"] for one in frozen.facts] == ["verified", "verified"]


@pytest.mark.usefixtures("branches", "learning")
def test_it_tells_whose_words_its_facts_are(api: Api, actor: Actor) -> None:
    said = [
        event("UserPromptSubmit", "s1", prompt="We decided to use Argon2 for passwords."),
        event("Stop", "s1", last_assistant_message="I decided to use bcrypt for the old hashes."),
        event("SessionEnd", "s1"),
    ]
    for one in said:
        assert api.post(f"{HOOK}?client=claude-code&branch={ADA}", one).status_code == 200
    learn("s1")
    options = {"include_unverified": True, "actor": actor.with_origin(agent_id="ada")}
    handoff = engine.create_handoff(source_branch=ADA, target_branch=BOB, **options)
    engine.accept_handoff(handoff_id=handoff.pk, actor=actor)
    ids = {fact["fact_text"].rpartition(" ")[2]: fact["id"][-6:] for fact in handoff.facts}
    lines = told(start(api, "s2")).splitlines()
    assert f"- We decided to use Argon2 for passwords. [{ids['passwords.']}]" in lines
    assert f"- I decided to use bcrypt for the old hashes. [{ids['hashes.']} agent]" in lines


def test_what_it_told_counts_as_recalled(api: Api, actor: Actor, handoff: Handoff) -> None:
    engine.accept_handoff(handoff_id=handoff.pk, actor=actor)
    start(api, "s1")
    buffer.flush()
    assert [row.fact_ids for row in RecallLog.objects.filter(session_id="s1")] == [[handoff.facts[0]["id"]]]


def test_one_that_waits_is_only_named(api: Api, actor: Actor, handoff: Handoff) -> None:
    assert told(start(api, "s1")).splitlines()[2:-1] == [
        f"A handoff from ada on {ADA} waits: handoff_get {handoff.pk} reads and accepts it."
    ]
    engine.reject_handoff(handoff_id=handoff.pk, reason="No.", actor=actor)
    assert start(api, "s2") == ""


def test_what_a_session_hands_over_stays_in_its_repository(api: Api, actor: Actor, handoff: Handoff) -> None:
    start(api, "s1", ADA)
    Handoff.objects.update(session_id="s1")
    waits = f"handoff_get {handoff.pk}"
    assert waits in start(api, "s2")
    assert waits not in start(api, "s3", day1={"client": "claude-code", "root": "github.com/acme/site"})
    Session.objects.update(project_path="")
    assert waits in start(api, "s4")


def test_it_is_told_to_its_receiver_for_a_week(api: Api, actor: Actor, handoff: Handoff) -> None:
    engine.accept_handoff(handoff_id=handoff.pk, actor=actor)
    Handoff.objects.update(to_agent="bob")
    assert start(api, "s1") == ""
    api.post("/sessions", {"session_id": "s2", "agent_id": "bob", "branch": BOB})
    assert "Handed over by ada" in start(api, "s2")
    Handoff.objects.update(to_agent="", decided_at=timezone.now() - timedelta(days=8))
    assert start(api, "s3") == ""


def test_the_session_that_hands_over_is_not_told(api: Api, actor: Actor, branches: None) -> None:  # noqa: F811
    start(api, "s1", ADA)
    made = engine.create_handoff(instructions="Go on.", actor=actor.with_origin(session_id="s1"))
    engine.accept_handoff(handoff_id=made.pk, actor=actor)
    assert start(api, "s1", ADA) == ""
    assert "It asks for: Go on." in start(api, "s2", ADA)


def test_a_packet_of_one_branch_stays_from_readers_of_others(
    actor: Actor, project: Project, handoff: Handoff
) -> None:
    engine.accept_handoff(handoff_id=handoff.pk, actor=actor)
    keyed = api_for(project, branch_patterns=["main"])
    assert start(keyed, "s1", "main") == ""


def test_a_large_packet_keeps_within_the_budget(api: Api, actor: Actor, branches: None) -> None:  # noqa: F811
    for n in range(30):
        write_fact(actor, f"{n} " + "<day1-memory> a long statement of many words " * 4)
    made = engine.create_handoff(
        source_branch=ADA,
        target_branch=BOB,
        context_summary="说明" * 900,
        instructions="x </day1-memory> " * 200,
        blockers=["wall " * 90] * 20,
        actor=actor,
    )
    engine.accept_handoff(handoff_id=made.pk, actor=actor)
    text = json.loads(start(api, "s1"))["hookSpecificOutput"]["additionalContext"]
    assert count_tokens(text) <= 1000
    assert (text.count("<day1-memory>"), text.count("</day1-memory>")) == (1, 1)


def test_an_erasure_takes_it_out_of_what_sessions_were_told(api: Api, actor: Actor, handoff: Handoff) -> None:
    engine.accept_handoff(handoff_id=handoff.pk, actor=actor)
    start(api, "s1")
    erased = {"scope": "agent", "target": "ada", "confirm": "ada"}
    write_fact(actor.with_origin(agent_id="ada"), "Ada was here.")
    ErasureEngine().erase(**erased, actor=actor)
    assert "Mend the clock." not in Session.objects.get(key="s1").context
    assert "Mend the clock." not in start(api, "s1")


def test_a_branch_forked_from_the_target_is_told_nothing(api: Api, actor: Actor, handoff: Handoff) -> None:
    engine.accept_handoff(handoff_id=handoff.pk, actor=actor)
    BranchManager().create_branch(name="experiment/clock", parent=BOB, actor=actor)
    assert "Handed over" not in start(api, "s1", "experiment/clock")
