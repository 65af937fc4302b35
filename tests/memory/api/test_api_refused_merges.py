"""What is refused around merges over REST, each with what to do about it, and nothing changed."""

from typing import Any

import pytest

from memory.actors import local_actor
from memory.engines.facts.engine import FactEngine
from memory.models import Project
from tests.memory.api.client import Api, api_for, nothing_left, refused
from tests.memory.api.test_api_merges import TASK, done, verified

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def learned(api: Api) -> dict[str, Any]:
    api.post("/branches", {"name": TASK})
    return verified(api, api.fact("Tokens live for an hour.", branch=TASK), TASK)


@pytest.mark.parametrize("action", ["approve", "merge", "decisions"])
def test_a_branch_that_was_archived_meanwhile(project: Project, api: Api, learned: Any, action: str) -> None:
    done(api.post("/merge-requests", {"source": TASK}), 201)
    done(api.delete(f"/branches/{TASK}"))
    reviewer = api_for(project, label="reviewer", scopes=["merge"])
    body = {"choice": "source"} if action == "decisions" else {}
    with nothing_left():
        refusal = refused(reviewer.post(f"/merge-requests/1/{action}", body), 409, "branch_archived")
    assert refusal["data"] == {"name": TASK}


def test_the_revert_of_what_later_commits_built_on(project: Project, api: Api, learned: Any) -> None:
    done(api.post("/merge-requests", {"source": TASK}), 201)
    merged = done(api.post("/merge-requests/1/merge"))
    api.patch(f"/facts/{learned['id']}", {"fact_text": "Tokens live for two hours."})
    for path in ("/merge-requests/1/revert", f"/commits/{merged['commit']['id']}/revert"):
        with nothing_left():
            refusal = refused(api.post(path), 409, "conflict")
        assert refusal["data"] == {"count": 1, "changed": [learned["id"]]}


def test_a_restore_to_before_a_branch_was_there(api: Api) -> None:
    api.fact("Known before the branch was forked.")
    api.post("/branches", {"name": TASK})
    body = {"name": "before", "branch": TASK, "at": "2020-01-01T00:00:00Z"}
    with nothing_left():
        refusal = refused(api.post("/snapshots", body), 400, "invalid", "at")
    assert refusal["detail"] == f"{TASK} was not there yet: it was forked from main later. Name main instead."


def test_an_erasure_of_what_another_project_holds(api: Api, other_project: Project) -> None:
    text = "Held by another project alone."
    held = FactEngine().write_fact(fact_text=text, session_id="theirs", actor=local_actor(other_project.pk))
    targets = {"fact": str(held.fact.uid), "match": text, "session": "theirs"}
    for scope, target in targets.items():
        for confirm in ({}, {"confirm": "other"}):
            with nothing_left():
                refused(
                    api.post("/erasures", {"scope": scope, "target": target, **confirm}), 404, "not_found"
                )
    held.fact.refresh_from_db()
    assert held.fact.fact_text == text
