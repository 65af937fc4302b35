"""The feed of a project and its page: bursts, filters, pages, the past, who may see what."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from memory.actors import Actor
from memory.engines.branches.feed import Burst, FeedEngine, FeedFilter
from memory.engines.branches.manager import BranchManager
from memory.engines.facts.engine import FactEngine
from memory.engines.sessions.observations import ObservationEngine
from memory.exceptions import Invalid
from memory.models import Branch, Fact
from tests.curation.test_queue_pages import text
from tests.memory.views.conftest import browser, curator, person, viewer

__all__ = ["browser", "curator", "person", "viewer"]
pytestmark = pytest.mark.django_db(transaction=True)
facts, feed = FactEngine(), FeedEngine()
PATH = "/p/test/activity"


@pytest.fixture(autouse=True)
def long_ago(main: Branch) -> None:
    """Have the branch written to last a day ago, so that acts can be dated back."""
    Branch.objects.update(head_at=timezone.now() - timedelta(days=1))


def write(words: str, actor: Actor, minutes: int, agent: str = "ada", branch: str = "main") -> Fact:
    """Write a fact so many minutes ago."""
    who = actor.acting_at(timezone.now() - timedelta(minutes=minutes))
    who = who.with_origin(agent_id=agent, session_id=f"s-{agent}" if agent else "")
    return facts.write_fact(fact_text=words, actor=who, branch_name=branch).fact


def observe(actor: Actor, minutes: int, agent: str = "ada") -> None:
    who = actor.acting_at(timezone.now() - timedelta(minutes=minutes))
    who = who.with_origin(agent_id=agent, session_id=f"s-{agent}")
    call = {"tool_name": "Bash", "raw_input": "make", "raw_output": "done"}
    ObservationEngine().write_observations(observations=[call], actor=who)


def told(actor: Actor, **options: Any) -> list[tuple[str, str, int]]:
    page = feed.list_bursts(actor=actor, **options)
    return [(one.newest.agent_id, one.title, len(one.commits)) for one in page.results]


def test_what_one_agent_does_without_a_break_is_one_line(actor: Actor, main: Branch) -> None:
    write("Long before.", actor, 90)
    write("One.", actor, 40)
    observe(actor, 35)
    write("Of another.", actor, 34, "eve")
    observe(actor, 30)
    page = feed.list_bursts(actor=actor)
    assert [(one.newest.agent_id, one.title, len(one.commits)) for one in page.results] == [
        ("ada", "Added 1 fact, recorded 2 observations", 3),
        ("eve", "Added 1 fact", 1),
        ("ada", "Added 1 fact", 1),
    ]
    assert [[fact.essence for fact in one.learned] for one in page.results] == [
        ["One."],
        ["Of another."],
        ["Long before."],
    ]


def test_filters_by_agent_session_action_and_time(actor: Actor, main: Branch) -> None:
    write("One.", actor, 90)
    write("Two.", actor, 40, "eve")
    observe(actor, 5)
    when = timezone.now() - timedelta(minutes=60)
    assert [agent for agent, _t, _n in told(actor, filters=FeedFilter(agent_id="eve"))] == ["eve"]
    assert len(told(actor, filters=FeedFilter(session_id="s-ada"))) == 2
    assert len(told(actor, filters=FeedFilter(kind="observation.write"))) == 1
    assert len(told(actor, filters=FeedFilter(after=when))) == 2
    assert len(told(actor, filters=FeedFilter(before=when))) == 1
    assert len(told(actor, until=when)) == 1
    with pytest.raises(Invalid):
        FeedFilter.from_values({"after": "moon"})


def test_pages_hold_each_burst_once(actor: Actor, main: Branch) -> None:
    for n in range(7):
        write(f"Fact {n}.", actor, 600 - 60 * n, f"agent-{n}")
    seen: list[Burst] = []
    cursor: str | None = ""
    while cursor is not None:
        page = feed.list_bursts(actor=actor, limit=3, cursor=cursor)
        seen += page.results
        cursor = page.next
    assert [one.newest.agent_id for one in seen] == [f"agent-{n}" for n in reversed(range(7))]
    other = feed.list_bursts(actor=actor, limit=3).next
    with pytest.raises(Invalid):
        feed.list_bursts(actor=actor, filters=FeedFilter(agent_id="x"), cursor=other or "")


def test_branches_stand_together_or_alone(actor: Actor, main: Branch) -> None:
    BranchManager().create_branch(name="task/x", actor=actor)
    write("On main.", actor, 9)
    write("On the task.", actor, 8, branch="task/x")
    assert len(told(actor)) == 2
    assert len(told(actor, branch_name="task/x")) == 1
    bound = Actor(actor.project_id, "key", label="k", scopes=frozenset({"read"}), branch_patterns=("main",))
    assert len(told(bound)) == 1


def test_a_page_takes_as_many_queries_for_many_branches(
    actor: Actor, main: Branch, django_assert_max_num_queries: Any
) -> None:
    for n in range(12):
        BranchManager().create_branch(name=f"task/{n}", actor=actor)
        write(f"Fact {n}.", actor, 5, branch=f"task/{n}")
    with django_assert_max_num_queries(16):
        assert len(told(actor)) == 12


def test_the_page_by_day_with_tokens_and_what_was_learned(viewer: Client, actor: Actor, main: Branch) -> None:
    assert "No activity yet" in text(viewer.get(PATH))
    fact = write("Idle <b>fact</b>.", actor, 3)
    observe(actor, 2)
    write("Of another.", actor, 1, "eve <i>")
    page = viewer.get(PATH)
    html = page.content.decode()
    assert "Added 1 fact, recorded 1 observation" in text(page)
    assert re.search(r"2 commits\s+· \d\d:\d\d–\d\d:\d\d", text(page))
    assert f"/facts/{fact.uid}" in html
    assert "<b>fact</b>" not in html
    assert "eve <i>" not in html
    typed = viewer.get(PATH, {"q": "agent:ada"})
    assert (typed.status_code, typed["Location"]) == (302, f"{PATH}?agent_id=ada")
    assert "Of another." not in text(viewer.get(typed["Location"]))
    assert "not searched" in text(viewer.get(PATH, {"q": "words"}))
    assert "no filter moon" in text(viewer.get(f"{PATH}?moon=1"))
    assert "Show all activity" in text(viewer.get(f"{PATH}?agent_id=nobody"))


def test_the_page_in_the_past_and_on_a_branch(viewer: Client, actor: Actor, main: Branch) -> None:
    write("One.", actor, 30)
    main.refresh_from_db()
    point = main.head
    write("Two.", actor, 1)
    assert "Two." in text(viewer.get(PATH))
    past = text(viewer.get(f"{PATH}?at={point}"))
    assert ("One." in past, "Two." in past) == (True, False)
    BranchManager().create_branch(name="task/x", actor=actor)
    on_branch = viewer.get(f"{PATH}?branch=task/x")
    assert "On task/x." in text(on_branch)
    assert "One." not in text(on_branch)
    assert re.search(r"All branches", text(on_branch))
