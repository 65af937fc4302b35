"""Turns of projects: a project alone has all threads, beside another one few of its requests are at work."""

import asyncio
from collections.abc import Awaitable, Callable
from time import monotonic

import pytest

from day1site import fair_turns
from day1site.fair_turns import STRANGERS, FairTurns, name_project
from memory.actors import Actor
from memory.engines.access import known_callers
from memory.engines.access.keys import KeyEngine
from memory.exceptions import Unauthenticated
from memory.models import Project
from tests.memory.views.conftest import browser, person


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a project count as there for the whole test, however slow the machine is."""
    monkeypatch.setattr(fair_turns, "ACTIVE_SECONDS", 1000.0)
    monkeypatch.setattr(fair_turns, "LONG_SECONDS", 1000.0)
    monkeypatch.setattr(fair_turns, "SHARED_TURNS", 1)


def play(scene: Callable[[FairTurns, list[str]], Awaitable[None]], most: int = 3) -> list[str]:
    """Return what begins and ends in a scene, in that order."""
    events: list[str] = []
    asyncio.run(asyncio.wait_for(scene(FairTurns(most), events), 20))
    return events


async def work(turns: FairTurns, project: str, events: list[str], end: asyncio.Event | None = None) -> None:
    async with turns.hold_turn(project):
        events.append(project)
        if end:
            await end.wait()


async def settle() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


def test_a_project_alone_has_all_threads_and_the_rest_waits() -> None:
    async def scene(turns: FairTurns, events: list[str]) -> None:
        end = asyncio.Event()
        tasks = [asyncio.create_task(work(turns, "a", events, end)) for _ in range(5)]
        await settle()
        assert events == ["a"] * 3
        end.set()
        await asyncio.gather(*tasks)

    assert play(scene) == ["a"] * 5


def test_the_first_of_another_waits_for_none_of_a_flood() -> None:
    async def scene(turns: FairTurns, events: list[str]) -> None:
        ends = [asyncio.Event() for _ in range(6)]
        flood = [asyncio.create_task(work(turns, "a", events, end)) for end in ends]
        await settle()
        await work(turns, "b", events)
        assert events == ["a", "a", "a", "b"]
        ends[0].set()
        ends[1].set()
        await settle()
        assert events == ["a", "a", "a", "b"]  # one of a's is at work still, which is its share now
        ends[2].set()
        await settle()
        assert events == ["a", "a", "a", "b", "a"]
        for end in ends:
            end.set()
        await asyncio.gather(*flood)

    assert play(scene) == ["a", "a", "a", "b", "a", "a", "a"]


def test_who_goes_while_it_waits_takes_no_turn() -> None:
    async def scene(turns: FairTurns, events: list[str]) -> None:
        end = asyncio.Event()
        first = asyncio.create_task(work(turns, "a", events, end))
        await settle()
        gone = asyncio.create_task(work(turns, "a", events))
        last = asyncio.create_task(work(turns, "a", events))
        await settle()
        gone.cancel()
        end.set()
        await asyncio.gather(first, last)
        await work(turns, "a", events)

    assert play(scene, most=1) == ["a"] * 3


def name(token: str = "", path: str = "/api/v1/facts", session: str = "") -> str | None:
    headers = [(b"authorization", f"Bearer {token}".encode())] * bool(token)
    return name_project([*headers, (b"cookie", f"sessionid={session}".encode())], path)


@pytest.mark.django_db(transaction=True)
def test_only_who_was_let_in_is_of_a_project(
    project: Project, actor: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    key, token = KeyEngine().create_key(label="k", scopes=["read"], actor=actor)
    _, of_server = KeyEngine().create_key(label="s", scopes=["metrics"], actor=actor)
    assert name(token) == STRANGERS  # it was not used yet
    KeyEngine().verify_token(token)
    KeyEngine().verify_token(of_server, may_keep_server=True)
    assert (name(token), name(of_server)) == (str(project.pk), None)
    forged = f"day1_{key.prefix}_{'x' * 49}"
    with pytest.raises(Unauthenticated):
        KeyEngine().verify_token(forged)
    assert name(forged) == STRANGERS  # the beginning of a key is no secret
    client, page = browser(person("vera", project)), f"/p/{project.slug}/facts"
    session = client.cookies["sessionid"].value
    assert name(path=page, session=session) == STRANGERS
    assert client.get(page).status_code == 200
    assert name(path=page, session=session) == str(project.pk)
    assert name(path=page) == name(path="/p/other/facts", session=session) == STRANGERS
    assert name(path="/login", session=session) is None
    monkeypatch.setattr(known_callers, "monotonic", lambda: monotonic() + known_callers.KNOWN_SECONDS)
    assert name(token) == STRANGERS


def test_a_flood_of_strangers_is_no_other_project() -> None:
    async def scene(turns: FairTurns, events: list[str]) -> None:
        end = asyncio.Event()
        own = asyncio.create_task(work(turns, "a", events, end))
        flood = [asyncio.create_task(work(turns, STRANGERS, events, end)) for _ in range(5)]
        await settle()
        assert events == ["a", STRANGERS]  # all of them have the turns of one project
        more = [asyncio.create_task(work(turns, "a", events, end)) for _ in range(2)]
        await settle()
        assert events == ["a", STRANGERS, "a", "a"]  # and a has all threads still
        end.set()
        await asyncio.gather(own, *flood, *more)

    assert len(play(scene)) == 8


def test_a_request_that_takes_long_keeps_the_others_of_its_project_waiting_no_longer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(fair_turns, "LONG_SECONDS", 0.0)

    async def scene(turns: FairTurns, events: list[str]) -> None:
        end = asyncio.Event()
        long = asyncio.create_task(work(turns, "a", events, end))
        await settle()
        await work(turns, "a", events)
        end.set()
        await long
        await work(turns, "a", events)

    assert play(scene, most=1) == ["a"] * 3
