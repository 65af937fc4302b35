"""Times of pages stand in the zone of the reader's browser; those of the API are in UTC."""

import re
from datetime import UTC, datetime
from typing import Any

import pytest
import time_machine
from django.test import Client

from memory.actors import Actor
from memory.engines.facts.engine import FactEngine
from memory.models import ApiKey, Branch, Fact, Project
from tests.memory.api.client import api_for
from tests.memory.views.conftest import Role, browser, person

pytestmark = pytest.mark.django_db(transaction=True)
NIGHT = datetime(2036, 7, 1, 20, 30, tzinfo=UTC)  # 5:30 of the next day in Tokyo


@pytest.fixture
def tokyo(project: Project) -> Client:
    client = browser(person("yuki", project, Role.MAINTAINER))
    client.cookies["day1_timezone"] = "Asia/Tokyo"
    return client


@pytest.fixture
def fact(actor: Actor, main: Branch) -> Fact:
    with time_machine.travel(NIGHT, tick=False):
        return (
            FactEngine()
            .write_fact(fact_text="The portcullis opens.", actor=actor, expires_at="2036-12-01T03:00:00Z")
            .fact
        )


def page(client: Client, address: str, **query: Any) -> str:
    answer = client.get(address, query)
    assert answer.status_code == 200
    return answer.content.decode()


def test_pages_say_the_hours_of_the_reader(tokyo: Client, project: Project, fact: Fact) -> None:
    html = page(tokyo, f"/p/{project.slug}/facts/{fact.uid}")
    assert 'title="2036-07-02 05:30:00 JST"' in html
    assert 'data-timezone="Asia/Tokyo"' in html
    assert "2036-12-01 12:00" in html
    assert "Wednesday, 2 July 2036" in page(tokyo, f"/p/{project.slug}/activity")
    assert 'class="day">2036-07-02' in page(tokyo, f"/p/{project.slug}/branches/main", tab="log")


@pytest.mark.parametrize("name", ["", "Mars/Base", "../../etc/passwd", "America", "x" * 5000, '"><script>'])
def test_a_zone_that_is_none_is_utc(tokyo: Client, project: Project, fact: Fact, name: str) -> None:
    tokyo.cookies["day1_timezone"] = name
    html = page(tokyo, f"/p/{project.slug}/facts/{fact.uid}")
    assert 'title="2036-07-01 20:30:00 UTC"' in html
    assert 'data-timezone="UTC"' in html


def test_the_zone_of_one_reader_is_not_that_of_the_next(tokyo: Client, project: Project, fact: Fact) -> None:
    page(tokyo, f"/p/{project.slug}/facts/{fact.uid}")
    other = browser(person("ada", project, Role.VIEWER))
    assert "20:30:00 UTC" in page(other, f"/p/{project.slug}/facts/{fact.uid}")


def test_the_api_stays_in_utc(tokyo: Client, project: Project, fact: Fact) -> None:
    api = api_for(project)
    api.client.cookies["day1_timezone"] = "Asia/Tokyo"
    assert api.get(f"/facts/{fact.uid}").json()["created_at"] == "2036-07-01T20:30:00.000000Z"


def test_a_form_takes_the_hours_that_it_shows(
    tokyo: Client, project: Project, fact: Fact, main: Branch
) -> None:
    address = f"/p/{project.slug}/facts/{fact.uid}/edit"
    html = page(tokyo, address)
    assert 'value="2036-12-01T12:00:00"' in html
    assert "Expires (Asia/Tokyo)" in html
    typed = dict(re.findall(r'name="([a-z_]+)" value="([^"]*)"', html))
    typed |= {name: getattr(fact, name) for name in ("fact_text", "kind", "priority", "visibility")}
    typed["expires_at"] = "2036-12-01T13:00:00"
    assert tokyo.post(address, typed).status_code == 302
    main.refresh_from_db()
    assert Fact.objects.on(main).get(uid=fact.uid).expires_at == datetime(2036, 12, 1, 4, tzinfo=UTC)


def test_a_key_ends_at_the_hour_that_was_typed(tokyo: Client, project: Project) -> None:
    typed = {"label": "night", "scopes": "read", "preset": "", "expires_at": "2027-01-01T09:00"}
    tokyo.post(f"/p/{project.slug}/keys", typed)
    assert ApiKey.objects.get(label="night").expires_at == datetime(2027, 1, 1, tzinfo=UTC)


def test_a_filter_is_filled_in_the_hours_of_the_reader(tokyo: Client, project: Project, fact: Fact) -> None:
    html = page(tokyo, f"/p/{project.slug}/facts", created_after="2036-07-01T20:00:00Z")
    assert 'value="2036-07-02T05:00:00.000"' in html
    assert "Stored from (Asia/Tokyo)" in html
    assert "Stored from: 2036-07-02 05:00." in html


def test_yesterday_ends_at_the_midnight_of_the_reader(tokyo: Client, project: Project) -> None:
    with time_machine.travel(datetime.now(UTC).replace(hour=20), tick=False):  # 5:00 of the next day
        html = page(tokyo, f"/p/{project.slug}/facts")
        today = datetime.now(UTC).date()
    assert f"at={today}T14%3A59%3A59Z" in html


@pytest.mark.parametrize("zone", ["Asia/Tokyo", "America/New_York", "UTC"])
@pytest.mark.parametrize("end", ["0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z"])
def test_the_ends_of_time_are_shown_in_any_zone(
    tokyo: Client, project: Project, actor: Actor, main: Branch, zone: str, end: str
) -> None:
    """No end in sight is often written as the last second of the year 9999, which is over in Tokyo."""
    tokyo.cookies["day1_timezone"] = zone
    fact = FactEngine().write_fact(fact_text="The moat is filled.", actor=actor, valid_until=end).fact
    edit = page(tokyo, f"/p/{project.slug}/facts/{fact.uid}/edit")
    assert f'name="valid_until" value="{end[:4]}-' in edit
    for address in ("/", "/facts", "/activity"):
        page(tokyo, f"/p/{project.slug}{address}", at=end)
    page(tokyo, f"/p/{project.slug}/facts", created_before=end)


def test_a_key_without_an_end_in_sight_is_listed(tokyo: Client, project: Project) -> None:
    tokyo.cookies["day1_timezone"] = "UTC"
    typed = {"label": "eternal", "scopes": "read", "preset": "", "expires_at": "9999-12-31T23:59:59"}
    tokyo.post(f"/p/{project.slug}/keys", typed)
    tokyo.cookies["day1_timezone"] = "Asia/Tokyo"
    assert "eternal" in page(tokyo, f"/p/{project.slug}/keys")
