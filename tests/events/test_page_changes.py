"""A page is told that its branch changed, over a real server with the cookie of a person."""

import http.client
import json
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from django.conf import settings
from django.test import Client

from day1site.events import page_changes
from day1site.events.page_changes import ChangeStreams
from memory.actors import Actor
from memory.engines.activity.events import EventEngine
from memory.engines.branches.manager import BranchManager
from memory.engines.facts.engine import FactEngine
from memory.models import Membership, Project
from tests.events.sse_client import Server
from tests.memory.views.conftest import browser, person
from tests.waiting import TIMEOUT_SECONDS

PATH = "/live/test/changes"
pytestmark = pytest.mark.slow


class Page:
    """What a browser asks for an open page of a person."""

    def __init__(self, port: int, client: Client | None, query: str = "", path: str = PATH) -> None:
        self.link = http.client.HTTPConnection("127.0.0.1", port, timeout=TIMEOUT_SECONDS)
        cookie = client.cookies[settings.SESSION_COOKIE_NAME].value if client else ""
        sent = {"Cookie": f"{settings.SESSION_COOKIE_NAME}={cookie}"} if client else {}
        self.link.request("GET", path + query, headers=sent)
        self.answer = self.link.getresponse()

    def __enter__(self) -> "Page":
        return self

    def __exit__(self, *_: Any) -> None:
        self.link.close()

    def next_line(self, start: str) -> str:
        """Return the next line that begins so; "" at the end of the stream."""
        for raw in self.answer:
            if raw.decode().startswith(start):
                return raw.decode().removeprefix(start).strip()
        return ""

    def opened(self) -> "Page":
        assert self.next_line(": open") == ""
        return self

    def position(self) -> int:
        return int(json.loads(self.next_line("data: "))["position"])

    def refusal(self) -> tuple[int, str]:
        return self.answer.status, json.loads(self.answer.read())["code"]


@pytest.fixture
def ask(port: int, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.setattr(page_changes, "POLL_SECONDS", 0.05)
    monkeypatch.setattr(page_changes, "BEAT_SECONDS", 0.1)
    with ExitStack() as stack:
        yield lambda *how, **more: stack.enter_context(Page(port, *how, **more))


@pytest.fixture
def vera(project: Project) -> Client:
    return browser(person("vera", project))


def write(actor: Actor, text: str, branch: str = "main") -> int:
    """Write a fact, and return the position of that."""
    FactEngine().write_fact(fact_text=text, branch_name=branch, actor=actor)
    return EventEngine().latest_position(project_id=actor.project_id)


def test_a_page_is_told_of_its_own_branch(ask: Any, vera: Client, actor: Actor) -> None:
    BranchManager().create_branch(name="task/x", actor=actor)
    start = write(actor, "Before.")
    main = ask(vera, f"?branch=main&after={start}").opened()
    task = ask(vera, f"?branch=task/x&after={start}").opened()
    elsewhere = write(actor, "On the task.", "task/x")
    assert task.position() == elsewhere
    here = write(actor, "On main.")
    assert main.position() == here  # nothing was said of the other branch


def test_a_page_of_the_project_is_told_of_all_branches(ask: Any, vera: Client, actor: Actor) -> None:
    BranchManager().create_branch(name="task/x", actor=actor)
    page = ask(vera, f"?after={write(actor, 'Before.')}").opened()
    elsewhere = write(actor, "On the task.", "task/x")
    assert page.position() == elsewhere
    here = write(actor, "On main.")
    assert page.position() == here


def test_what_came_before_it_was_open_is_told_at_once(ask: Any, vera: Client, actor: Actor) -> None:
    before = write(actor, "Shown.")
    after = write(actor, "Not shown yet.")
    assert ask(vera, f"?after={before}").position() == after


def test_a_project_is_told_nothing_of_another(
    ask: Any, project: Project, other_project: Project, vera: Client, actor: Actor
) -> None:
    page = ask(vera).opened()
    write(Actor(other_project.pk, "local", scopes=frozenset({"admin"})), "Elsewhere.")
    here = write(actor, "Here.")
    assert page.position() == here


def test_who_logs_out_or_is_no_member_any_more_is_told_nothing(
    ask: Any, project: Project, vera: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page_changes, "CHECK_SECONDS", 0.1)
    out, gone = ask(vera).opened(), ask(browser(person("gus", project))).opened()
    Membership.objects.filter(user__username="gus").delete()
    vera.logout()
    assert out.next_line("data: ") == gone.next_line("data: ") == ""  # both streams end


def test_what_is_refused(ask: Any, other_project: Project, vera: Client) -> None:
    assert ask(None).refusal() == (401, "unauthenticated")
    assert ask(vera, path="/live/other/changes").refusal() == (404, "not_found")
    assert ask(vera, path="/live/test/changed").refusal() == (404, "not_found")
    assert ask(vera, "?branch=task/none").refusal() == (404, "not_found")


def test_a_login_without_the_second_factor_that_is_required_is_told_nothing(
    ask: Any, vera: Client, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page_changes, "CHECK_SECONDS", 0.1)
    page = ask(vera).opened()
    Project.objects.filter(pk=project.pk).update(require_second_factor=True)
    for path in (PATH, "/live/test/first-event"):
        assert ask(vera, path=path).refusal() == (403, "scope_missing")
    assert page.next_line("data: ") == ""  # what was open has ended


def test_streams_have_a_bound(ask: Any, vera: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ChangeStreams, "max_streams", 1)
    ask(vera).opened()
    assert ask(vera).refusal() == (503, "unavailable")


def test_a_server_that_stops_ends_the_streams_at_once(served: tuple[int, Server], vera: Client) -> None:
    port, server = served
    with Page(port, vera) as page:
        page.opened()
        server.stop()
        assert page.next_line("data: ") == ""
        assert server.stopped.wait(TIMEOUT_SECONDS / 2)  # sooner than it is told to wait for requests
