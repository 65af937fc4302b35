"""Quarantine over REST and on its pages."""

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from memory.actors import Actor
from memory.engines.branches.manager import BranchManager
from memory.engines.facts.engine import FactEngine
from memory.models import HiddenVersion, Project
from tests.memory.api.client import UNKNOWN, Api, nothing_left

LIST = "/p/test/quarantines"
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def eve(actor: Actor, main: object) -> None:
    who = actor.with_origin(agent_id="eve")
    FactEngine().write_fact(fact_text="The <b>portcullis</b> opens at noon.", actor=who)


def test_a_curator_previews_begins_and_releases(curator: Client, project: Project) -> None:
    asked = {"source": "agent", "target": "eve", "reason": "It made things up."}
    with nothing_left():
        page = curator.post(LIST, asked)
    html = page.content.decode()
    assert page.status_code == 200
    assert "&lt;b&gt;portcullis&lt;/b&gt;" in html
    assert "It made things up." in html
    assert not HiddenVersion.objects.exists()
    begun = curator.post(LIST, {**asked, "do": "begin"})
    assert "portcullis" not in curator.get("/p/test/facts").content.decode()
    assert "eve" in curator.get(LIST).content.decode()
    assert "in quarantine" in curator.get(begun["Location"]).content.decode()
    assert curator.post(begun["Location"]).status_code == 302
    assert "portcullis" in curator.get("/p/test/facts").content.decode()
    assert "eve" in curator.get(f"{LIST}?state=released").content.decode()


def test_reading_a_page_previews_nothing(curator: Client) -> None:
    asked = {"source": "agent", "target": "eve", "do": "begin"}
    with nothing_left(), CaptureQueriesContext(connection) as asked_for:
        page = curator.get(LIST, asked)
    assert page.status_code == 400  # a list has no such filters
    assert "portcullis" not in page.content.decode()
    sent = [one["sql"].replace("`", '"') for one in asked_for]
    assert not [sql for sql in sent if sql.startswith(('INSERT INTO "curation', 'UPDATE "mem'))]


def test_what_is_sent_twice_is_done_once(curator: Client) -> None:
    asked = {"source": "agent", "target": "eve", "reason": "Typed.", "do": "begin"}
    begun = curator.post(LIST, asked)["Location"]
    with nothing_left():
        again = curator.post(LIST, asked)
    assert again.status_code == 409
    assert "eve is in quarantine already." in again.content.decode()
    assert curator.post(begun).status_code == 302
    with nothing_left():
        assert curator.post(begun).status_code == 409


def test_a_form_that_is_refused_keeps_what_was_typed(curator: Client) -> None:
    for asked, status in (
        ({"source": "agent", "target": ""}, 400),
        ({"source": "moon", "target": "x"}, 400),
        ({"source": "key", "target": UNKNOWN}, 404),
        ({"source": "key", "target": UNKNOWN, "do": "begin"}, 404),
    ):
        with nothing_left():
            answer = curator.post(LIST, {**asked, "reason": "Typed."})
        assert answer.status_code == status
        assert "Typed." in answer.content.decode()


def test_no_page_of_a_plan_shows_text_of_it(api: Api, actor: Actor, curator: Client) -> None:
    eve = actor.with_origin(agent_id="eve")
    for name in ("task/a", "task/b"):
        BranchManager().create_branch(name=name, actor=actor)
    FactEngine().write_fact(fact_text="The drawbridge is down.", branch_name="task/a", actor=eve)
    FactEngine().write_fact(fact_text="The moat is dry.", branch_name="task/a", actor=actor)
    both = FactEngine().write_fact(fact_text="The tower leans.", actor=actor).fact
    BranchManager().create_branch(name="task/c", actor=actor)
    for branch, who in (("task/c", eve), ("main", actor)):
        text = f"The tower of {branch} drawbridge leans."
        FactEngine().update_fact(fact_id=both.uid, updates={"fact_text": text}, branch_name=branch, actor=who)
    numbers = [api.post("/merge-requests", {"source": f"task/{x}"}).json()["number"] for x in "ac"]
    assert api.post("/quarantine", {"source": "agent", "target": "eve"}).status_code == 201
    shown = ""
    for number in numbers:
        shown += api.get(f"/merge-requests/{number}/plan").content.decode()
        for tab in ("", "?tab=conflicts", "?tab=changes", "?tab=facts", f"/conflicts/fact/{both.uid}"):
            shown += curator.get(f"/p/test/merge-requests/{number}{tab}").content.decode()
    assert "The moat is dry." in shown
    assert "The drawbridge" not in shown
    assert "task/c drawbridge" not in shown
    assert "[in quarantine]" in shown
