"""Turns of projects: a project alone has all threads, beside another one few of its requests are at work."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from day1site import fair_turns
from day1site.fair_turns import FairTurns, name_project


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


def test_requests_are_of_the_project_of_their_key_or_page() -> None:
    key = (b"authorization", b"Bearer day1_unknown0_" + b"x" * 49)
    assert name_project([key], "/api/v1/facts") == "unknown0"
    assert name_project([(b"cookie", b"sessionid=x")], "/p/demo/facts") == "demo"
    assert name_project([], "/login") == ""


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
