"""Branches over REST."""

import pytest

from memory.models import Branch
from tests.memory.api.client import Api, nothing_left, refused

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_branch_starts_with_what_its_parent_holds(api: Api) -> None:
    row = api.fact("a")
    answer = api.post("/branches", {"name": "task/fix-auth", "purpose": "Try longer tokens."})
    branch = answer.json()
    assert answer.status_code == 201
    told = {
        name: branch[name]
        for name in ("name", "parent", "fork_seq", "depth", "head", "purpose", "archived_at")
    }
    assert told == {
        "name": "task/fix-auth",
        "parent": "main",
        "fork_seq": 1,
        "depth": 1,
        "head": 0,
        "purpose": "Try longer tokens.",
        "archived_at": None,
    }
    assert api.get(f"/facts/{row['id']}?branch=task/fix-auth").json()["branch"] == "task/fix-auth"
    assert api.get("/branches/main").json()["parent"] is None


@pytest.mark.parametrize(
    "path", ["/branches/task/x/agent-1", "/branches/task%2Fx%2Fagent-1", "/branches/task%2Fx/agent-1/"]
)
def test_a_name_with_slashes_is_read_encoded_or_plain(api: Api, path: str) -> None:
    api.post("/branches", {"name": "task/x/agent-1"})
    api.fact("a", branch="task/x/agent-1")
    assert api.get(path).json()["name"] == "task/x/agent-1"
    assert [c["kind"] for c in api.get(f"{path.rstrip('/')}/log").json()["results"]] == ["fact.write"]
    assert api.delete(path).json()["archived_at"]
    assert api.post(f"{path.rstrip('/')}/restore").json()["archived_at"] is None


def test_the_log_names_who_did_what(api: Api) -> None:
    api.fact("a", session_id="s1", agent_id="bot", task_id="t1")
    (commit,) = api.get("/branches/main/log").json()["results"]
    assert {
        "seq": 1,
        "kind": "fact.write",
        "actor_kind": "key",
        "actor_label": "tester",
        "surface": "rest",
        "session_id": "s1",
        "agent_id": "bot",
        "task_id": "t1",
        "added": 1,
        "changed": 0,
        "removed": 0,
    }.items() <= commit.items()


def test_details_are_given_and_changed(api: Api) -> None:
    row = api.post("/branches", {"name": "task/a", "owner": "Ada", "ttl_days": 7, "tags": ["auth"]}).json()
    assert (row["owner"], row["ttl_days"], row["tags"], row["purpose"]) == ("Ada", 7, ["auth"], "")
    changed = api.post("/branches/task/a/enrich", {"purpose": "try", "ttl_days": None}).json()
    assert (changed["owner"], changed["ttl_days"], changed["purpose"]) == ("Ada", None, "try")
    assert api.patch("/branches/task%2Fa/enrich", {"owner": "Bo"}).json()["owner"] == "Bo"
    with nothing_left():
        refused(api.post("/branches/task/a/enrich", {"ttl_days": 0}), 400, "invalid", "ttl_days")
        refused(api.patch("/branches/task/a/enrich", {"name": "x"}), 400, "unknown_field", "name")
        refused(api.post("/branches/task/none/enrich", {"owner": "x"}), 404, "not_found")
        refused(api.post("/branches", {"name": "task/b", "head": 3}), 400, "unknown_field", "head")


def test_the_tree_tells_how_far_each_branch_is(api: Api) -> None:
    api.fact("on main")
    api.post("/branches", {"name": "task/a", "ttl_days": 1})
    api.fact("one", branch="task/a", agent_id="ada")
    api.fact("later on main")
    tree = api.get("/branches/topology").json()
    assert [(row["name"], row["level"], row["ahead"], row["behind"]) for row in tree["results"]] == [
        ("main", 0, 2, 0),
        ("task/a", 1, 1, 1),
    ]
    one = tree["results"][1]
    assert (one["facts"], one["agents"], one["state"], one["parent"]) == (1, 1, "live", "main")
    assert (tree["counts"], tree["matching"], tree["next"]) == (
        {"live": 2, "expired": 0, "merged": 0, "archived": 0},
        2,
        None,
    )
    found = api.get("/branches/topology?state=expired,archived&name=task").json()
    assert (found["results"], found["matching"]) == ([], 0)
    row = api.get("/branches/task/a").json()
    assert (row["ahead"], row["behind"]) == (1, 1)
    refused(api.get("/branches/topology?state=dead"), 400, "invalid", "state")
    refused(api.get("/branches/topology?limit=501"), 400, "invalid", "limit")


def test_what_is_done_with_is_told_first_and_archived_on_request(api: Api) -> None:
    api.post("/branches", {"name": "task/a", "ttl_days": 1})
    api.post("/branches", {"name": "task/b", "ttl_days": 1})
    api.post("/branches", {"name": "task/b/x", "parent": "task/b"})
    Branch.objects.filter(name__startswith="task/").update(head_at="2026-01-01T00:00:00Z")
    (one, other) = api.get("/branches/expired").json()["results"]
    assert (one["name"], one["state"], one["since"], one["kept"]) == (
        "task/a",
        "expired",
        "2026-01-02T00:00:00.000000Z",
        "",
    )
    assert (other["kept"], other["reason"]) == ("children", "1 branch that was made from it is in use.")
    with nothing_left():
        plan = api.post("/branches/auto-archive").json()
    assert (plan["dry_run"], plan["count"], plan["more"]) == (True, 1, False)
    done = api.post("/branches/auto-archive", {"dry_run": False}).json()
    assert [(row["name"], row["archived"]) for row in done["results"]] == [
        ("task/a", True),
        ("task/b", False),
    ]
    assert api.get("/branches/task/a").json()["archived_at"]
    refused(api.post("/branches/auto-archive", {"dry_run": "no"}), 400, "invalid", "dry_run")
