"""Snapshots and workspaces over REST."""

import pytest

from memory.answers import copies as copy_shapes
from memory.db.backend import get_features
from memory.models import AuditEntry
from tests.databases import ON_SQLITE
from tests.memory.api.client import Api, api_for, nothing_left, refused

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("copies_open")]


def texts(api: Api, **query: str) -> list[str]:
    asked = "&".join(f"{name}={value}" for name, value in query.items())
    return sorted(row["fact_text"] for row in api.get(f"/facts?{asked}").json()["results"])


def test_a_branch_goes_back(api: Api) -> None:
    api.fact("one")
    made = api.post("/snapshots", {"name": "p", "branch": "main", "description": "before"})
    assert made.status_code == 201
    row = made.json()
    assert (row["kind"], row["branch"], row["seq"]) == ("branch", "main", 1)
    assert list(row) == list(copy_shapes.SnapshotShape().get_fields())
    api.fact("two")
    assert texts(api, at=row["id"]) == ["one"]
    plan = api.post(f"/snapshots/{row['id']}/restore", {"dry_run": True}).json()
    assert (plan["dry_run"], plan["branches"][0]["counts"]) == (True, {"removed": {"fact": 1}})
    assert texts(api) == ["one", "two"]
    done = api.post(f"/snapshots/{row['id']}/restore", Idempotency_Key="k")
    again = api.post(f"/snapshots/{row['id']}/restore", Idempotency_Key="k")
    assert (again["Idempotency-Replayed"], again.json()) == ("true", done.json())
    assert texts(api) == ["one"]
    assert AuditEntry.objects.filter(action="snapshot.restore").values_list("surface", flat=True)[0] == "rest"
    assert api.get(f"/snapshots/{row['id']}").json() == row
    assert api.delete(f"/snapshots/{row['id']}").status_code == 204
    refused(api.get(f"/snapshots/{row['id']}"), 404, "not_found")


def test_the_store_goes_back(api: Api) -> None:
    row = api.post("/snapshots", {"name": "s", "kind": "store"}).json()
    assert (row["branch"], row["seq"]) == (None, None)
    assert (len(row["sha256"]), row["size"] > 0) == ((64, True) if ON_SQLITE else (0, False))
    api.fact("two")
    api.post("/branches", {"name": "task/x"})
    done = api.post(f"/snapshots/{row['id']}/restore").json()
    assert [(one["name"], one["archive"]) for one in done["branches"]] == [("main", False), ("task/x", True)]
    assert (texts(api), done["mended"]) == ([], {})
    listed = api.get("/snapshots?kind=store&limit=1").json()
    assert ([one["id"] for one in listed["results"]], listed["next"]) == ([row["id"]], None)


def test_a_workspace(api: Api) -> None:
    row = api.post("/workspaces", {"name": "w"}, Idempotency_Key="once").json()
    assert api.post("/workspaces", {"name": "w"}, Idempotency_Key="once").json() == row
    assert list(row) == list(copy_shapes.WorkspaceShape().get_fields())
    assert not row["place"].startswith("/")
    path = f"/workspaces/{row['id']}"
    assert api.get(path).json() == row
    diff = api.get(f"{path}/diff").json()
    assert (diff["branches"], diff["tables"], diff["moved"]) == ([], {}, [])
    done = api.post(f"{path}/promote").json()
    assert done["workspace"]["state"] == "promoted"
    refused(api.post(f"{path}/promote"), 409, "conflict")
    assert api.post(f"{path}/drop").json()["state"] == "promoted"
    assert [one["id"] for one in api.get("/workspaces?state=promoted").json()["results"]] == [row["id"]]


def test_what_is_refused(api: Api, project) -> None:
    space = api.post("/workspaces", {"name": "w"}).json()["id"]
    writer, bound = api_for(project, scopes=["write"]), api_for(project, branch_patterns=["task/*"])
    of_store = {"name": "q", "kind": "store"}
    with nothing_left():
        refused(api.post("/snapshots", {**of_store, "branch": "main"}), 400, "unknown_field", "branch")
        refused(api.post("/snapshots/window", {"days": 101}), 400, "invalid", "days")
        if not get_features().has_time_window:
            refused(api.post("/snapshots/window", {"days": 1}), 409, "conflict")
        assert api.get("/snapshots/window").json() == {"days": 0}
        refused(writer.post("/snapshots", of_store), 403, "scope_missing")
        refused(bound.post("/snapshots", of_store), 403, "branch_forbidden")
        refused(bound.get(f"/workspaces/{space}"), 403, "branch_forbidden")
