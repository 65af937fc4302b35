"""Capture on a guarded branch: it is stored, sessions begin with their context, facts are proposed."""

import pytest

from memory.engines.access.policies import PolicyEngine
from memory.models import Commit, Fact, Session
from tests.memory.api.client import api_for
from tests.site.hook_events import HOOK, event, first_session, learn, messages, send

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("learning")]


@pytest.fixture
def agent(project):
    return api_for(project, scopes=["write"])


@pytest.mark.parametrize("direct_writes", ["propose", "refuse"])
def test_a_captured_session_is_kept_and_what_it_teaches_waits_for_a_curator(actor, agent, direct_writes):
    PolicyEngine().set_policy(pattern="main", actor=actor, direct_writes=direct_writes)
    send(agent, *first_session())
    assert [role for _, role, _ in messages()] == [
        "user",
        "tool_result",
        "tool_result",
        "tool_result",
        "assistant",
    ]
    assert Session.objects.get().status == "completed"
    learn("s1")
    found = Fact.objects.all_versions()
    assert {fact.status for fact in found} == {"created"}
    assert any("argon2" in fact.fact_text for fact in found)
    waiting = agent.get("/facts?status=created").json()["results"]
    assert {fact["id"] for fact in waiting} == {str(fact.uid) for fact in found}


def test_a_session_on_a_guarded_branch_begins_with_what_memory_knows(actor, api, agent):
    api.fact("Passwords are hashed with argon2.", pinned=True)
    PolicyEngine().set_policy(pattern="main", actor=actor, direct_writes="refuse")
    start = event("SessionStart", "s2", source="startup", model="a-model")
    answer = agent.post(HOOK, start)
    assert answer.status_code == 200
    assert "argon2" in answer.content.decode()


def test_what_an_agent_says_itself_to_that_branch_is_refused_and_leaves_nothing(actor, agent):
    PolicyEngine().set_policy(pattern="main", actor=actor, direct_writes="refuse")
    for path, body in (
        ("/observations", {"summary": "Seen."}),
        ("/conversations", {"title": "A talk"}),
        ("/facts", {"fact_text": "New."}),
    ):
        answer = agent.post(path, body)
        assert (answer.status_code, answer.json()["code"]) == (409, "direct_writes_refused"), path
        assert "branch main takes no direct writes" in answer.json()["detail"]
    assert Commit.objects.count() == 0
    answer = agent.post("/facts", {"fact_text": "New.", "propose": True})
    assert (answer.status_code, answer.json()["status"]) == (201, "created")


def test_bulk_and_one_write_say_that_they_became_proposals(actor, agent):
    PolicyEngine().set_policy(pattern="main", actor=actor, direct_writes="propose")
    answer = agent.post("/facts", {"fact_text": "New."})
    assert (answer.status_code, answer.json()["status"]) == (201, "created")
    many = agent.post("/facts/bulk", {"facts": [{"fact_text": "New."}, {"fact_text": "Newer."}]}).json()
    assert [(row["created"], row["status"]) for row in many["results"]] == [
        (False, "created"),
        (True, "created"),
    ]
