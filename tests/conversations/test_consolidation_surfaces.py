"""Runs of consolidation over REST, on the command line, and on their pages."""

import re
from collections.abc import Callable
from typing import Any

import pytest

from conversations.engines.consolidation.engine import ConsolidationEngine
from memory.actors import Actor
from memory.engines.erasure.engine import ErasureEngine
from memory.engines.facts.engine import FactEngine
from memory.engines.sessions.manager import SessionManager
from memory.models import Membership, Project
from tests.conversations.test_consolidation_runs import ARGON, NEARLY, dump, run, shown
from tests.memory.api.client import Api, api_for, nothing_left, refused
from tests.memory.views.conftest import browser, person
from tests.memory.views.test_page_frame import text

pytestmark = pytest.mark.django_db(transaction=True)
RUNS = "/consolidation/runs"
Say = Callable[..., Any]


@pytest.fixture(autouse=True)
def ended(settings: Any, actor: Actor, say: Say) -> None:
    settings.DAY1 = {**settings.DAY1, "embedder": "off"}
    say(ARGON)
    SessionManager().end_session(session_id="s1", actor=actor)


# ---- REST --------------------------------------------------------------------------------------------------


def test_a_run_from_its_dry_run_to_its_undo(api: Api, actor: Actor) -> None:
    body = {"level": "session", "target": "s1"}
    before = dump()
    dry = api.post(RUNS, {**body, "dry_run": True})
    assert (dry.status_code, dry.json()["dry_run"], dry.json()["created"]) == (200, True, 1)
    after = dump()
    left_out = ("ApiKey", "KeyUse")  # that the key was used is no write of the run
    assert [name for name, rows in after.items() if rows != before[name] and name not in left_out] == []
    made = api.post(RUNS, body)
    row = made.json()
    assert made.status_code == 201
    assert {name: row[name] for name in ("level", "target", "branch", "state", "mode", "note")} == {
        "level": "session",
        "target": "s1",
        "branch": "main",
        "state": "done",
        "mode": "rules",
        "note": "",
    }
    assert (row["messages"], row["created"], row["yield_rate"], len(row["commits"])) == (1, 1, 1.0, 1)
    (change,) = row["changes"]
    assert (change["action"], change["fact_text"], change["evidence"][0]["kind"]) == (
        "created",
        ARGON,
        "message",
    )
    assert api.get(f"{RUNS}/{row['id']}").json() == row
    listed = api.get(f"{RUNS}?level=session&target=s1").json()["results"]
    assert [one["id"] for one in listed] == [row["id"]]
    assert api.get(f"{RUNS}?level=task").json()["results"] == []
    undone = api.post(f"{RUNS}/{row['id']}/undo", {})
    assert (undone.status_code, undone.json()["state"], shown(actor)) == (200, "undone", [])
    again = api.post(f"{RUNS}/{row['id']}/undo", {})
    assert (again.status_code, again.json()["code"]) == (409, "illegal_transition")


def test_a_dry_run_is_answered_anew_and_not_stored(api: Api) -> None:
    task = api.post("/tasks", {"name": "Dry", "objectives": ["One."]}).json()
    for path, body in (
        (f"/tasks/{task['slug']}/consolidate", {"dry_run": True}),
        (RUNS, {"level": "session", "target": "s1", "dry_run": True}),
        (f"{RUNS}?dry_run=true", {"level": "session", "target": "s1"}),
    ):
        for _ in range(2):
            answer = api.post(path, body, Idempotency_Key="again")
            assert answer.status_code == 200, answer.content
            assert "Idempotency-Replayed" not in answer.headers
        assert dump()["IdempotencyRecord"] == []


def test_a_key_of_another_branch_sees_no_run(project: Project, actor: Actor) -> None:
    found = run(actor).run
    own = api_for(project, scopes=["curate"], branch_patterns=["task/*"])
    assert own.get(RUNS).json()["results"] == []
    assert own.post(f"{RUNS}/{found.pk}/undo", {}).status_code == 404


def test_changes_are_accepted_and_rejected(api: Api, actor: Actor, say: Say) -> None:
    say("We decided to rotate keys monthly.")
    found = run(actor)
    one, two = sorted((change.fact for change in found.changes), key=lambda fact: fact.fact_text)
    path = f"{RUNS}/{found.run.pk}"
    accepted = api.post(f"{path}/accept", {"fact_ids": [str(one.uid)]}).json()
    rejected = api.post(f"{path}/reject", {"fact_ids": [str(two.uid)]}).json()
    assert {row["fact_id"]: row["answer"] for row in accepted["changes"]} == {
        str(one.uid): "accepted",
        str(two.uid): "",
    }
    assert [row["answer"] for row in rejected["changes"] if row["fact_id"] == str(two.uid)] == ["rejected"]
    assert api.get(path).json() == rejected
    assert api.get(f"/facts/{one.uid}").json()["verification_status"] == "verified"
    assert api.get(f"/facts/{two.uid}").status_code == 404
    with nothing_left():
        refused(api.post(f"{path}/accept", {}), 400, "invalid", "fact_ids")
        refused(api.post(f"{path}/accept", {"min_confidence": 2}), 400, "invalid", "min_confidence")
        refused(api.post(f"{path}/accept", {"min_confidence": 0.95}), 400, "invalid", "min_confidence")
        refused(api.post(f"{path}/reject", {"fact_ids": [str(two.uid)]}), 409, "conflict")
        refused(api.post(f"{path}/reject", {"more": 1}), 400, "unknown_field", "more")
    assert api.post(f"{path}/undo", {}).json()["state"] == "undone"
    assert shown(actor) == []


# ---- the command line --------------------------------------------------------------------------------------


# ---- pages -------------------------------------------------------------------------------------------------


def test_the_pages_start_a_run_tell_of_it_and_undo_it(project: Project, actor: Actor) -> None:
    curator = browser(person("cora", project, Membership.Role.CURATOR))
    empty = text(curator.get("/p/test/consolidation"))
    assert "Nothing was consolidated yet." in empty
    started = curator.post("/p/test/consolidation", {"level": "session", "target": "s1"}, follow=True)
    page = text(started)
    assert "Read 1 message or observation: 1 new fact, 0 confirmed, 0 repeated." in page
    assert ARGON in page
    assert "Undo this run" in page
    address = started.redirect_chain[-1][0]
    assert re.search(r'href="/p/test/facts/[0-9a-f-]+"', page)
    listed = text(curator.get("/p/test/consolidation"))
    assert address in listed
    undone = text(curator.post(address, follow=True))
    assert "The run over s1 is undone." in undone
    assert "Undo this run" not in undone
    assert shown(actor) == []


def test_the_page_dreams_of_its_branch_without_a_target(project: Project, actor: Actor) -> None:
    curator = browser(person("cora", project, Membership.Role.CURATOR))
    form = {"level": "dreaming", "target": ""}
    seen = text(curator.post("/p/test/consolidation", {**form, "dry_run": "on"}))
    assert "This was a dry run: nothing is written." in seen
    assert "Dreaming main" in text(curator.post("/p/test/consolidation", form, follow=True))
    asked = text(curator.post("/p/test/consolidation", {"level": "session", "target": " "}))
    assert "Target is needed." in asked


def test_a_page_answers_each_change_and_shows_a_dry_run(project: Project, actor: Actor) -> None:
    curator = browser(person("cora", project, Membership.Role.CURATOR))
    tried = curator.post("/p/test/consolidation", {"level": "session", "target": "s1", "dry_run": "on"})
    page = text(tried)
    assert (tried.status_code, "This was a dry run: nothing is written." in page, ARGON in page) == (
        200,
        True,
        True,
    )
    assert (shown(actor), "Reject" in page) == ([], False)
    bad = curator.post("/p/test/consolidation", {"level": "session", "target": "nowhere", "dry_run": "on"})
    assert (bad.status_code, 'value="nowhere"' in text(bad)) == (404, True)
    found = run(actor)
    address, uid = f"/p/test/consolidation/{found.run.pk}", found.changes[0].fact.uid
    page = text(curator.get(address))
    assert ("Accept</button>" in page, "Reject</button>" in page, "Accept all" in page) == (True, True, False)
    accepted = text(curator.post(address, {"do": "accept", "fact": str(uid)}, follow=True))
    assert "Accepted: it is verified." in accepted
    assert "Accept</button>" not in accepted
    rejected = text(curator.post(address, {"do": "reject", "fact": str(uid)}, follow=True))
    assert "Rejected: it is as before the run." in rejected
    assert "Reject</button>" not in rejected
    assert shown(actor) == []
    again = text(curator.post(address, {"do": "reject", "fact": str(uid)}, follow=True))
    assert "Rejected already: 1 of these facts." in again


def test_a_page_accepts_all_that_are_sure(project: Project, actor: Actor) -> None:
    for session, end in (("s5", "."), ("s6", "!")):
        FactEngine().write_fact(
            fact_text=f"Cents are counted{end}",
            confidence=0.9,
            actor=actor,
            session_id=session,
            agent_id="ada",
        )
    found = ConsolidationEngine().consolidate_agent(agent_id="ada", actor=actor)
    curator = browser(person("cora", project, Membership.Role.CURATOR))
    address = f"/p/test/consolidation/{found.run.pk}"
    assert "Accept all of at least 0.95" in text(curator.get(address))
    assert "Accepted: they are verified." in text(curator.post(address, {"do": "sure"}, follow=True))
    assert "Accept all" not in text(curator.get(address))


def test_a_page_names_what_stands_in_the_way_of_an_undo(project: Project, actor: Actor, say: Say) -> None:
    say(NEARLY, session="s2")
    first = run(actor).run
    run(actor, "s2")
    curator = browser(person("cora", project, Membership.Role.CURATOR))
    address = f"/p/test/consolidation/{first.pk}"
    refused = text(curator.post(address, follow=True))
    assert f"1 of the memories that it touched changed since. “{ARGON}”" in refused
    assert "Nothing of the run that is left to answer" in text(
        curator.post(address, {"do": "sure"}, follow=True)
    )


def test_texts_of_what_was_erased_or_hidden_are_in_no_report(api: Api, actor: Actor) -> None:
    found = run(actor).run
    quarantined = api.post("/quarantine", {"source": "session", "target": "s1"}).json()
    assert api.get(f"{RUNS}/{found.pk}").json()["changes"] == []
    api.post(f"/quarantine/{quarantined['id']}/release", {})
    assert len(api.get(f"{RUNS}/{found.pk}").json()["changes"]) == 1
    ErasureEngine().erase(scope="session", target="s1", confirm="s1", drop_copies=True, actor=actor)
    assert ARGON not in str(api.get(f"{RUNS}/{found.pk}").json())
