"""/templates over REST: make, find, begin, renew, compare, deprecate, and what is refused."""

from typing import Any

import pytest

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
