"""Actions on many facts, review answers and reverts, over REST."""

import pytest

from tests.memory.api.client import UNKNOWN

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def facts(api):
    return [api.fact(text) for text in ("one", "two")]


def ids(facts):
    return [fact["id"] for fact in facts]


def test_an_action_has_a_result_for_each_fact_and_is_undone_by_its_commit(api, facts):
    answer = api.post("/facts/actions", {"action": "archive", "fact_ids": [*ids(facts), UNKNOWN]})
    assert answer.status_code == 200
    report = answer.json()
    assert report["results"] == [
        {"id": facts[0]["id"], "outcome": "done", "code": "", "message": "Archived."},
        {"id": facts[1]["id"], "outcome": "done", "code": "", "message": "Archived."},
        {
            "id": UNKNOWN,
            "outcome": "refused",
            "code": "not_found",
            "message": "Nothing with this id is visible here.",
        },
    ]
    assert (report["commit"]["kind"], report["new_fact_id"]) == ("fact.archive", None)
    assert api.get(f"/facts/{facts[0]['id']}").json()["status"] == "archived"
    undone = api.post(f"/commits/{report['commit']['id']}/revert")
    assert (undone.status_code, undone.json()["kind"]) == (201, "commit.revert")
    assert api.get(f"/facts/{facts[0]['id']}").json()["status"] == "active"
    commit = api.get(f"/commits/{undone.json()['id']}").json()
    assert {name: commit[name] for name in undone.json()} == undone.json()
    assert (commit["title"], commit["counts"]) == ("Undid commit 3", {"fact": 2})
