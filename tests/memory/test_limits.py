"""Limits of projects and keys: what is used is told, and what is past one is refused."""

from concurrent.futures import ThreadPoolExecutor

import pytest
import time_machine
from django.core.management import call_command
from django.db import connection
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conversations.models import Message
from memory.actors import Actor
from memory.engines.access.projects import ProjectEngine
from memory.engines.facts.engine import FactEngine
from memory.exceptions import LimitReached
from memory.limits import LIMITS, NAMED, OF_KEY, OF_PROJECT
from memory.models import Commit, Consumption, Project
from memory.models.usage import forget_known, get_usage
from memory.request_context import LimitNote, RequestContext, render_limits
from tests.memory.api.client import api_for, refused, state
from tests.memory.views.conftest import browser, person
from tests.site.hook_events import event

pytestmark = pytest.mark.django_db(transaction=True)


def allow(project: Project, actor: Actor, **limits: int) -> None:
    ProjectEngine().update_project(actor=actor, project_slug=project.slug, limits=limits)


def test_writes_of_a_day_are_counted_and_refused_as_a_whole(project: Project, actor: Actor) -> None:
    allow(project, actor, daily_writes=3)
    api = api_for(project)
    with time_machine.travel("2027-05-01T22:00:00Z", tick=False) as clock:
        assert api.post("/facts", {"fact_text": "One."}).status_code == 201
        before, bulk = state(), {"facts": [{"fact_text": f"{n}."} for n in range(3)]}
        answer = api.post("/facts/bulk", bulk)
        problem = refused(answer, 429, "rate_limited")
        assert problem["data"] == {
            "what": "project",
            "limit_name": "daily_writes",
            "used": 1,
            "limit": 3,
            "count": 3,
            "unit": "versions",
            "window": "day",
            "resets_at": "2027-05-02T00:00Z",
            "retry_after": 7201,
        }
        assert answer["Retry-After"] == "7201"
        assert "has written 1 of 3 versions of this day, and this needs 3 more" in problem["detail"]
        assert state() == before
        assert api.post("/facts/bulk", {"facts": bulk["facts"][:2]}).status_code == 201
        refused(api.post("/facts", {"fact_text": "More."}), 429, "rate_limited")
        assert api.get("/facts").status_code == 200
        clock.shift(7200)
        assert api.post("/facts", {"fact_text": "More."}).status_code == 201


def test_events_past_the_writes_of_a_day_come_the_next_day(project: Project, actor: Actor) -> None:
    """A session that starts is told what memory knows all the same; a list is stored whole or not at all."""
    FactEngine().write_fact(fact_text="Deploys run at noon.", actor=actor)
    api, path = api_for(project), "/ingest/hook?client=claude-code"
    start = {"hook_event_name": "SessionStart", "session_id": "s", "cwd": "/w", "source": "startup"}
    events = [event("UserPromptSubmit", f"s{n}", prompt=f"Say {n}.", prompt_id=f"p{n}") for n in range(3)]
    with time_machine.travel("2027-05-01T22:00:00Z", tick=False) as clock:
        allow(project, actor, daily_writes=4)
        before = state()
        refused(api.post(path, events), 429, "rate_limited")
        assert state() == before
        assert [api.post(path, one).status_code for one in events] == [200, 200, 429]
        told = refused(api.post(path, start), 429, "rate_limited")["answer"]["hookSpecificOutput"]
        assert "Deploys run at noon." in told["additionalContext"]
        clock.shift(7200)
        assert api.post(path, events).status_code == 200
    said = [row.content for row in Message.objects.all_versions().order_by("uid")]
    assert sorted(said) == ["Say 0.", "Say 1.", "Say 2."]


@pytest.mark.parametrize(("most", "status"), [(0, 201), (1, 429), (2, 429), (3, 201)])
def test_a_limit_of_none_and_one_below_what_is_used(
    project: Project, actor: Actor, most: int, status: int
) -> None:
    """0 is no limit; what is written already stays, and counts."""
    allow(project, actor, daily_writes=9)
    api = api_for(project)
    for number in range(2):
        assert api.post("/facts", {"fact_text": f"{number}."}).status_code == 201
    allow(project, actor, daily_writes=most)
    assert api.post("/facts", {"fact_text": "More."}).status_code == status
    row = next(row for row in api.get("/limits").json()["results"] if row["name"] == "daily_writes")
    assert row["remaining"] == {0: None, 1: 0, 2: 0, 3: 0}[most]


def test_a_key_has_writes_of_a_day_of_its_own(project: Project) -> None:
    api, other = api_for(project, max_daily_writes=1), api_for(project)
    assert api.post("/facts", {"fact_text": "One."}).status_code == 201
    problem = refused(api.post("/facts", {"fact_text": "Two."}), 429, "rate_limited")
    assert (problem["data"]["limit_name"], problem["data"]["what"]) == ("key_daily_writes", "key")
    assert other.post("/facts", {"fact_text": "Two."}).status_code == 201


def test_all_keys_of_a_project_share_its_requests(project: Project, actor: Actor) -> None:
    allow(project, actor, requests=3)
    first, second = api_for(project), api_for(project)
    with time_machine.travel("2027-05-01T12:00:50Z", tick=False):
        answers = [one.get("/branches").status_code for one in (first, second, first)]
        problem = refused(second.get("/branches"), 429, "rate_limited")
    assert answers == [200, 200, 200]
    data = problem["data"]
    assert (data["limit_name"], data["used"], data["limit"]) == ("requests", 3, 3)
    assert problem["detail"].startswith("Too many requests: 3 of 3 of this project in a minute; try again in")


@pytest.mark.parametrize("name", ["branches", "bundles"])
def test_no_more_are_made_than_a_project_may_have(project: Project, actor: Actor, name: str) -> None:
    FactEngine().write_fact(fact_text="One.", actor=actor)
    allow(project, actor, **{name: 2})
    api, many = api_for(project), 1 if name == "branches" else 2  # there is main
    for number in range(many):
        assert api.post(f"/{name}", {"name": f"own{number}"}).status_code == 201
    problem = refused(api.post(f"/{name}", {"name": "more"}), 403, "quota_exceeded")
    assert problem["data"] == {"part": name, "used": 2, "limit": 2, "unit": name}


def test_each_limit_is_listed_with_what_is_used(project: Project, actor: Actor) -> None:
    allow(project, actor, branches=5, model_tokens=1000)
    rows = {row["name"]: row for row in api_for(project, max_daily_writes=7).get("/limits").json()["results"]}
    assert list(rows) == list(LIMITS)
    assert [rows[one.name]["unit"] for one in OF_PROJECT] == [one.unit for one in OF_PROJECT]
    branches = rows["branches"]
    assert (branches["used"], branches["limit"], branches["remaining"]) == (1, 5, 4)
    assert (rows["model_tokens"]["used"], rows["model_tokens"]["limit"]) == (0, 1000)
    assert (rows["daily_writes"]["used"], rows["daily_writes"]["limit"]) == (None, None)
    assert (rows["key_daily_writes"]["used"], rows["key_daily_writes"]["limit"]) == (0, 7)
    assert {rows[one.name]["owner"] for one in OF_KEY} == {"key"}


def test_nothing_is_limited_that_nobody_set(project: Project) -> None:
    assert get_usage(project.pk).limits == dict.fromkeys(NAMED, 0)
    api_for(project).post("/facts", {"fact_text": "One."})
    assert Consumption.objects.count() == 0


def test_who_keeps_the_server_gives_a_project_its_own_limits(project: Project, actor: Actor) -> None:
    call_command("quota", project.slug, "branches=4,rows=1000")
    allow(project, actor, branches=9, bundles=3)
    assert (get_usage(project.pk).limits["branches"], get_usage(project.pk).limits["bundles"]) == (4, 3)
    assert get_usage(project.pk).quota.rows == 1000
    call_command("quota", project.slug, "default")
    forget_known()
    assert get_usage(project.pk).limits["branches"] == 9


def test_a_maintainer_sees_and_sets_limits_on_a_page(project: Project, actor: Actor) -> None:
    page = f"/p/{project.slug}/limits"
    maintainer = browser(person("may", project, "maintainer"))
    viewer = browser(person("vic", project))
    shown = viewer.get(page).content.decode()
    assert "Tokens of models" in shown
    assert "Settings of the project" not in shown
    assert viewer.post(page, {"limits": "branches: 2"}).status_code == 403
    refusal = maintainer.post(page, {"limits": "branch: 2"})
    assert "there is no limit" in refusal.content.decode()
    maintainer.post(page, {"limits": "branches: 2\nmodel_tokens: 5000"})
    assert Project.objects.get(pk=project.pk).limits == {"branches": 2, "model_tokens": 5000}


@pytest.mark.nightly
@settings(max_examples=4, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(most=st.integers(1, 12), writers=st.integers(2, 5), each=st.integers(1, 5))
def test_writers_at_once_never_write_more_than_the_day_allows(
    project: Project, actor: Actor, most: int, writers: int, each: int
) -> None:
    Consumption.objects.all().delete()
    allow(project, actor, daily_writes=most)
    before = Commit.objects.filter(kind="fact.write").count()

    def write(number: int) -> int:
        try:
            FactEngine().write_fact(fact_text=f"{before} {number} is new.", actor=actor, deduplicate=False)
            return 1
        except LimitReached:
            return 0
        finally:
            connection.close()

    with ThreadPoolExecutor(writers) as pool:
        done = sum(pool.map(write, range(writers * each)))
    assert done == min(most, writers * each)
    assert Commit.objects.filter(kind="fact.write").count() - before == done
    assert Consumption.objects.get(period__contains="-").writes == done


def test_a_header_tells_no_number_that_it_cannot_have() -> None:
    """Whole numbers of structured fields have at most 15 digits (RFC 9651)."""
    limit = LIMITS["key_daily_writes"]
    request = RequestContext("id", limits={limit.name: LimitNote(limit, 2**53, 2**53 - 1, 60)})
    assert [value.decode() for _, value in render_limits(request)] == [
        '"key_daily_writes";q=999999999999999;w=86400;qu="versions"',
        '"key_daily_writes";r=999999999999999;t=60',
    ]
