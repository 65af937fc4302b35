"""Ageing over REST: the dry run, the run, its undo, the runs, the pressure, and refusals."""

from datetime import timedelta

import pytest
import time_machine
from django.utils import timezone

from memory.models import Project
from tests.memory.api.client import Api, nothing_left

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def aged(api: Api, project: Project) -> dict[str, str]:
    """Return the ids of facts by their texts; two days later two of them have aged."""
    soon = (timezone.now() + timedelta(days=1)).isoformat()
    Project.objects.filter(pk=project.pk).update(category_ttl_days={"error": 1})
    texts = {"ends": {"expires_at": soon}, "old": {"category": "error"}, "stays": {}}
    texts["pinned"] = {"expires_at": soon, "pinned": True}
    return {text: api.fact(text, **fields)["id"] for text, fields in texts.items()}


def test_a_dry_run_a_run_and_its_undo(api: Api, aged: dict[str, str]) -> None:
    with time_machine.travel(timezone.now() + timedelta(days=2), tick=False):
        with nothing_left():
            told = api.post("/ageing/preview", {"limit": 1}).json()
        assert (told["total"], told["count"], told["kept"]) == (4, 2, {"pinned": 1})
        assert told["counts"] == {"expired": 1, "time_to_live": 1, "stale": 0, "over_budget": 0}
        (first,) = told["results"]
        assert (first["fact"]["id"], first["reason"]) == (aged["ends"], "expired")
        assert first["since"] == first["fact"]["expires_at"]
        assert first["worth"]["priority"] == 0.15
        more = api.post("/ageing/preview", {"limit": 1, "cursor": told["next"]}).json()
        assert ([one["fact"]["id"] for one in more["results"]], more["next"]) == ([aged["old"]], None)

        narrowed = api.post("/ageing/preview", {"fact_ids": [aged["old"]], "exclude": [aged["ends"]]}).json()
        assert ([one["fact"]["id"] for one in narrowed["results"]], narrowed["count"]) == ([aged["old"]], 1)
        stale = api.post("/ageing/run", {"expected_versions": {aged["old"]: 7, aged["ends"]: 7}}).json()
        assert (stale["count"], stale["changed_meanwhile"]) == (0, 2)

        done = api.post("/ageing/run", {"exclude": [aged["old"]]}).json()
        assert (done["count"], done["remaining"], done["changed_meanwhile"]) == (1, 0, 0)
        assert api.get(f"/facts/{aged['ends']}").json()["status"] == "archived"
        assert api.get(f"/facts/{aged['old']}").json()["status"] == "active"
        run = done["commit"]["id"]
        assert api.get(f"/ageing/runs/{run}").json()["results"][0]["reason"] == "expired"
        assert api.post(f"/commits/{run}/revert").status_code == 201
        assert api.get(f"/facts/{aged['ends']}").json()["status"] == "active"
        (past,) = api.get("/ageing/runs").json()["results"]
        assert (past["id"], past["reasons"], past["undone"]) == (run, {"expired": 1}, True)
        assert api.post("/ageing/preview", {"reasons": ["expired"]}).json()["kept"]["restored"] == 1


def test_the_pressure_of_a_branch(api: Api, aged: dict[str, str], project: Project) -> None:
    before = api.get("/ageing/pressure").json()
    assert (before["facts"], before["budget"], before["share"], before["next"]) == (4, None, None, [])
    api.patch(f"/projects/{project.slug}", {"fact_budget": 5})
    pressure = api.get("/ageing/pressure?branch=main").json()
    assert (pressure["share"], pressure["counts"]["over_budget"]) == (0.8, 0)
    assert {one["fact"]["id"] for one in pressure["next"]} == set(aged.values()) - {aged["pinned"]}


def test_facts_are_pinned_many_at_once(api: Api, aged: dict[str, str]) -> None:
    ids = [aged["ends"], aged["pinned"]]
    done = api.post("/facts/actions", {"action": "pin", "fact_ids": ids}).json()
    assert [one["outcome"] for one in done["results"]] == ["done", "unchanged"]
    assert {one["id"] for one in api.get("/facts?pinned=true").json()["results"]} == set(ids)
    api.post("/facts/actions", {"action": "unpin", "fact_ids": ids})
    assert api.get("/facts?pinned=true").json()["results"] == []
    api.post(f"/commits/{done['commit']['id']}/revert")
