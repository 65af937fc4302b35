"""The demo: loaded once, removed without a trace. Its content: test_demo_holds."""

import io
import json
import sqlite3
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import time_machine
from django.contrib.auth import get_user_model
from django.db import connection
from django.utils import timezone

from curation.engines.review.review_queue import ReviewEngine
from day1site.demo import loader
from day1site.demo.player import Player
from day1site.demo.script import find_start, steps
from day1site.management.commands.up import announcement
from day1site.settings.paths import ROOT
from memory.actors import Actor, local_actor
from memory.db.sqlite.keyword_cache import forget_keyword_caches
from memory.db.sqlite.vector_caches import forget_vector_caches
from memory.engines.access.keys import KeyEngine
from memory.engines.facts.engine import FactEngine
from memory.engines.search.engine import SearchEngine
from memory.exceptions import Conflict
from memory.models import (
    Fact,
    Membership,
    Project,
)
from tests import databases
from tests.command_line import Day1
from tests.memory.test_projects import rows

# The project of each test has the same key, so that a copy of the store with the demo suits it.
pytestmark = pytest.mark.django_db(transaction=True, reset_sequences=True)


@pytest.fixture(scope="module")
def copies() -> Iterator[list[sqlite3.Connection]]:
    """Keep a copy of the store with the demo, which takes seconds to load."""
    kept: list[sqlite3.Connection] = []
    yield kept
    for copy in kept:
        copy.close()


@pytest.fixture
def demo(actor: Actor, copies: list[sqlite3.Connection]) -> Actor:
    """Load the demo, or copy the store with it; return the local user in it."""
    if copies:
        copies[0].backup(connection.connection)
        forget_keyword_caches()  # the store is an older one now
        forget_vector_caches()
    else:
        assert loader.load(actor)[1]
        if databases.ON_SQLITE:
            copies.append(sqlite3.connect(":memory:"))
            connection.connection.backup(copies[0])
    return local_actor(Project.objects.get(slug="demo").pk)


def everything() -> list[Fact]:
    return list(Fact.objects.all_versions())


def test_what_others_wrote_into_it_is_not_lost_in_passing(actor: Actor, demo: Actor) -> None:
    FactEngine().write_fact(fact_text="A note of my own.", actor=demo)
    KeyEngine().create_key(label="look", scopes=["read"], actor=demo)
    before = rows()
    with pytest.raises(Conflict, match=r"Others worked in the demo too \(1 × wrote a fact\);"):
        loader.remove(actor)
    assert rows() == before
    assert loader.remove(actor, force=True)["ApiKey"] == 9
    assert not Project.objects.filter(slug="demo").exists()


@pytest.mark.slow
def test_a_load_that_was_cut_off_is_begun_anew(actor: Actor) -> None:
    project = loader._begin(actor)
    player = Player(project.pk)
    for step in steps(find_start(timezone.now()), timezone.now())[:20]:
        player.play_step(step)
    half = rows()
    with pytest.raises(Conflict, match="being loaded at this moment"):
        loader.load(actor)
    assert rows() == half
    with time_machine.travel(timezone.now() + timedelta(minutes=1)):
        counts, new = loader.load(actor)
    assert (new, counts["Fact"]) == (True, len({fact.uid for fact in everything()}))
    assert Project.objects.filter(slug="demo").count() == 1
    assert loader.load(actor) == (counts, False)


def test_a_project_of_its_name_is_left_alone(actor: Actor) -> None:
    Project.objects.create(name="Ours", slug="demo")
    before = rows()
    for act in (loader.load, loader.remove):
        with pytest.raises(Conflict):
            act(actor)
    assert rows() == before


@pytest.mark.slow
def test_the_admins_are_its_members_and_its_removal_touches_nothing_else(
    day1: Day1, actor: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Check also what the command says."""
    admin = get_user_model().objects.create_superuser("boss")
    get_user_model().objects.create_user("guest")
    FactEngine().write_fact(fact_text="Payouts are mine.", actor=actor)
    own = len(everything())
    before = rows()
    status, out, _ = day1("demo")
    assert status == 0
    assert [(m.user, m.role) for m in Membership.objects.all()] == [(admin, "owner")]
    first, *_ = out.splitlines()
    counts = first.removeprefix("Loaded into the project demo: ").removesuffix(".")
    assert counts.startswith(f"{len({fact.uid for fact in everything()}) - own} facts, ")
    for told in (" conversations, ", " messages, ", " observations, ", " relations, "):
        assert told in counts
    assert day1("demo") == (0, f"The demo is here already: {counts}. Nothing was changed.\n", "")
    status, out, _ = day1("demo", "--format", "json")
    assert (json.loads(out)["project"], json.loads(out)["loaded"]) == ("demo", False)
    status, out, err = day1("demo", "--remove")
    assert (status, out) == (2, "")
    assert err.splitlines()[-1] == "day1: error: --yes is needed where nobody can be asked."
    assert day1("demo", "--yes")[0] == 2
    assert day1("demo", "--remove", "--yes") == (
        0,
        f"Removed: {counts}.\n",
        f"The project demo holds {counts}.\n",
    )
    trail = before["memory_serverentry"] + 3  # creation, removal and end of the project
    assert rows() == before | {"memory_serverentry": trail}
    hits = SearchEngine().search(query="payouts", actor=actor).hits
    assert [hit.fact.fact_text for hit in hits] == ["Payouts are mine."]
    assert day1("demo", "--remove", "--yes") == (1, "", "not_found: The demo is not in this store.\n")
    monkeypatch.setenv("DAY1_URL", "http://127.0.0.1:1")
    assert day1("demo")[2].startswith("local_only: ")


def test_what_others_did_is_told_in_words(day1: Day1, demo: Actor) -> None:
    for text in ("A note of my own.", "Another."):
        written = FactEngine().write_fact(fact_text=text, actor=demo)
    FactEngine().update_fact(fact_id=written.fact.uid, updates={"category": "mine"}, actor=demo)
    status, out, err = day1("demo", "--remove")
    assert (status, out) == (1, "")
    assert err.splitlines()[1:] == [
        "Done in it by others: 1 × corrected a fact, 2 × wrote a fact.",
        "conflict: Others worked in the demo too (1 × corrected a fact, 2 × wrote a fact);"
        " --force removes what came of it.",
    ]
    status, _out, err = day1("demo", "--remove", "--yes", "--force")
    assert (status, err.splitlines()[1:]) == (
        0,
        ["Done in it by others: 1 × corrected a fact, 2 × wrote a fact."],
    )


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_at_a_terminal_it_asks_before_it_removes(
    day1: Day1, demo: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = rows()
    for answer in ("n\n", "\n", "", "yes please\n"):
        monkeypatch.setattr("sys.stdin", Terminal(answer))
        status, out, err = day1("demo", "--remove")
        assert (status, out) == (1, "")
        assert err.splitlines()[1:] == [
            "Remove all of it, its history too? [y/N]",
            "conflict: Nothing was removed.",
        ]
    assert rows() == before
    monkeypatch.setattr("sys.stdin", Terminal("Y\n"))
    assert day1("demo", "--remove")[0] == 0
    assert not loader.is_present()


def test_the_start_of_the_server_tells_of_it(tmp_path: Path) -> None:
    start: dict[str, Any] = {"url": "http://127.0.0.1:1", "host": "127.0.0.1", "made": None}
    said = announcement(folder=tmp_path / "my data", demo=False, **start)
    assert f"  python3 manage.py day1 demo --data-dir '{tmp_path}/my data'\n" in said
    assert "  python3 manage.py day1 demo\n" in announcement(folder=ROOT / "data", demo=False, **start)
    assert "day1 demo" not in announcement(folder=tmp_path, demo=True, **start)


def test_every_text_of_the_story_is_shown_once_and_stays_in_it() -> None:
    """Check that dates are filled in, and that nothing happens outside of the half-year."""
    start = find_start(timezone.now())
    told = steps(start, timezone.now())
    assert told == sorted(told, key=lambda step: step.at)
    assert start <= told[0].at <= told[-1].at <= timezone.now()
    assert "{d" not in repr(told)


def test_a_queue_waits_although_nothing_was_embedded(demo: Actor) -> None:
    """Check also that later comparisons do not repeat these questions: see NearDuplicateEngine."""
    page = ReviewEngine().list_items(actor=demo, status="open", kind="near_duplicate", limit=100)
    assert len(page.results) == 27
    assert all(item.fact and item.other and item.fact.rid > item.other.rid for item in page.results)
    assert {item.branch.name for item in page.results} == {"main"}
    first = page.results[0]
    assert (first.score, first.fact.fact_text[:30]) == (0.998, "The authorisation rate of card")


def test_the_start_names_the_program_that_is_on_this_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    start: dict[str, Any] = {"url": "http://127.0.0.1:1", "host": "127.0.0.1", "made": None, "demo": True}
    assert "Connect an agent, then" in announcement(folder=tmp_path, **start)
    assert "day1 connect claude-code --url" in announcement(folder=tmp_path, **start)
    program = tmp_path / "gemini"
    program.write_text("")
    program.chmod(0o700)
    said = announcement(folder=tmp_path, **start)
    assert "Connect gemini, which is on this machine, then" in said
    assert "day1 connect gemini --url" in said
    assert "(or claude-code, cursor, codex, vscode, windsurf, opencode)" in said
