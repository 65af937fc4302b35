"""The strip of the past: what it counts, where it stands, what it costs."""

import re
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest
from django.core.cache import cache
from django.test import Client
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from memory.actors import Actor
from memory.engines.activity.contributors import MAX_SPANS, list_ends, load_calendar
from memory.engines.branches.manager import BranchManager
from memory.engines.facts.engine import FactEngine
from memory.models import Branch

pytestmark = pytest.mark.django_db(transaction=True)
LAST = date(2026, 11, 20)


@pytest.fixture(autouse=True)
def nothing_kept(main: Branch) -> None:
    cache.clear()
    ago = timezone.now() - timedelta(days=10)
    Branch.objects.update(head_at=ago, created_at=ago)


def write(actor: Actor, days: int, branch: str = "main") -> None:
    who = actor.acting_at(timezone.now() - timedelta(days=days))
    FactEngine().write_fact(
        fact_text=f"Fact of {days} {branch} {timezone.now()}", actor=who, branch_name=branch
    )


def today() -> date:
    """Return the day; a run may begin before midnight and end after it."""
    return datetime.now(UTC).date()


def counted(branch: Branch) -> list[tuple[int, int]]:
    """Return how many days ago there were commits, and how many."""
    branch.refresh_from_db()
    return [((today() - span.until).days, span.commits) for span in load_calendar(branch) if span.commits]


def test_commits_by_day(actor: Actor, main: Branch) -> None:
    for days in (5, 5, 2, 0):
        write(actor, days)
    assert counted(main) == [(5, 2), (2, 1), (0, 1)]


def test_a_fork_shows_what_it_inherits(actor: Actor, main: Branch) -> None:
    write(actor, 6)
    write(actor, 4)
    fork = BranchManager().create_branch(name="task/x", actor=actor)
    write(actor, 3)
    write(actor, 1, "task/x")
    assert counted(fork) == [(6, 1), (4, 1), (0, 1)]


def test_an_empty_branch_has_a_strip_without_bars(actor: Actor, main: Branch, viewer: Client) -> None:
    assert counted(main) == []
    assert '<path class="bars" d=""' in viewer.get("/p/test/facts").content.decode()


@given(st.dates(date(1990, 1, 1), LAST))
def test_ten_years_fit_into_a_strip(first: date) -> None:
    ends = list_ends(first, LAST)
    assert 1 <= len(ends) <= MAX_SPANS
    assert ends[-1] == LAST
    steps = {(later - earlier).days for earlier, later in pairwise(ends)}
    assert len(steps) <= 1
    assert ends[0] - timedelta(days=max(steps, default=1)) < first


def test_pages_of_memory_have_it_and_others_not(actor: Actor, main: Branch, maintainer: Client) -> None:
    write(actor, 3)
    for path in ("", "facts", "activity", "conversations", "observations", "insights", "search"):
        page = maintainer.get(f"/p/test/{path}").content.decode()
        assert page.count('class="time-strip"') == 1, path
    for path in ("keys", "members", "audit", "merge-requests"):
        assert "time-strip" not in maintainer.get(f"/p/test/{path}").content.decode(), path


def test_it_stands_where_the_page_is_read(actor: Actor, main: Branch, viewer: Client) -> None:
    for days in (5, 2):
        write(actor, days)
    day = (today() - timedelta(days=4)).isoformat()
    page = viewer.get(f"/p/test/facts?at={day}").content.decode()
    assert handle(page) == (1, 5, f"{day}: 0 commits")
    assert handle(viewer.get("/p/test/facts").content.decode()) == (5, 5, "now")
    assert handle(viewer.get("/p/test/facts?at=1").content.decode())[0] == 0


def handle(page: str) -> tuple[int, int, str]:
    found = re.search(r'max="(\d+)"\s+value="(\d+)".*?aria-valuetext="([^"]*)"', page, re.S)
    assert found
    return int(found[2]), int(found[1]), found[3]


def test_it_is_counted_once(
    actor: Actor, main: Branch, viewer: Client, django_assert_max_num_queries: Any
) -> None:
    write(actor, 3)
    main.refresh_from_db()
    load_calendar(main)
    with django_assert_max_num_queries(0):
        load_calendar(main)
