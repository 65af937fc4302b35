"""day1 events: on the local store and on a server, with the same output."""

import asyncio
from urllib.error import HTTPError

import pytest
from pytest_httpserver import HTTPServer

from day1site import asgi
from day1site.cli import main
from day1site.cli.client import open_client
from day1site.cli.commands.events import format_event
from day1site.cli.transport import event_stream
from memory.actors import Actor
from memory.answers.events import EventShape
from memory.engines.branches.manager import BranchManager
from memory.models import ApiKey, Project
from tests.events.sse_client import PATH, Server, write


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
    found = open_client("" if where == "server" else project.slug).transport.follow_events(
        {"last_event_id": 0, "branch": ["main"], "kind": ["fact.*"]}
    )
    first = next(found)
    write(actor, "Two ☕.")
    second = next(found)
    assert [format_event(event).split("\t")[2:] for event in (first, second)] == [
        ["fact.write", "main", "local", "One."],
        ["fact.write", "main", "local", "Two ☕."],
    ]
    assert list(first) == list(EventShape().get_fields())


def test_day1_events_comes_back_to_a_server_that_was_away(
    served: tuple[int, Server], token: str, actor: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    port, _ = served
    monkeypatch.setattr(event_stream, "RETRY_SECONDS", 0.05)
    ApiKey.objects.update(max_streams=1)  # two streams at once would be refused
    found = event_stream.follow_stream(f"http://127.0.0.1:{port}{PATH}?last_event_id=0", token)
    write(actor, "One.")
    assert next(found)["changes"][0]["line"] == "One."
    [(_, app)] = [entry for entry in asgi.ASYNC_APPS if entry[0] == PATH]
    asyncio.run_coroutine_threadsafe(app.stop(), app._life.get_loop()).result()
    write(actor, "Two.")
    assert next(found)["changes"][0]["line"] == "Two."


def test_day1_events_waits_as_it_is_told_while_a_server_is_away(
    httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    pauses: list[float] = []
    monkeypatch.setattr(event_stream.time, "sleep", pauses.append)
    refusals = [
        (429, "7"),
        (502, None),
        (503, "3"),
        (504, "Wed, 21 Oct 2026 07:28:00 GMT"),
        (503, "0"),
        (503, "9" * 400),
    ]
    httpserver.expect_ordered_request(PATH).respond_with_data('id: 1\ndata: {"id": 1}\n\n')
    for status, after in refusals:
        httpserver.expect_ordered_request(PATH, headers={"Last-Event-ID": "1"}).respond_with_data(
            status=status, headers={} if after is None else {"Retry-After": after}
        )
    back = httpserver.expect_ordered_request(PATH, headers={"Last-Event-ID": "1"})
    back.respond_with_data('id: 2\ndata: {"id": 2}\n\n')
    httpserver.expect_ordered_request(PATH).respond_with_data(status=401)
    found = event_stream.follow_stream(httpserver.url_for(PATH), "day1_key")
    assert [next(found), next(found)] == [{"id": 1}, {"id": 2}]
    assert pauses == [2.0, 7.0, 2.0, 3.0, 2.0, 2.0, 3600.0]
    with pytest.raises(HTTPError, match="401"):
        next(found)


@pytest.mark.parametrize("status", [429, 502, 503, 504])
def test_day1_events_does_not_wait_for_a_server_that_refuses_at_first(
    httpserver: HTTPServer, status: int
) -> None:
    httpserver.expect_request(PATH).respond_with_data(status=status)
    with pytest.raises(HTTPError, match=str(status)):
        next(event_stream.follow_stream(httpserver.url_for(PATH), "day1_key"))


def test_day1_events_says_what_the_server_refuses(
    port: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DAY1_URL", f"http://127.0.0.1:{port}")
    monkeypatch.setenv("DAY1_KEY", "day1_wrong")
    assert main(["events"]) == 1
    assert capsys.readouterr().err == "unauthenticated: A valid API key is needed.\n"
