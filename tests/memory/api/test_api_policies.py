"""/policies and /branches/NAME/policy over REST."""

import pytest

pytestmark = pytest.mark.django_db(transaction=True)
RULES = {
    "direct_writes": "refuse",
    "approvals": 2,
    "author_may_approve": False,
    "gates": ["conflicts", "secrets"],
    "accept_methods": ["human"],
}


def test_a_policy_is_made_changed_read_and_deleted(api):
    made = api.patch("/policies/task%2F*", RULES)
    assert made.status_code == 201
    row = made.json()
    assert {name: row[name] for name in RULES} == RULES
    assert (row["pattern"], row["updated_by"]) == ("task/*", "tester")
    changed = api.patch("/policies/task/*", {"approvals": 0})
    assert (changed.status_code, changed.json()["approvals"]) == (200, 0)
    assert changed.json()["gates"] == RULES["gates"]
    assert api.get("/policies/task/*").json() == changed.json()
    api.patch("/policies/main", {})
    assert [one["pattern"] for one in api.get("/policies").json()["results"]] == ["main", "task/*"]
    assert api.delete("/policies/task/*").status_code == 204
    assert [one["pattern"] for one in api.get("/policies").json()["results"]] == ["main"]


def test_the_policy_in_force_on_a_branch_names_the_entry_that_gave_it(api):
    api.post("/branches", {"name": "task/a"})
    default = api.get("/branches/task/a/policy").json()
    assert default == {
        "pattern": "",
        "direct_writes": "allow",
        "approvals": 0,
        "author_may_approve": True,
        "gates": ["conflicts", "secrets"],
        "accept_methods": ["human", "judge"],
    }
    api.patch("/policies/task/*", RULES)
    assert api.get("/branches/task%2Fa/policy").json() == {"pattern": "task/*", **RULES}
    assert "require_verified" in api.get("/branches/main/policy").json()["gates"]
