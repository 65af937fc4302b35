"""Logins, refused ones and changed passwords in the trails, which people read; a broken chain in health."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

import pytest
from django.core.cache import cache
from django.test import Client

from memory.actors import local_actor
from memory.engines.access.keys import KeyEngine
from memory.engines.audit.trail import check_all, record_entry, seal_entries
from memory.engines.facts.engine import FactEngine
from memory.engines.store.check.results import find_file, note_problem
from memory.engines.support.usage import UsageEngine
from memory.engines.support.write_buffer import buffer
from memory.models import AuditEntry, Membership, Project, ServerEntry
from memory.request_context import RequestContext, current_request
from tests.memory.api.client import Api, api_for

PASSWORD = "correct horse battery"

pytestmark = pytest.mark.django_db


@pytest.fixture
def api(project: Project) -> Api:
    return api_for(project)


@pytest.fixture
def vera(project: Project, django_user_model: Any) -> Any:
    cache.clear()
    user = django_user_model.objects.create_user("vera", password=PASSWORD)
    Membership.objects.create(project=project, user=user, role="curator")
    return user


def log_in(name: str, password: str) -> Client:
    client = Client()
    client.post("/login", {"username": name, "password": password})
    return client


def list_entries(api: Api, **filters: str) -> list[tuple[str, str, str]]:
    rows = api.get("/audit?" + urlencode(filters)).json()["results"]
    return [(row["action"], row["actor_label"], row["target"]) for row in rows]


def test_a_login_and_a_changed_password_are_in_the_trail_of_the_project(api: Api, vera: Any) -> None:
    client = log_in("vera", PASSWORD)
    new = {"old_password": PASSWORD, "new_password1": "another horse 1", "new_password2": "another horse 1"}
    assert client.post("/account/password", new).status_code == 302
    assert list_entries(api, target="vera") == [
        ("password.change", "vera", "vera"),
        ("login", "vera", "vera"),
    ]
    (row,) = api.get("/audit?action=login").json()["results"]
    assert (row["detail"], row["surface"], row["request_id"]) == ({"address": "127.0.0.1"}, "web", None)


def test_wrong_passwords_are_told_once_a_minute_and_name_nobody_as_the_actor(api: Api, vera: Any) -> None:
    for _ in range(12):  # the last two are throttled
        log_in("vera", "wrong")
    assert list_entries(api, target="vera") == [
        ("login.throttled", "stranger", "vera"),
        ("login.failed", "stranger", "vera"),
    ]


def test_names_that_nobody_has_are_in_no_project_and_not_kept(project: Project) -> None:
    cache.clear()
    for number in range(3):
        log_in(f"made-up-{number}", "wrong")
    assert not AuditEntry.objects.filter(action="login.failed").exists()
    assert list(ServerEntry.objects.values_list("action", "target")) == [("login.failed", "")]


def test_a_full_project_keeps_a_login_out_of_its_own_trail_alone(
    project: Project, other_project: Project, api: Api, vera: Any
) -> None:
    Membership.objects.create(project=other_project, user=vera, role="curator")  # Other, then Test
    usage, full = UsageEngine(), local_actor(other_project.pk)
    FactEngine().write_facts(facts=[{"fact_text": f"Fact {number}."} for number in range(9)], actor=full)
    usage.count_project(other_project.pk)
    usage.set_quota(slug=other_project.slug, text="rows=1")
    log_in("vera", "wrong")
    log_in("vera", PASSWORD)
    assert list_entries(api, target="vera") == [
        ("login", "vera", "vera"),
        ("login.failed", "stranger", "vera"),
    ]
    assert not AuditEntry.objects.filter(project=other_project, target="vera").exists()


def test_a_password_that_an_admin_sets_is_that_of_the_admin(
    api: Api, vera: Any, admin_client: Client
) -> None:
    new = {"password1": "another horse 1", "password2": "another horse 1", "usable_password": "true"}
    assert admin_client.post(f"/admin/auth/user/{vera.pk}/password/", new).status_code == 302
    assert list_entries(api, target="vera") == [("password.change", "admin", "vera")]


def test_a_request_is_found_in_the_audit(api: Api, actor: Any) -> None:
    entry = record_entry(actor, "test", "here")
    AuditEntry.objects.filter(pk=entry.pk).update(request_id="proxy-1")
    assert list_entries(api, request_id="proxy-1") == [("test", actor.label, "here")]


def test_a_key_that_comes_from_a_new_address_is_told_once(api: Api, actor: Any) -> None:
    key, token = KeyEngine().create_key(label="laptop", scopes=["read"], actor=actor)
    for address in ("127.0.0.1", "::1", "203.0.113.7", "203.0.113.7", "2001:db8::/64", "", "no address"):
        current_request.set(RequestContext("one", address))
        KeyEngine().verify_token(token)
        buffer.flush()
    current_request.set(None)
    rows = api.get("/audit?action=key.address").json()["results"]
    assert [(row["actor_label"], row["target"], row["detail"]["address"]) for row in rows] == [
        ("laptop", key.prefix, "2001:db8::/64"),
        ("laptop", key.prefix, "203.0.113.7"),
    ]


def test_what_is_taken_out_is_told(api: Api, vera: Any) -> None:
    client = log_in("vera", PASSWORD)
    answer = client.get("/p/test/facts?format=csv")
    assert b"fact_text" in answer.getvalue()
    assert client.head("/p/test/facts?format=csv").status_code == 200
    assert client.get("/p/test/facts?format=xml").status_code == 400
    assert list_entries(api, action="data.export") == [("data.export", "vera", "facts")]


@pytest.fixture
def no_result_after() -> Iterator[None]:
    """Remove the result of a check, which is a file, for tests of a store that was never checked."""
    yield
    if path := find_file():
        path.unlink(missing_ok=True)


@pytest.mark.usefixtures("no_result_after")
def test_a_changed_entry_is_told_in_health_until_it_is_whole(project: Project, actor: Any, api: Api) -> None:
    entry = record_entry(actor, "test", "true")
    seal_entries(project)
    AuditEntry.objects.filter(pk=entry.pk).update(target="false")
    note_problem("audit_changed", len(check_all()))  # as the hourly task does, after other work
    health = api.get("/health").json()
    assert (health["status"], health["store_check"]["problems"]) == ("degraded", {"audit_changed": 1})
    AuditEntry.objects.filter(pk=entry.pk).update(target="true")
    note_problem("audit_changed", len(check_all()))
    assert api.get("/health").json()["store_check"]["problems"] == {}
