"""A sample session fills Learned and Told through the capture of programs, and is taken away again."""

from dataclasses import replace
from typing import Any

import pytest
from django.test import Client

from conversations.capture.sample import REPOSITORY, SampleEngine
from memory.actors import Actor
from memory.engines.facts.engine import FactEngine
from memory.exceptions import Conflict, ScopeMissing
from memory.models import Commit, Membership, Project, Session
from tests.conversations.test_home_leads import play, read_card, read_tellings
from tests.memory.api.client import Api
from tests.memory.views.conftest import browser, person
from tests.site.hook_events import CONSOLIDATOR

pytestmark = pytest.mark.django_db(transaction=True)
LEARNED = [
    "The gateway listens on port 8443 now, no longer 9443.",
    "Never cache prices in the browser.",
    "The gateway listens on port 9443.",
    "We decided: invoices are rendered with WeasyPrint.",
]


@pytest.fixture
def curator(project: Project, settings: Any) -> Client:
    settings.DAY1 = {**settings.DAY1, "consolidator": CONSOLIDATOR}
    return browser(person("cora", project, Membership.Role.CURATOR))


def list_texts(actor: Actor) -> list[str]:
    return [fact.fact_text for fact in FactEngine().list_facts(actor=actor).results]


def press(client: Client, do: str = "play") -> str:
    answer = client.post("/p/test/sample", {"do": do}, follow=True)
    assert answer.redirect_chain == [("/p/test/", 302)]
    return " ".join(answer.content.decode().split())


@pytest.mark.slow
def test_one_press_shows_it_and_one_takes_it_away(api: Api, actor: Actor, curator: Client) -> None:
    assert "Play a sample session" in read_card(curator, "learned")
    assert "A sample was played" in press(curator)
    assert sorted(list_texts(actor)) == sorted(LEARNED)
    tellings = read_tellings(actor)
    assert [key.rpartition("-")[2] for key, _ in tellings] == ["3", "2"]
    assert all(text in read_card(curator, "learned") for text in LEARNED)
    assert "was: The gateway listens on port 9443; later: The gateway" in read_card(curator, "told")
    assert "A sample session is here already." in press(curator)
    assert play(api, "SessionStart", "real", source="startup") == []  # another repository is not told of it
    assert "4 facts of the sample are taken away." in press(curator, "remove")
    assert (list_texts(actor), read_tellings(actor)) == ([], [])
    assert Commit.objects.filter(kind="fact.delete").count() == 4  # the history keeps them
    assert "A sample was played" in press(curator)
    assert Session.objects.filter(project_path=REPOSITORY).count() == 6


@pytest.mark.slow
def test_it_takes_away_nothing_else(api: Api, actor: Actor, curator: Client) -> None:
    press(curator)
    FactEngine().write_fact(fact_text="Real.", actor=actor.with_origin(session_id="sample-of-mine"))
    press(curator, "remove")
    assert list_texts(actor) == ["Real."]
    assert "Play a sample session" not in read_card(curator, "learned")


def test_who_may_not_curate_and_a_server_that_learns_nothing(
    actor: Actor, project: Project, settings: Any
) -> None:
    viewer = browser(person("vera", project))
    assert "sample" not in read_card(viewer, "learned")
    assert viewer.post("/p/test/sample").status_code == 403
    with pytest.raises(ScopeMissing):
        SampleEngine().play(actor=replace(actor, scopes=frozenset({"write"})), branch_name="main")
    settings.DAY1 = {**settings.DAY1, "consolidator": ""}
    with pytest.raises(Conflict):
        SampleEngine().play(actor=actor, branch_name="main")
    assert not Session.objects.exists()
