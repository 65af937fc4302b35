"""What keys did last: nothing, a request, an event; of the project, or of one key."""

from dataclasses import replace
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from memory.actors import Actor
from memory.engines.access import key_activity
from memory.engines.access.key_activity import KeyActivity, KeyActivityEngine
from memory.engines.access.keys import KeyEngine
from memory.engines.audit.trail import seal_entries
from memory.engines.branches.manager import BranchManager
from memory.engines.facts.engine import FactEngine
from memory.engines.support.write_buffer import buffer
from memory.exceptions import NotFound, ScopeMissing
from memory.models import ApiKey, AuditEntry, Project
from tests.memory.api.client import Api

WAITING = KeyActivity("waiting")


def latest(actor: Actor, **which: Any) -> tuple[str, str]:
    found = KeyActivityEngine().get_latest(actor=actor, **which)
    return found.state, found.label


def new_key(actor: Actor, label: str, scope: str = "write") -> tuple[ApiKey, Api]:
    key, token = KeyEngine().create_key(label=label, scopes=[scope], actor=actor)
    return key, Api(token)


def call(api: Api, method: str, path: str, body: Any = None) -> None:
    assert api(method, path, body).status_code < 300
    buffer.flush()  # when a key was used is written within a second


def test_what_people_do_is_no_event_of_a_key(actor: Actor) -> None:
    key, _ = new_key(actor, "laptop")
    FactEngine().write_fact(fact_text="A person wrote this.", actor=actor)
    assert KeyActivityEngine().get_latest(actor=actor) == WAITING
    assert KeyActivityEngine().get_latest(actor=actor, key_id=key.pk) == WAITING


def test_a_read_reaches_and_a_write_is_an_event(actor: Actor) -> None:
    key, api = new_key(actor, "laptop")
    call(api, "GET", "/facts")
    assert latest(actor) == latest(actor, key_id=key.pk) == ("reached", "laptop")
    call(api, "POST", "/facts", {"fact_text": "Deploys run on Friday."})
    found = KeyActivityEngine().get_latest(actor=actor)
    assert found == KeyActivity("event", "laptop", AuditEntry.objects.get(action="fact.write").at)


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/sessions", {"session_id": "s1"}),
        ("/observations", {"summary": "Tests pass."}),
        ("/ingest/hook", {"hook_event_name": "SessionStart", "session_id": "s1"}),
    ],
)
def test_sessions_observations_and_hooks_are_events(actor: Actor, path: str, body: Any) -> None:
    _, api = new_key(actor, "claude-code")
    call(api, "POST", path, body)
    assert latest(actor) == ("event", "claude-code")


def test_the_test_event_of_doctor_is_no_event_of_the_program(actor: Actor) -> None:
    _, api = new_key(actor, "claude-code")
    test = {"hook_event_name": "Day1Test", "session_id": "day1-doctor-claude-code", "prompt": "Test event"}
    for mark in ("1", "2"):  # the second resumes and ends the session again
        call(api, "POST", "/ingest/hook", {**test, "prompt_id": mark})
    entries = AuditEntry.objects.filter(actor_label="claude-code")
    assert {"hook.ingest", "session.resume", "session.end"} <= {entry.action for entry in entries}
    assert {entry.surface for entry in entries} == {"test"}
    assert latest(actor) == ("reached", "claude-code")
    begun = {"hook_event_name": "SessionStart", "session_id": "s1"}
    call(api, "POST", "/ingest/hook", [{**test, "prompt_id": "3"}, begun])  # one spool, sent at once
    assert latest(actor) == ("event", "claude-code")


def test_a_key_that_only_makes_keys_has_brought_no_event(actor: Actor) -> None:
    _, api = new_key(actor, "first key", "admin")
    call(api, "POST", "/keys", {"label": "another", "scopes": ["read"]})
    assert latest(actor) == ("reached", "first key")


def test_of_two_keys_the_newest_event_counts_and_each_has_its_own(actor: Actor) -> None:
    old, first = new_key(actor, "old")
    new, second = new_key(actor, "new")
    call(first, "POST", "/facts", {"fact_text": "First."})
    assert latest(actor, key_id=new.pk) == ("waiting", "")
    call(second, "POST", "/facts", {"fact_text": "Second."})
    call(first, "GET", "/facts")
    assert latest(actor) == ("event", "new")
    assert latest(actor, key_id=old.pk) == ("event", "old")


def test_sealed_entries_count_too(actor: Actor, project: Project) -> None:
    _, api = new_key(actor, "laptop")
    call(api, "POST", "/facts", {"fact_text": "Sealed."})
    seal_entries(project)
    assert latest(actor) == ("event", "laptop")
    FactEngine().write_fact(fact_text="A person, later.", actor=actor)
    assert latest(actor) == ("event", "laptop")


def test_a_wait_reads_one_row_and_a_look_a_bounded_number(
    actor: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    with CaptureQueriesContext(
        connection,
    ) as waiting:
        latest(actor)
    assert len(waiting) == 1
    _, api = new_key(actor, "laptop")
    call(api, "POST", "/facts", {"fact_text": "Long ago."})
    monkeypatch.setattr(key_activity, "MAX_ENTRIES", 3)
    for number in range(4):
        FactEngine().write_fact(fact_text=f"Later {number}.", actor=actor)
    with CaptureQueriesContext(connection) as looking:
        assert latest(actor) == ("reached", "laptop")
    assert len(looking) == 3
    assert all("LIMIT 3" in one["sql"] for one in looking.captured_queries[1:])


def test_what_is_refused(actor: Actor, other_project: Project) -> None:
    key, api = new_key(actor, "laptop")
    call(api, "POST", "/facts", {"fact_text": "Ours."})
    stranger = replace(actor, project_id=other_project.pk)
    assert KeyActivityEngine().get_latest(actor=stranger) == WAITING
    with pytest.raises(NotFound):
        KeyActivityEngine().get_latest(actor=stranger, key_id=key.pk)
    with pytest.raises(ScopeMissing):
        KeyActivityEngine().get_latest(actor=replace(actor, scopes=frozenset()))


def test_who_is_kept_to_some_branches_sees_events_of_those_alone(actor: Actor) -> None:
    BranchManager().create_branch(name="task/a", actor=actor)
    _, api = new_key(actor, "laptop")
    call(api, "POST", "/sessions", {"session_id": "s1"})
    call(api, "POST", "/facts", {"fact_text": "On main."})
    kept = replace(actor, branch_patterns=("task/*",))
    assert latest(kept) == ("reached", "laptop")
    call(api, "POST", "/facts", {"fact_text": "On the branch.", "branch": "task/a"})
    assert latest(kept) == ("event", "laptop")
