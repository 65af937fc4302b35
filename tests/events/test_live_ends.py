"""The end of streams, and refusals."""

import http.client
import json

import pytest

from day1site.events import hub
from memory.actors import Actor, local_actor
from memory.engines.access.keys import KeyEngine
from memory.engines.branches.manager import BranchManager
from memory.models import ApiKey, Project
from tests.events.sse_client import PATH, Follow, Follower, Server, key_for, write
from tests.waiting import TIMEOUT_SECONDS, wait_until

# ---- how it ends ---------------------------------------------------------------------------------------


def test_a_key_that_ends_ends_its_streams(
    follow: Follow, project: Project, token: str, actor: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hub, "KEY_SECONDS", 0.1)
    key, own = key_for(project)
    ending, other = follow(own), follow(token)
    ending.started(), other.started()
    KeyEngine().revoke_key(key_id=key.pk, actor=actor)
    assert ending.message() == {"": "the key has ended"}
    assert ending.message() == {}
    follow(own).problem(401, "unauthenticated")
    write(actor, "Still here.")
    assert other.lines(1) == ["Still here."]


def test_a_server_that_stops_ends_the_streams_at_once(
    served: tuple[int, Server], token: str, actor: Actor
) -> None:
    port, one = served
    with Follower(port, token) as follower:
        follower.started()
        one.stop()
        assert follower.message() == {"": "the server stops"}
        assert follower.message() == {}
        assert one.stopped.wait(TIMEOUT_SECONDS / 2)  # sooner than it is told to wait for requests


def test_who_leaves_is_forgotten(port: int, project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    token = key_for(project)[1]
    ApiKey.objects.update(max_streams=1)
    with Follower(port, token) as first:
        first.started()
        with Follower(port, token) as second:
            told = second.problem(429, "rate_limited")
            assert second.answer.headers["Retry-After"] == "5"
            assert told["detail"] == "A key may hold 1 streams at once, and has 1."
    wait_until(lambda: Follower(port, token).answer.status == 200)


def test_there_is_room_for_so_many_in_all(
    port: int, project: Project, other_project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hub, "MAX_STREAMS", 1)
    with Follower(port, key_for(project)[1]) as first:
        first.started()
        with Follower(port, key_for(other_project)[1]) as second:
            second.problem(503, "unavailable")
            assert second.answer.headers["Retry-After"] == "5"


# ---- refusals ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "headers", "status", "code"),
    [
        ("", {"Last_Event_ID": "nonsense"}, 400, "invalid"),
        ("", {"Last_Event_ID": "-1"}, 400, "invalid"),
        ("", {"Last_Event_ID": "9" * 30}, 400, "invalid"),
        ("", {"Last_Event_ID": "7"}, 400, "invalid"),  # in the future
        ("?last_event_id=x", {}, 400, "invalid"),
        ("?branch=nowhere", {}, 404, "not_found"),
        ("?branch=%F0%9F%8D%B5", {}, 404, "not_found"),
        ("?branch=%00", {}, 400, "invalid"),
        ("?at=3", {}, 400, "unknown_field"),
        ("", {"Authorization": "Bearer day1_wrong"}, 401, "unauthenticated"),
        ("", {"Authorization": "Basic x"}, 401, "unauthenticated"),
        ("/7", {}, 404, "not_found"),
        ("", {"Origin": "https://evil.example"}, 403, "forbidden"),
    ],
)
def test_refusals(
    follow: Follow, token: str, query: str, headers: dict[str, str], status: int, code: str
) -> None:
    follow(token, query, **headers).problem(status, code)


def test_a_branch_beyond_the_patterns_of_the_key_is_refused(
    follow: Follow, project: Project, actor: Actor, other_project: Project
) -> None:
    BranchManager().create_branch(name="secret", actor=actor)
    BranchManager().create_branch(name="theirs", actor=local_actor(other_project.pk))
    token = key_for(project, branch_patterns=["main"])[1]
    follow(token, "?branch=secret").problem(403, "branch_forbidden")
    follow(key_for(project)[1], "?branch=theirs").problem(404, "not_found")
    follow(key_for(project)[1], "?branch=secret").started()


def test_only_get_is_known(port: int, token: str) -> None:
    link = http.client.HTTPConnection("127.0.0.1", port, timeout=TIMEOUT_SECONDS)
    link.request("POST", PATH, b"{}", {"Authorization": f"Bearer {token}"})
    answer = link.getresponse()
    assert (answer.status, answer.headers["Allow"]) == (405, "GET")
    assert json.loads(answer.read())["code"] == "method_not_allowed"
    link.close()


def test_an_archived_branch_may_be_followed(follow: Follow, token: str, actor: Actor) -> None:
    manager = BranchManager()
    manager.create_branch(name="old", actor=actor)
    manager.archive_branch(name="old", actor=actor)
    follower = follow(token, "?branch=old")
    follower.started()
    manager.restore_branch(name="old", actor=actor)
    assert [event["kind"] for event in follower.events(1)] == ["branch.restore"]
