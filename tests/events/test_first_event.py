"""A page that waits for the first event, over a real server with the cookie of a person."""

import http.client
import json
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from django.conf import settings
from django.test import Client

from day1site.events import pages
from day1site.events.pages import FirstEventStreams
from memory.actors import Actor
from memory.engines.access.keys import KeyEngine
from memory.engines.support.write_buffer import buffer
from memory.models import Membership, Project
from tests.events.sse_client import Server
from tests.memory.views.conftest import browser, person
from tests.waiting import TIMEOUT_SECONDS, wait_until

PATH = "/live/test/first-event"


class Page:
    """What a browser asks for a page of a person."""

    def __init__(self, port: int, client: Client | None, path: str = PATH, method: str = "GET") -> None:
        self.link = http.client.HTTPConnection("127.0.0.1", port, timeout=TIMEOUT_SECONDS)
        cookie = client.cookies[settings.SESSION_COOKIE_NAME].value if client else ""
        sent = {"Cookie": f"{settings.SESSION_COOKIE_NAME}={cookie}"} if client else {}
        self.link.request(method, path, headers=sent)
        self.answer = self.link.getresponse()

    def __enter__(self) -> "Page":
        return self

    def __exit__(self, *_: Any) -> None:
        self.link.close()

    def state(self) -> tuple[str, str]:
        """Return the next state; ("", "") at the end of the stream."""
        for raw in self.answer:
            if raw.startswith(b"data: "):
                data = json.loads(raw.removeprefix(b"data: "))
                return data["state"], data["label"]
        return "", ""

    def refusal(self) -> tuple[int, str]:
        return self.answer.status, json.loads(self.answer.read())["code"]


@pytest.fixture
def ask(port: int, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.setattr(pages, "POLL_SECONDS", 0.05)
    with ExitStack() as stack:
        yield lambda *how, **more: stack.enter_context(Page(port, *how, **more))


@pytest.fixture
def vera(project: Project) -> Client:
    return browser(person("vera", project))


def post(port: int, token: str, path: str, body: Any) -> None:
    link = http.client.HTTPConnection("127.0.0.1", port, timeout=TIMEOUT_SECONDS)
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    link.request("POST", f"/api/v1{path}", json.dumps(body), headers)
    assert link.getresponse().status < 300
    link.close()
    buffer.flush()  # when a key was used is written within a second


def test_it_tells_the_state_now_and_each_change(ask: Any, port: int, vera: Client, actor: Actor) -> None:
    key, token = KeyEngine().create_key(label="laptop", scopes=["write"], actor=actor)
    _, other = KeyEngine().create_key(label="other", scopes=["write"], actor=actor)
    page, own = ask(vera), ask(vera, f"{PATH}?key={key.pk}")
    assert page.answer.headers["content-type"] == "text/event-stream"
    assert page.state() == own.state() == ("waiting", "")
    post(port, other, "/facts", {"fact_text": "Of the other."})
    assert page.state() == ("event", "other")
    post(port, token, "/facts", {"fact_text": "Of the laptop."})
    assert own.state() == ("event", "laptop")
    assert page.state() == ("event", "laptop")


def test_who_logs_out_or_is_no_member_any_more_is_told_nothing(
    ask: Any, project: Project, vera: Client
) -> None:
    out, gone = ask(vera), ask(browser(person("gus", project)))
    assert out.state() == gone.state() == ("waiting", "")
    Membership.objects.filter(user__username="gus").delete()
    assert gone.state() == ("", "")
    vera.logout()
    assert out.state() == ("", "")


def test_what_is_refused(ask: Any, port: int, project: Project, other_project: Project, vera: Client) -> None:
    key, token = KeyEngine().create_key(
        label="laptop", scopes=["admin"], actor=Actor(project.pk, "local", scopes=frozenset({"admin"}))
    )
    assert ask(None).refusal() == (401, "unauthenticated")
    assert ask(vera, "/live/other/first-event").refusal() == (404, "not_found")
    assert ask(vera, "/live/test/second-event").refusal() == (404, "not_found")
    assert ask(vera, f"{PATH}?key=1").refusal() == (400, "invalid")
    assert ask(vera, PATH, method="POST").refusal() == (405, "method_not_allowed")
    sam = browser(person("sam", other_project))
    assert ask(sam, f"/live/other/first-event?key={key.pk}").refusal() == (404, "not_found")
    link = http.client.HTTPConnection("127.0.0.1", port, timeout=TIMEOUT_SECONDS)
    link.request("GET", PATH, headers={"Authorization": f"Bearer {token}"})
    assert link.getresponse().status == 401  # it is for people: keys follow /api/v1/events


def test_streams_have_a_bound_and_a_page_that_leaves_gives_its_place_back(
    ask: Any, port: int, vera: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(FirstEventStreams, "max_streams", 1)
    with Page(port, vera) as one:
        assert one.state() == ("waiting", "")
        assert ask(vera).refusal() == (503, "unavailable")
    answers = []
    wait_until(lambda: answers.append(ask(vera)) or answers[-1].answer.status != 503)
    assert answers[-1].state() == ("waiting", "")


def test_a_server_that_stops_ends_the_streams_at_once(served: tuple[int, Server], vera: Client) -> None:
    port, server = served
    with Page(port, vera) as page:
        assert page.state() == ("waiting", "")
        server.stop()
        assert page.state() == ("", "")
        assert server.stopped.wait(TIMEOUT_SECONDS / 2)  # sooner than it is told to wait for requests
