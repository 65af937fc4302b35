"""Branches over REST."""

import pytest

from tests.memory.api.client import Api

pytestmark = pytest.mark.django_db(transaction=True)


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
