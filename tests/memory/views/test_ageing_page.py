"""The page of ageing: rows with their reasons, accept and exclude, pins, undo and settings."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.contrib.auth import get_user_model
from django.test import Client
from django.utils import timezone

from memory.actors import Actor
from memory.engines.facts.engine import FactEngine
from memory.models import Branch, Commit, Fact, Project
from tests.memory.api.client import nothing_left
from tests.memory.views.test_branch_pages import text

pytestmark = pytest.mark.django_db(transaction=True)
PAGE = "/p/test/ageing"


@pytest.fixture
def write(actor: Actor, main: Branch) -> Callable[..., str]:
    """Write a fact; return what its tick sends. It has ended when its text begins with old."""

    def write(said: str, **fields: Any) -> str:
        fields |= {"expires_at": "2026-01-01T00:00:00Z"} if said.startswith("old") else {}
        fact = FactEngine().write_fact(fact_text=said, actor=actor, **fields).fact
        return f"{fact.uid}:{fact.version}"

    return write


def show(client: Client, address: str = PAGE) -> str:
    answer = client.get(address)
    assert answer.status_code == 200
    return text(answer.content.decode())


def find_archived(main: Branch) -> set[str]:
    main.refresh_from_db()
    return {fact.fact_text for fact in Fact.objects.on(main).filter(status="archived").fetch_all()}


def test_each_row_says_why_and_what_it_is_worth(
    viewer: Client, curator: Client, write: Callable[..., str], project: Project
) -> None:
    assert "Nothing to archive" in show(viewer)
    write("old one")
    write("old and pinned", pinned=True)
    write("an error", category="error", priority="P4")
    Project.objects.update(category_ttl_days={"error": 30}, stale_after_days=90, fact_budget=10)
    with time_machine.travel(timezone.now() + timedelta(days=31), tick=False):
        for client, name in ((curator, "cora"), (viewer, "vera")):  # their sessions are over
            client.force_login(get_user_model().objects.get(username=name))
        shown = show(curator)
        assert "3 of 10 facts in use." in shown
        assert "Left alone: 1 pinned" in shown
        assert "Expired 1 Past its days 1 Stale 0 Over the budget 0" in shown
        assert "older than the 30 days of error" in shown
        assert "worth 0.46: priority 0.08 + confidence 0.14 + belief 0.10 + recency 0.15" in shown
        assert "Archive these" in shown
        assert "old one" not in show(curator, f"{PAGE}?reason=time_to_live")
        assert "Nothing has aged for this reason." in show(curator, f"{PAGE}?reason=stale")
        seen = show(viewer)
        assert "old one" in seen
        assert "Archive these" not in seen


def test_ticked_rows_are_archived_and_brought_back(
    curator: Client, write: Callable[..., str], main: Branch
) -> None:
    one, two = write("old one"), write("old two")
    stale = [f"{ticked.split(':')[0]}:7" for ticked in (one, two)]
    for do in ("chosen", "all"):
        answer = curator.post(PAGE, {"do": do, "fact": stale, "shown": stale}, follow=True)
        said = text(answer.content.decode())
        assert "0 facts are archived. 2 changed since they were shown, and are left." in said
    assert find_archived(main) == set()
    answer = curator.post(PAGE, {"do": "chosen", "fact": [one], "shown": [one, two]}, follow=True)
    assert "1 fact is archived." in text(answer.content.decode())
    assert find_archived(main) == {"old one"}
    commit = Commit.objects.get(kind="fact.age")
    assert f"/p/test/undo/{commit.pk}" in answer.content.decode()
    assert "Expired: 1" in show(curator)
    fact = one.partition(":")[0]
    assert "Archived by ageing Expired" in show(curator, f"/p/test/facts/{fact}")
    curator.post(f"/p/test/undo/{commit.pk}")
    assert find_archived(main) == set()
    assert "undone" in show(curator)


def test_all_go_but_those_whose_tick_was_taken_away(
    curator: Client, write: Callable[..., str], main: Branch
) -> None:
    one, two = write("old one"), write("old two")
    write("old three")
    curator.post(PAGE, {"do": "all", "fact": [one], "shown": [one, two]})
    assert find_archived(main) == {"old one", "old three"}


def test_a_pin_leaves_a_fact_alone(curator: Client, write: Callable[..., str], main: Branch) -> None:
    one = write("old one")
    assert f'name="do" value="pin:{one}"' in curator.get(PAGE).content.decode()
    answer = curator.post(PAGE, {"do": f"pin:{one}"}, follow=True)
    assert "Pinned: ageing leaves it alone." in text(answer.content.decode())
    assert "Left alone: 1 pinned" in show(curator)
    fact = one.partition(":")[0]
    page = curator.get(f"/p/test/facts/{fact}").content.decode()
    assert 'value="unpin"' in page
    curator.post(f"/p/test/facts/{fact}/act", {"action": "unpin", "version": "2"})
    curator.post("/p/test/facts", {"one": f"pin:{fact}:3"})
    assert "pinned" in show(curator, "/p/test/facts")
    assert Fact.objects.on(Branch.objects.get(pk=main.pk)).get(uid=fact).pinned
    stale = curator.post(PAGE, {"do": f"pin:{one}"}, follow=True)
    assert "read it again" in text(stale.content.decode())


def test_maintainers_change_the_settings(
    maintainer: Client, curator: Client, project: Project, main: Branch
) -> None:
    typed = {"do": "settings", "age_facts": "on", "stale_after_days": "90", "fact_budget": ""}
    with nothing_left():
        assert curator.post(PAGE, {**typed, "category_ttl_days": ""}).status_code == 403
        for lines in ("error", "error: many", "error: 0"):
            answer = maintainer.post(PAGE, {**typed, "category_ttl_days": lines})
            assert (answer.status_code, lines in answer.content.decode()) == (400, True)
        answer = maintainer.post(PAGE, {**typed, "stale_after_days": "0", "category_ttl_days": ""})
        assert "Stale after days must be a whole number from 1 to" in answer.content.decode()
    maintainer.post(PAGE, {**typed, "category_ttl_days": "error: 30\n\nbug_fix: 365\n"})
    project.refresh_from_db()
    assert (project.age_facts, project.stale_after_days, project.fact_budget) == (True, 90, None)
    assert project.category_ttl_days == {"error": 30, "bug_fix": 365}
    assert "error: 30" in maintainer.get(PAGE).content.decode()
    assert "Settings of the project" not in show(curator)
