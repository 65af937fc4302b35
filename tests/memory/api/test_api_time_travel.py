"""GET /time-travel: any branch at any time, without restoring it."""

from datetime import timedelta

import pytest
from django.utils import timezone

from memory.api.routes import find_view
from memory.api.time_travel import KINDS, READERS
from memory.models import Commit, Project
from tests.memory.api.client import Api, api_for, nothing_left, refused

pytestmark = pytest.mark.django_db(transaction=True)


def texts(api: Api, query: str, field: str = "fact_text") -> list[str]:
    answer = api.get(f"/time-travel?{query}")
    assert answer.status_code == 200, answer.content
    return [row[field] for row in answer.json()["results"]]


def test_a_point_is_a_number_a_time_a_commit_or_a_snapshot(api: Api) -> None:
    api.fact("one")
    api.fact("two")
    snapshot = api.post("/snapshots", {"name": "two facts"}).json()
    row = api.fact("three")
    api.delete(f"/facts/{row['id']}")
    first, second, third = Commit.objects.order_by("seq")[:3]
    with nothing_left():
        assert texts(api, "at=1") == ["one"]
        assert texts(api, f"at={second.pk}") == ["two", "one"]
        assert texts(api, f"at={snapshot['id']}") == ["two", "one"]
        moment = third.at.isoformat().replace("+00:00", "Z")
        assert texts(api, f"at={moment}") == ["three", "two", "one"]
        assert texts(api, "at=4&status=archived") == []
        answer = api.get("/time-travel?at=2").json()
    assert (answer["branch"], answer["seq"], answer["type"]) == ("main", 2, "fact")
    assert (answer["commit"]["id"], answer["commit"]["title"]) == (str(second.pk), "Added 1 fact")
    assert api.get("/time-travel?at=0").json()["commit"] is None
    assert first.seq == 1


def test_every_kind_is_read_with_its_own_filters_and_in_pages(api: Api) -> None:
    for n in range(3):
        api.fact(f"fact {n}", category="decision" if n else "general")
    api.post("/relations", {"source_entity": "api", "relation_type": "uses", "target_entity": "redis"})
    api.post("/observations", {"summary": "seen", "observation_type": "insight"})
    talk = api.post("/conversations", {"title": "A talk"}).json()
    api.post(f"/conversations/{talk['id']}/messages", {"role": "user", "content": "Hello."})
    api.fact("later")
    assert texts(api, "at=3&category=decision") == ["fact 2", "fact 1"]
    assert texts(api, "at=7&type=relation&source=api", "target_entity") == ["redis"]
    assert texts(api, "at=7&type=relation&source=none", "target_entity") == []
    assert texts(api, "at=7&type=observation&observation_type=insight", "summary") == ["seen"]
    assert texts(api, "at=7&type=conversation", "title") == ["A talk"]
    assert texts(api, f"at=7&type=message&conversation_id={talk['id']}&role=user", "content") == ["Hello."]
    first = api.get("/time-travel?at=3&limit=2").json()
    assert [row["fact_text"] for row in first["results"]] == ["fact 2", "fact 1"]
    assert texts(api, f"at=3&limit=2&cursor={first['next']}") == ["fact 0"]


def test_every_kind_that_can_be_read_is_in_the_document() -> None:
    find_view("time-travel")
    assert READERS.keys() == set(KINDS)


def test_wrong_points_are_refused(api: Api, project: Project, stranger: Api) -> None:
    api.fact("one")
    api.post("/branches", {"name": "task/a"})
    own = api.fact("own", branch="task/a")
    commit = Commit.objects.get(branch__name="task/a")
    began = project.branches.get(name="main").created_at
    past, future = (
        (moment + timedelta(days=days)).isoformat().replace("+00:00", "Z")
        for moment, days in ((began, -1), (timezone.now(), 1))
    )
    with nothing_left():
        refused(api.get("/time-travel"), 400, "invalid", "at")
        problem = refused(api.get(f"/time-travel?at={past}"), 400, "invalid", "at")
        assert problem["detail"].endswith("there is nothing before.")
        refused(api.get(f"/time-travel?at={future}"), 400, "invalid", "at")
        refused(api.get("/time-travel?at=2"), 400, "invalid", "at")
        refused(api.get("/time-travel?at=yesterday"), 400, "invalid", "at")
        problem = refused(api.get(f"/time-travel?at={commit.pk}"), 404, "not_found")
        assert "on main" in problem["detail"]
        refused(api.get(f"/time-travel?at={own['id']}"), 404, "not_found")
        refused(api.get("/time-travel?at=1&type=secret"), 400, "invalid", "type")
        refused(api.get("/time-travel?at=1&source=api"), 400, "unknown_field", "source")
        refused(api.get("/time-travel?at=1&type=message"), 400, "invalid", "conversation_id")
        refused(api.get("/time-travel?at=1&branch=task/none"), 404, "not_found")
        refused(stranger.get(f"/time-travel?at={commit.pk}"), 404, "not_found")
    elsewhere = api_for(project, branch_patterns=["task/*"])
    refused(elsewhere.get("/time-travel?at=1"), 403, "branch_forbidden")
    assert elsewhere.get("/time-travel?at=1&branch=task/a").status_code == 200
