"""day1 events: the local store and a server, followed alike."""

import asyncio

import pytest

from day1site import asgi
from day1site.cli import following
from day1site.cli.client import client
from day1site.cli.following import line_of
from day1site.cli.main import main
from day1site.events import hub
from memory.actors import Actor
from memory.api.event_shapes import EventShape
from memory.engines.branches import BranchManager
from memory.models import Project
from tests.events.follower import PATH, Server, write


@pytest.mark.parametrize("where", ["local", "server"])
def test_day1_events_follows_both(
    port: int, project: Project, token: str, actor: Actor, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if where == "server":
        monkeypatch.setenv("DAY1_URL", f"http://127.0.0.1:{port}")
        monkeypatch.setenv("DAY1_KEY", token)
    BranchManager().create_branch(name="b", actor=actor)
    write(actor, "One.")
    write(actor, "Not asked for.", "b")
    found = client("" if where == "server" else project.slug).follow(
        {"last_event_id": 0, "branch": ["main"], "kind": ["fact.*"]}
    )
    first = next(found)
    write(actor, "Two ☕.")
    second = next(found)
    assert [line_of(event).split("\t")[2:] for event in (first, second)] == [
        ["fact.write", "main", "local", "One."], ["fact.write", "main", "local", "Two ☕."],
    ]  # fmt: skip
    assert list(first) == list(EventShape().get_fields())


def test_day1_events_comes_back_to_a_server_that_was_away(
    served: tuple[int, Server], token: str, actor: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    port, _ = served
    monkeypatch.setattr(following, "PAUSE", 0.05)
    monkeypatch.setattr(hub, "OF_A_KEY", 1)  # two streams at once would be refused
    found = following.followed(f"http://127.0.0.1:{port}{PATH}?last_event_id=0", token)
    write(actor, "One.")
    assert next(found)["changes"][0]["line"] == "One."
    [(_, app)] = [entry for entry in asgi.ASYNC_APPS if entry[0] == PATH]
    asyncio.run_coroutine_threadsafe(app.stop(), app._life.get_loop()).result()
    write(actor, "Two.")
    assert next(found)["changes"][0]["line"] == "Two."


def test_day1_events_says_what_the_server_refuses(
    port: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DAY1_URL", f"http://127.0.0.1:{port}")
    monkeypatch.setenv("DAY1_KEY", "day1_wrong")
    assert main(["events"]) == 1
    assert capsys.readouterr().err == "unauthenticated: A valid API key is needed.\n"
