"""/templates over REST: make, find, begin, renew, compare, deprecate, and what is refused."""

from typing import Any

import pytest

from curation.models import TemplateUse
from tests.memory.api.client import Api, nothing_left, refused

pytestmark = pytest.mark.django_db(transaction=True)
SOURCE = "task/login"
TEMPLATE = {"name": "bug-fix", "source_branch": SOURCE, "task_types": ["bug_fix"], "description": "Clocks."}


@pytest.fixture
def template(api: Api) -> dict[str, Any]:
    assert api.post("/branches", {"name": SOURCE}).status_code == 201
    api.fact("The clock is two minutes ahead.", branch=SOURCE)
    answer = api.post("/templates", TEMPLATE)
    assert answer.status_code == 201, answer.content
    return answer.json()


def test_a_template_is_made_listed_and_read(api: Api, template: dict[str, Any]) -> None:
    assert (template["name"], template["branch"]) == ("bug-fix", "template/bug-fix/v1")
    assert (template["version"], template["used"], template["success_rate"]) == (1, 0, 0.5)
    assert api.get("/templates").json()["results"] == [template]
    assert api.get("/templates?task_type=BUG_FIX&state=active").json()["results"] == [template]
    assert api.get("/templates?task_type=release").json()["results"] == []
    answer = api.get("/templates/bug-fix")
    assert api.get("/templates/bug-fix", If_None_Match=answer["ETag"]).status_code == 304
    row = answer.json()
    (version,) = row.pop("versions")
    assert (row.pop("uses"), row) == ([], template)
    assert (version["source_branch"], version["source_seq"], version["fact_count"]) == (SOURCE, 1, 1)
    assert api.get("/branches/template/bug-fix/v1").json()["read_only"] is True


def test_work_begins_from_it(api: Api, template: dict[str, Any]) -> None:
    task = api.post("/tasks", {"name": "Mobile login", "task_type": "bug_fix"}).json()
    assert task["suggested_template"] == "bug-fix"
    (found,) = api.get("/templates/find?task_type=bug_fix").json()["results"]
    assert (found["template"]["name"], found["type_matches"]) == ("bug-fix", True)
    answer = api.post("/templates/bug-fix/instantiate", {"target_branch": "task/mobile-login/start"})
    assert (answer.status_code, answer.json()["outcome"]) == (201, "open")
    assert "ETag" not in answer  # its version is the template's
    facts = api.get("/facts?branch=task/mobile-login/start").json()["results"]
    assert [one["fact_text"] for one in facts] == ["The clock is two minutes ahead."]
    assert api.post("/tasks/mobile-login/complete", {"result": "Mended."}).status_code == 200
    assert api.get("/templates/bug-fix").json()["uses"][0]["outcome"] == "success"
    body = {"branch": "task/mobile-login/start", "outcome": "failure"}
    done = api.post("/templates/bug-fix/outcome", body)
    assert (done.json()["outcome"], "ETag" in done) == ("failure", False)


def test_versions_are_added_and_compared(api: Api, template: dict[str, Any]) -> None:
    api.fact("The battery is old.", branch=SOURCE)
    done = api.post("/templates/bug-fix/update", {"new_source": SOURCE, "description": "Batteries."})
    assert (done.status_code, done.json()["version"], done.json()["description"]) == (200, 2, "Batteries.")
    (change,) = api.get("/templates/bug-fix/diff?before=1").json()["results"]
    assert (change["change"], change["line"]) == ("added", "The battery is old.")
    done = api.post("/templates/bug-fix/deprecate", {"reason": "Old."})
    assert (done.json()["state"], done.json()["reason"]) == ("deprecated", "Old.")
    assert api.get("/templates/find?task_type=bug_fix").json() == {"results": []}


def test_a_request_that_is_sent_twice_is_done_once(api: Api, template: dict[str, Any]) -> None:
    body = {"target_branch": "task/a"}
    path = "/templates/bug-fix/instantiate"
    made = [api.post(path, body, Idempotency_Key="k") for _ in range(2)]
    assert ([one.status_code for one in made], TemplateUse.objects.count()) == ([201, 201], 1)
    assert made[0].json() == made[1].json()


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "code", "field"),
    [
        ("POST", "/bug-fix/instantiate", {"target_branch": "main"}, 409, "exists", None),
        ("GET", "/%E2%80%AE", None, 404, "not_found", None),
        ("GET", "/find", None, 400, "invalid", "task_type"),
        ("GET", "/bug-fix/diff", None, 400, "invalid", "before"),
        ("GET", "/bug-fix/diff?before=1&after=9", None, 404, "not_found", None),
    ],
)
def test_what_is_refused(
    api: Api, template: Any, method: str, path: str, body: Any, status: int, code: str, field: str | None
) -> None:
    with nothing_left():
        refused(api(method, f"/templates{path}", body), status, code, field)


def test_a_version_takes_no_writes(api: Api, template: dict[str, Any]) -> None:
    with nothing_left():
        body = {"fact_text": "New.", "branch": "template/bug-fix/v1"}
        refused(api.post("/facts", body), 409, "conflict")


def test_its_branches_are_made_and_kept_by_the_engine(api: Api, template: dict[str, Any]) -> None:
    with nothing_left():
        refused(api.delete("/branches/template/bug-fix/v1"), 400, "invalid", "name")
        for name in ("template/bug-fix/v2", "template/mine"):
            refused(api.post("/branches", {"name": name}), 400, "invalid", "name")
            answer = api.post("/templates/bug-fix/instantiate", {"target_branch": name})
            refused(answer, 400, "invalid", "name")
        into = {"source": "main", "target": "template/bug-fix/v1", "title": "t"}
        refused(api.post("/merge-requests", into), 409, "conflict")
        body = {"session_id": "s1", "branch": "template/bug-fix/v1"}
        refused(api.post("/sessions", body), 409, "conflict")
    assert api.post("/templates/bug-fix/update", {"new_source": "main"}).status_code == 200
    assert api.post("/branches", {"name": "templates/mine"}).status_code == 201
