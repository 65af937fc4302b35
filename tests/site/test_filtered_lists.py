"""Lists filtered by tokens: over REST, by what is typed on the page, and in the file of the page."""

import json
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from memory.actors import Actor
from memory.engines.access.keys import KeyEngine
from memory.engines.branches.manager import BranchManager
from memory.models import ApiKey, Branch, Project
from tests.memory.api.client import Api, api_for
from tests.memory.views.conftest import Role, browser, person
from tests.memory.views.test_page_frame import text

pytestmark = pytest.mark.django_db(transaction=True)
NOW = timezone.now()


@pytest.fixture
def maintainer(project: Project) -> Client:
    return browser(person("max", project, Role.MAINTAINER))


@pytest.fixture
def api(project: Project) -> Any:
    return api_for(project)


def read(client: Client, address: str) -> Any:
    """Return the rows of a page's file, where what is typed leads."""
    return json.loads(b"".join(client.get(f"/p/test/{address}&format=json", follow=True).streaming_content))


@pytest.fixture
def branches(actor: Actor, main: Branch) -> None:
    manager = BranchManager()
    manager.create_branch(name="task/login", owner="Mira", tags=["auth", "a b"], actor=actor)
    manager.create_branch(name="task/fees", owner="Tomás", tags=["auth b"], actor=actor)
    manager.create_branch(name="old_login", actor=actor)
    manager.archive_branch(name="old_login", actor=actor)


@pytest.mark.usefixtures("branches")
@pytest.mark.parametrize(
    ("typed", "filters", "expected"),
    [
        ("name:LOG", "name=LOG", ["task/login"]),
        ("name:k_l", "name=k_l", []),  # no wildcard
        ("name:登录", "name=登录", []),
        ("name:log archived:true", "name=log&archived=true", ["old_login", "task/login"]),
        ("owner:Tomás", "owner=Tomás", ["task/fees"]),
        ('tag:"a b"', "tag=a b", ["task/login"]),
        ("tag:auth", "tag=auth", ["task/login"]),
        ("owner:Mira tag:auth name:fees", "owner=Mira&tag=auth&name=fees", []),
    ],
)
def test_branches_by_name_owner_and_tag(
    maintainer: Client, api: Api, typed: str, filters: str, expected: list[str]
) -> None:
    answer: Any = api.get(f"/branches?{filters}")
    assert [row["name"] for row in answer.json()["results"]] == expected
    assert [row["name"] for row in read(maintainer, f"branches?q={typed}")] == expected
    page = text(maintainer.get(f"/p/test/branches?q={typed}", follow=True))
    assert ("No branch matches." in page) == (not expected)
    assert [f"<strong>{name}</strong>" in page for name in ("task/login", "task/fees", "old_login")] == [
        name in expected for name in ("task/login", "task/fees", "old_login")
    ]


def test_keys_by_agent_and_state(maintainer: Client, api: Api, actor: Actor) -> None:
    engine = KeyEngine()
    for label, agent in (("one", "ledger"), ("two", "ledger"), ("three", "")):
        engine.create_key(label=label, scopes=["write"], agent_id=agent, actor=actor)
    ApiKey.objects.filter(label="two").update(expires_at=NOW - timedelta(days=1))
    ApiKey.objects.filter(label="three").update(expires_at=NOW + timedelta(days=1))
    engine.create_key(label="four", scopes=["read"], actor=actor)
    ApiKey.objects.filter(label="four").update(expires_at=NOW - timedelta(days=1), revoked_at=NOW)
    own = ApiKey.objects.exclude(label__in=("one", "two", "three", "four")).get().label
    for typed, filters, expected in (
        ("agent:ledger", "agent_id=ledger", ["two", "one"]),
        ("state:valid", "state=valid", ["three", "one", own]),
        ("state:expired", "state=expired", ["two"]),
        ("state:revoked", "state=revoked", ["four"]),
        ("state:valid agent:ledger", "state=valid&agent_id=ledger", ["one"]),
    ):
        answer: Any = api.get(f"/keys?{filters}")
        assert [row["label"] for row in answer.json()["results"]] == expected, typed
        assert [row["label"] for row in read(maintainer, f"keys?q={typed}")] == expected, typed


def test_members_are_sorted_and_filtered_on_their_page(maintainer: Client, project: Project) -> None:
    for name, role in (("ana", Role.CURATOR), ("Zoe", Role.CURATOR), ("bo", Role.VIEWER)):
        person(name, project, role)
    for address, expected in (
        ("members?", ["max", "ana", "Zoe", "bo"]),
        ("members?ordering=-joined_at", ["bo", "Zoe", "ana", "max"]),
        ("members?ordering=-name", ["max", "bo", "ana", "Zoe"]),
        ("members?ordering=role", ["ana", "Zoe", "max", "bo"]),
        ("members?q=role:curator", ["ana", "Zoe"]),
        ("members?q=name:O", ["Zoe", "bo"]),
    ):
        rows = read(maintainer, address)
        assert [row["username"] for row in rows] == expected, address
    assert (rows[0]["username"], rows[0]["role"], rows[0]["active"]) == ("Zoe", "curator", True)
    page = text(maintainer.get("/p/test/members?role=king"))
    assert ("must be one of" in page, 'id="new"' in page) == (True, True)


REFUSED = {
    "branches": "archived=maybe",
    "keys": "state=open",
    "erasures": "state=gone",
    "erasures?": "scope=all",
    "scorings": "conversation_id=none",
    "branches?": f"tag={'x' * 101}",
}


@pytest.mark.parametrize("route", REFUSED)
def test_a_value_that_there_is_not_is_refused(maintainer: Client, api: Api, main: Branch, route: str) -> None:
    name, query = route.strip("?"), REFUSED[route]
    answer: Any = api.get(f"/{name}?{query}")
    assert (answer.status_code, answer.json()["field"]) == (400, query.partition("=")[0])
    page = maintainer.get(f"/p/test/{name}?{query}")
    assert (page.status_code, 'class="note error"' in text(page)) == (400, True)
    assert api.get(f"/{name}?{query}&{query}").status_code == 400
