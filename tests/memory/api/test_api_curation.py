"""Actions on many facts, review answers and reverts, over REST."""

import pytest

from curation.models import ReviewItem
from tests.memory.api.client import UNKNOWN, nothing_left, refused

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def facts(api):
    return [api.fact(text) for text in ("one", "two")]


@pytest.fixture
def item(main, facts):
    older, newer = facts
    return ReviewItem.objects.create(
        project=main.project,
        branch=main,
        kind="near_duplicate",
        fact_id=newer["id"],
        other_id=older["id"],
        pair="1",
        score=0.9,
        details={"versions": {older["id"]: 1, newer["id"]: 1}},
    )


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


def test_what_changed_since_is_told_when_undoing(api, facts):
    report = api.post("/facts/actions", {"action": "archive", "fact_ids": ids(facts)}).json()
    api.post(f"/facts/{facts[0]['id']}/restore")
    with nothing_left():
        problem = refused(api.post(f"/commits/{report['commit']['id']}/revert"), 409, "conflict")
    assert problem["data"] == {"count": 1, "changed": [facts[0]["id"]]}


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "action"),
        ({"action": "verify"}, "fact_ids"),
        ({"action": "verify", "fact_ids": "x"}, "fact_ids"),
        ({"action": "verify", "fact_ids": ["x"]}, "fact_ids[0]"),
        ({"action": "verify", "fact_ids": [UNKNOWN], "expected_versions": []}, "expected_versions"),
        ({"action": "verify", "fact_ids": [UNKNOWN], "expected_versions": {"x": 1}}, "expected_versions"),
    ],
)
def test_what_an_action_needs(api, main, body, field):
    with nothing_left():
        refused(api.post("/facts/actions", body), 400, "invalid", field)


def test_limits_and_unknown_words(api, main):
    with nothing_left():
        many = {"action": "verify", "fact_ids": [UNKNOWN[:-4] + f"{n:04d}" for n in range(1001)]}
        refused(api.post("/facts/actions", many), 413, "too_large", "fact_ids")
        body = {"action": "verify", "fact_ids": [UNKNOWN], "colour": "red"}
        refused(api.post("/facts/actions", body), 400, "unknown_field", "colour")


def test_a_repeated_action_is_answered_once(api, facts):
    body = {"action": "archive", "fact_ids": ids(facts)}
    first = api.post("/facts/actions", body, Idempotency_Key="k")
    again = api.post("/facts/actions", body, Idempotency_Key="k")
    assert (again.json(), again["Idempotency-Replayed"]) == (first.json(), "true")


def test_a_question_is_read_and_answered(api, facts, item):
    older, newer = facts
    read = api.get(f"/review-items/{item.pk}").json()
    assert (read["fact"]["fact_text"], read["other"]["fact_text"]) == ("two", "one")
    assert api.get(f"/review-items?fact_id={older['id']}").json()["results"] == [read]
    body = {"decision": "supersede", "keep": newer["id"], "expected_versions": {older["id"]: 1}}
    done = api.post(f"/review-items/{item.pk}/resolve", body).json()
    assert (done["status"], done["resolution"], done["other"]["status"]) == (
        "resolved",
        "supersede",
        "superseded",
    )
    with nothing_left():
        refused(api.post(f"/review-items/{item.pk}/resolve", {"decision": "dismiss"}), 409, "conflict")
    api.post(f"/commits/{done['commit']['id']}/revert")
    assert api.get(f"/review-items/{item.pk}").json()["status"] == "open"


def test_a_stale_answer_is_told_what_changed(api, facts, item):
    api.patch(f"/facts/{facts[0]['id']}", {"confidence": 0.9})
    with nothing_left():
        body = {"decision": "same", "keep": facts[1]["id"]}
        problem = refused(api.post(f"/review-items/{item.pk}/resolve", body), 412, "stale_version")
    assert problem["data"] == {"current": 2, "expected": 1, "changed": ["confidence"]}
