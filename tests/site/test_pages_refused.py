"""Refusals on every page of the URL conf, over HTTP: each answers with a helpful page."""

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest
from django.db import connection
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from bench.page_urls import QUERIES, Route, routes
from memory.actors import Actor
from memory.engines.branches.manager import BranchManager
from memory.engines.facts.engine import FactEngine
from memory.exceptions import ProviderUnavailable
from memory.models import Branch, Fact, Project
from tests.databases import only_on_sqlite
from tests.memory.api.client import UNKNOWN
from tests.site.test_pages_queries import CHILD, Scene, person

__all__ = ["person"]  # a fixture

pytestmark = pytest.mark.django_db(transaction=True)
FACTS, BRANCHES = FactEngine(), BranchManager()
NO_BRANCHES = ("branch=task/gone", "branch=..%2Fx")
NO_POINTS = {
    f"at={UNKNOWN}": 404,
    "at=nonsense": 400,
    "at=999999999": 400,
    "at=99999999999999999999999": 400,
}
FORM = {
    "fact_text": "What I typed",
    "essence": "",
    "category": "general",
    "kind": "NOTE",
    "priority": "P3",
    "confidence": "0.5",
    "visibility": "private",
    "tags": "",
}

VERDICT = {"action": "verify", "version": "1", "reason": "What I typed"}


def said(answer: HttpResponse) -> str:
    return answer.content.decode()


def helps(answer: Any, status: int) -> str:
    """Check that a response is a complete page, with a heading and a link."""
    html = said(answer)
    assert answer.status_code == status, html[-2000:]
    assert len(re.findall("<h1", html)) == 1
    assert re.search(r'<main.*href="/', html, re.S)
    return html


def of_project() -> list[Route]:
    """Return the routes of a project's pages, web and admin."""
    return [route for route in routes() if route.of_project]


@pytest.mark.slow
def test_a_place_that_is_not_there(person: Client, project: Project, actor: Actor) -> None:
    """Check that each page explains a branch and a point that are not there, and links to itself on main."""
    scene = Scene(project, actor)
    scene.grow(1)
    values = scene.values()
    for number, route in enumerate(of_project()):
        point = list(NO_POINTS)[number % len(NO_POINTS)]
        # One with a branch in its path takes no other.
        branches = () if "branch_name" in route.words else (NO_BRANCHES[number % len(NO_BRANCHES)],)
        query = QUERIES.get(route.name.removeprefix("admin:"), ("",))[0].format(**values.as_dict)
        path = values.path(route, CHILD) + (f"?{query}" if query else "")
        for place, status in ((point, NO_POINTS[point]), *((branch, 404) for branch in branches)):
            html = helps(person.get(f"{path}{'&' if query else '?'}{place}"), status)
            assert f'href="{path}"' in html


def test_an_id_that_is_not_there(person: Client, project: Project, actor: Actor) -> None:
    unknown = {"slug": "test", "member_id": 999_999}
    for route in of_project():
        if set(route.words) - {"slug", "branch_name"}:
            values = {word: unknown.get(word, UNKNOWN) for word in route.words}
            helps(person.get(reverse(route.name, kwargs=values)), 404)
    for path in ("branches/task/gone", "session?key=gone", "facts/123"):
        helps(person.get(f"/p/test/{path}"), 404)
    helps(person.get("/admin/p/test/branches/task/gone"), 404)
    for admin in ("", "/admin"):
        helps(person.get(f"{admin}/p/gone/facts"), 404)


FORMS = ("/logout", "/theme", "/p/test/learning/decision")


@pytest.mark.parametrize("path", FORMS)
def test_the_address_of_a_form_is_opened(person: Client, project: Project, path: str) -> None:
    answer = person.get(path)
    assert "POST" in answer["Allow"]
    assert "This address only takes a form" in helps(answer, 405)
    assert "Day1" in said(Client().get("/theme"))


@pytest.fixture
def closed(project: Project, actor: Actor) -> Fact:
    """Return a fact of a branch that was archived while its pages were open."""
    BRANCHES.create_branch(name="task/a", actor=actor)
    fact = FACTS.write_fact(fact_text="One", branch_name="task/a", actor=actor).fact
    BRANCHES.archive_branch(name="task/a", actor=actor)
    return fact


@pytest.mark.parametrize(
    ("path", "form"),
    [
        ("/p/test/facts/{fact}/edit", FORM | {"version": "1"}),
        ("/p/test/facts/{fact}/edit?as=new", FORM | {"version": "1"}),
        ("/p/test/facts/{fact}/act", VERDICT),
        ("/admin/p/test/facts/{fact}/edit", FORM | {"version": "1"}),
        ("/admin/p/test/facts/{fact}/act", VERDICT),
    ],
)
def test_a_fact_deleted_under_an_open_form(
    person: Client, actor: Actor, path: str, form: dict[str, str]
) -> None:
    fact = FACTS.write_fact(fact_text="One", actor=actor).fact
    FACTS.delete_fact(fact_id=fact.uid, actor=actor)
    html = helps(person.post(path.format(fact=fact.uid), form), 404)
    assert re.search("<textarea[^>]*readonly[^>]*>What I typed</textarea>", html)


ARCHIVED = "The branch task/a is archived and takes no writes: restore it first."


@pytest.mark.parametrize(
    ("path", "form", "status"),
    [
        ("/p/test/facts/{fact}/edit", FORM | {"version": "1"}, 409),
        ("/p/test/facts/{fact}/act", {"action": "archive", "version": "1"}, 409),
        ("/admin/p/test/facts/{fact}/edit", FORM | {"version": "1"}, 409),
        ("/admin/p/test/facts/{fact}/act", {"action": "archive", "version": "1"}, 409),
        ("/admin/p/test/facts", {"one": "archive:{fact}:1"}, 409),
    ],
)
def test_a_branch_archived_under_an_open_page(
    person: Client, closed: Fact, path: str, form: dict[str, str], status: int
) -> None:
    """Check that nothing changes, and that the form keeps its input."""
    sent = {name: value.format(fact=closed.uid) for name, value in form.items()}
    path = f"{path.format(fact=closed.uid)}?branch=task/a"
    answer: Any = person.post(path, sent)
    assert answer.status_code == status
    html = said(answer)
    assert ARCHIVED in html
    assert ("What I typed" in html) == ("fact_text" in form)
    assert Fact.objects.on(Branch.objects.get(name="task/a")).get().fact_text == "One"


def test_a_form_of_an_archived_branch_is_not_offered(person: Client, closed: Fact) -> None:
    html = helps(person.get(f"/p/test/facts/{closed.uid}/edit?branch=task/a"), 409)
    assert ARCHIVED in html
    assert 'href="/p/test/branches/task/a"' in html


@pytest.fixture
def other_writer(actor: Actor) -> Iterator[None]:
    """Hold the database as another program would, for longer than a request waits here."""
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA busy_timeout = 50")
    with closing(sqlite3.connect(connection.settings_dict["NAME"], isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield
    connection.close()  # the next one waits as long as ever


def test_a_page_that_a_provider_keeps_away_has_a_line_in_the_log(
    person: Client, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise ProviderUnavailable(reason="no answer within 5 s")

    monkeypatch.setattr("memory.engines.facts.engine.FactEngine.list_facts", fail)
    helps(person.get("/p/test/facts"), 503)
    lines = [
        (row.levelname, row.getMessage()) for row in caplog.records if row.name == "memory.views.frame.base"
    ]
    reason = "The provider is not available: no answer within 5 s"
    assert lines == [("WARNING", f"GET /p/test/facts: {reason}")]


@only_on_sqlite
@pytest.mark.parametrize(
    ("path", "form"),
    [("/p/test/facts/{fact}/edit", FORM | {"version": "1"}), ("/admin/p/test/facts/{fact}/act", VERDICT)],
)
def test_a_database_that_others_hold_for_too_long(
    person: Client, actor: Actor, path: str, form: dict[str, str], request: pytest.FixtureRequest
) -> None:
    fact = FACTS.write_fact(fact_text="One", actor=actor).fact
    request.getfixturevalue("other_writer")
    html = helps(person.post(path.format(fact=fact.uid), form), 503)
    assert "The database is busy" in html
    assert "this was not stored" in html
    assert Fact.objects.on(Branch.objects.get(name="main")).get().version == 1
