"""Secrets do not reach the store, on any path; the response has the number removed."""

import string

import pytest
from django.contrib.auth.models import User
from django.test import Client

from conversations.models import Conversation, Message
from memory.actors import local_actor
from memory.engines.access.projects import ProjectEngine
from memory.engines.facts.engine import FactEngine
from memory.engines.support.write_buffer import buffer
from memory.exceptions import Invalid
from memory.models import Branch, Fact, FactAssessment, Observation, Project, RecallLog, Relation, Session
from tests.memory.api.client import Api, api_for, refused, state

pytestmark = pytest.mark.django_db(transaction=True)
SECRET = "ghp_" + (string.ascii_letters + string.digits)[:36]
TEXT = f"The token is {SECRET}."
CLEAN = "The token is [redacted: GitHub token]."
DRAWN = "aB3xY7z9kQ2mN8pR4tV6wL1cD5fG0hJs"  # an id of a client looks as random as a secret
REDACTED, FIELDS = "Day1-Redacted", "redacted_fields"


@pytest.fixture
def api(project) -> Api:
    return api_for(project)


def test_a_fact(api):
    given = {"fact_text": TEXT, "tags": [SECRET], "metadata": {"password": "hunter2", "n": [TEXT]}}
    answer = api.post("/facts", given)
    assert (answer.status_code, answer[REDACTED]) == (201, "4")  # the essence is made of the clean text
    assert sorted(answer.json()[FIELDS]) == ["fact_text", "metadata", "tags"]
    row = Fact.objects.all_versions().get()
    assert (row.fact_text, row.essence, row.tags) == (CLEAN, CLEAN, ["[redacted: GitHub token]"])
    assert row.metadata == {"password": "[redacted: named secret]", "n": [CLEAN]}
    again = api.post("/facts", {"fact_text": TEXT})
    assert (again.status_code, again.json()["id"], again[REDACTED]) == (200, str(row.uid), "1")
    clean = api.post("/facts", {"fact_text": "No secret."})
    assert (REDACTED in clean, FIELDS in clean.json()) == (False, False)
    changed = api.patch(f"/facts/{row.uid}", {"fact_text": f"Now {SECRET}"})
    assert (changed.json()["fact_text"], changed[REDACTED]) == ("Now [redacted: GitHub token]", "1")
    assert (changed.json()[FIELDS], FIELDS in api.get(f"/facts/{row.uid}").json()) == (["fact_text"], False)
    newer = api.post(f"/facts/{row.uid}/supersede", {"new_fact_text": f"Then {SECRET}"})
    assert (newer.json()[FIELDS], newer[REDACTED]) == (["new_fact_text"], "1")


def test_depth_is_no_secret(api):
    deep: object = "plain"
    for _ in range(62):
        deep = [deep]
    answer = api.post("/facts", {"fact_text": "Plain.", "metadata": {"a": deep}})
    assert (answer.status_code, REDACTED in answer, FIELDS in answer.json()) == (201, False, False)
    assert answer.json()["metadata"] == {"a": deep}


def test_the_answer_names_the_fields_of_each_item(api):
    facts = [{"fact_text": "Plain."}, {"fact_text": f"A {TEXT}", "tags": [SECRET]}]
    answer = api.post("/facts/bulk", {"facts": facts}, Idempotency_Key="once")
    assert sorted(answer.json()[FIELDS]) == ["facts[1].fact_text", "facts[1].tags"]
    again = api.post("/facts/bulk", {"facts": facts}, Idempotency_Key="once")
    assert (again["Idempotency-Replayed"], again.json()) == ("true", answer.json())
    talk = api.post("/conversations", {"title": "Plain"}).json()
    messages = [{"role": "user", "content": text} for text in ("Plain", TEXT)]
    written = api.post(f"/conversations/{talk['id']}/messages/batch", {"messages": messages})
    assert written.json()[FIELDS] == ["messages[1].content"]
    refusal = api.post("/facts", {"fact_text": TEXT, "confidence": 7})
    assert (refusal.status_code, FIELDS in refusal.json()) == (400, False)


def test_reasons_of_verdicts(api):
    fact = api.fact("Tokens live 15 minutes.")
    assert api.post(f"/facts/{fact['id']}/verify", {"verdict": "verified", "reason": TEXT})[REDACTED] == "1"
    assert FactAssessment.objects.all_versions().get().reason == CLEAN


def test_an_observation_is_cleaned_before_it_is_cut(api):
    output = "x" * 1980 + f" {SECRET} " + "y" * 2000
    call = {"tool_name": "Bash", "raw_input": {"command": f"echo {SECRET}"}, "raw_output": output}
    assert api.post("/observations", call)[REDACTED] == "2"
    row = Observation.objects.all_versions().get()
    stored = row.raw_input + row.raw_output + row.summary
    assert row.raw_input == '{"command":"echo [redacted: GitHub token]"}'
    assert "ghp_" not in stored


def test_conversations_and_messages(api):
    talk = api.post("/conversations", {"title": TEXT, "session_id": "s1"}).json()
    given = {"role": "user", "content": TEXT, "thinking": TEXT, "tool_calls": [{"token": "hunter2"}]}
    assert api.post(f"/conversations/{talk['id']}/messages", given)[REDACTED] == "3"
    row = Message.objects.all_versions().get()
    assert (row.content, row.thinking) == (CLEAN, CLEAN)
    assert row.tool_calls == [{"token": "[redacted: named secret]"}]
    assert Conversation.objects.all_versions().get().title == CLEAN


def test_sessions_branches_and_relations(api):
    api.post("/sessions", {"session_id": "s1", "project_path": "https://me:hunter2@git.example.com/a"})
    api.post("/sessions/s1/end", {"summary": TEXT})
    session = Session.objects.get()
    assert session.project_path == "git.example.com/a"
    assert session.summary == CLEAN
    api.post("/branches", {"name": "task/a", "purpose": TEXT})
    assert Branch.objects.get(name="task/a").purpose == CLEAN
    edge = {"source_entity": SECRET, "relation_type": "opens", "target_entity": "GitHub"}
    assert api.post("/relations", {**edge, "properties": {"note": TEXT}})[REDACTED] == "2"
    row = Relation.objects.all_versions().get()
    assert (row.source_entity, row.properties) == ("[redacted: GitHub token]", {"note": CLEAN})


def test_ids_stay_as_they_are(api):
    drawn = "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC2eF4h"
    answer = api.post("/facts", {"fact_text": "x", "session_id": drawn, "agent_id": drawn})
    assert REDACTED not in answer
    assert (Session.objects.get().key, Fact.objects.all_versions().get().agent_id) == (drawn, drawn)


def test_engines_clean_what_surfaces_give_them(actor):
    fact = FactEngine().write_fact(fact_text=TEXT, actor=actor).fact
    assert fact.fact_text == CLEAN


def test_names_that_people_choose(api):
    """A model, a snapshot and a key; the ids that programs choose stay as they are."""
    talk = api.post("/conversations", {"model": SECRET, "session_id": DRAWN})
    assert (talk[REDACTED], talk.json()["model"]) == ("1", "[redacted: GitHub token]")
    assert talk.json()["session_id"] == DRAWN
    snapshot = api.post("/snapshots", {"name": f"before {SECRET}"})
    assert (snapshot[REDACTED], snapshot.json()["name"]) == ("1", "before [redacted: GitHub token]")
    key = api.post("/keys", {"label": SECRET, "scopes": ["read"]})
    assert (key[REDACTED], key.json()["label"]) == ("1", "[redacted: GitHub token]")


def test_what_was_searched_for(api):
    assert api.get(f"/facts/search?q={TEXT}").status_code == 200
    buffer.flush()
    assert RecallLog.objects.get().query == CLEAN


def test_a_project_may_keep_secrets(project, stranger, api):
    Project.objects.filter(pk=project.pk).update(redact_secrets=False)
    kept = api.post("/facts", {"fact_text": TEXT})
    assert (kept.status_code, kept.json()["fact_text"], REDACTED in kept) == (201, TEXT, False)
    event = {"hook_event_name": "UserPromptSubmit", "session_id": "s1", "cwd": "/srv", "prompt": TEXT}
    assert api.post("/ingest/hook?client=claude-code", event).status_code == 200
    assert Message.objects.all_versions().get().content == TEXT
    other = stranger.post("/facts", {"fact_text": TEXT})  # the other project's setting is its own
    assert (other.json()["fact_text"], other[REDACTED]) == (CLEAN, "1")
    Project.objects.filter(pk=project.pk).update(redact_secrets=True)
    again = api.post("/facts", {"fact_text": f"Again {TEXT}"})
    assert (again.json()["fact_text"], again[REDACTED]) == (f"Again {CLEAN}", "1")


SECRET_NAME = "sk-" + "4f9a1c7e2b8d6035" * 2  # lower case, as names of branches are
CREATIONS = [
    ("/branches", {"name": f"task/{SECRET_NAME}"}, "name", "API key"),
    ("/tasks", {"name": "Login", "slug": SECRET_NAME}, "slug", "API key"),
    ("/templates", {"name": SECRET_NAME}, "name", "API key"),
    ("/bundles", {"name": SECRET_NAME}, "name", "API key"),
    ("/sessions", {"session_id": SECRET}, "session_id", "GitHub token"),
    ("/facts", {"fact_text": "Hi", "session_id": SECRET}, "session_id", "GitHub token"),
]


@pytest.mark.parametrize(("path", "body", "field", "kind"), CREATIONS)
def test_a_name_that_holds_a_secret_is_refused(project, path, body, field, kind):
    """Other rows refer to it, so it cannot be redacted; the answer does not repeat it."""
    api = api_for(project)
    before = state()
    answer = api.post(path, body)
    problem = refused(answer, 400, "invalid", field)
    assert problem["detail"] == f"The name looks like it holds a secret ([redacted: {kind}]): choose another."
    assert not any(secret in answer.content.decode() for secret in (SECRET_NAME, SECRET))
    assert state() == before
    Project.objects.filter(pk=project.pk).update(redact_secrets=False)
    assert api.post(path, body).status_code == 201


def test_usual_names_are_taken(project):
    api = api_for(project)
    for name in (
        "task/fix-login-2026-11-28",
        "fix/token-refresh-2",
        "password-reset",
        "da39a3ee5e6b4b0d3255bfef95601890afd80709",
        "agent/0197c3f2-8a41-7c3e-9d52-1b2c3d4e5f60",
        "release/v2.14.0-rc.1",
    ):
        assert api.post("/branches", {"name": name}).status_code == 201, name
    for key in ("0197c3f2-8a41-7c3e-9d52-1b2c3d4e5f60", DRAWN, "ses_4Xk29ZqP7vM3", "s1"):
        assert api.post("/sessions", {"session_id": key}).status_code == 201, key


def test_a_slug_that_holds_a_secret_is_refused(project):
    with pytest.raises(Invalid, match=r"\(\[redacted: API key\]\): choose another") as refusal:
        ProjectEngine().create_project(slug=SECRET_NAME, name="One", actor=local_actor(project.pk))
    assert refusal.value.data["field"] == "slug"
    client = Client()
    client.force_login(User.objects.create_superuser("root"))
    page = client.post(
        "/admin/memory/project/add/", {"name": "One", "slug": SECRET_NAME, "dream_min_size": 3}
    )
    assert "([redacted: API key]): choose another." in page.content.decode()
    assert not Project.objects.filter(slug=SECRET_NAME).exists()
