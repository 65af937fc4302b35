"""Sessions, observations and relations over REST."""

import pytest

from memory.operations.inputs import ARGUMENTS
from tests.memory.api.client import Api, nothing_left, refused

pytestmark = pytest.mark.django_db(transaction=True)


class TestObservations:
    def test_recorded_read_and_listed(self, api: Api) -> None:
        call = {"tool_name": "Bash", "raw_input": {"command": "make"}, "session_id": "s1"}
        failed = api.post("/observations", {**call, "raw_output": {"exit_code": 2, "stderr": "no rule"}})
        fixed = api.post("/observations", {**call, "raw_output": "done"}).json()
        assert failed.status_code == 201
        assert failed.json()["outcome"] == "error"
        assert (fixed["observation_type"], fixed["parent_id"]) == ("discovery", failed.json()["id"])
        assert api.get(f"/observations/{fixed['id']}").json() == fixed
        listed = api.get("/observations?outcome=error&tool_name=Bash").json()["results"]
        assert [row["id"] for row in listed] == [failed.json()["id"]]
        timeline = api.get(f"/observations/timeline?after={fixed['created_at']}").json()["results"]
        assert [row["id"] for row in timeline] == [fixed["id"]]

    @pytest.mark.parametrize(("role", "stored"), [("tool_result", ""), ("assistant", "Exit code 2")])
    def test_an_output_that_a_message_holds_is_stored_once(self, api: Api, role: str, stored: str) -> None:
        talk = api.post("/conversations", {"session_id": "s1"}).json()["id"]
        message = api.post(
            f"/conversations/{talk}/messages", {"role": role, "content": "Exit code 2\nno rule"}
        )
        call = {"tool_name": "Bash", "raw_input": "make", "raw_output": "Exit code 2", "session_id": "s1"}
        row = api.post("/observations", {**call, "message_id": message.json()["id"]}).json()
        assert (row["raw_output"], row["outcome"]) == (stored, "error")
        assert row["summary"] == "Executed command: make. Result: Exit code 2"


class TestRelations:
    def test_stated_walked_and_closed(self, api: Api) -> None:
        edge = {"source_entity": "API", "relation_type": "uses", "target_entity": "Redis"}
        first, again = (
            api.post("/relations", edge),
            api.post("/relations", {**edge, "target_entity": "redis"}),
        )
        assert (first.status_code, again.status_code) == (201, 200)
        assert (again.json()["strength"], again.json()["created"]) == (2, False)
        graph = api.get("/relations/graph?entity=redis&depth=1").json()
        assert graph["nodes"] == [{"entity": "Redis", "distance": 0}, {"entity": "API", "distance": 1}]
        uid = first.json()["id"]
        closed = api.post(f"/relations/{uid}/close").json()
        assert closed["valid_until"]
        assert api.get("/relations/graph?entity=redis").json()["edges"] == []
        assert api.get(f"/relations/{uid}").json()["version"] == 3
        assert api.get("/relations?open_only=true").json()["results"] == []
        assert [r["id"] for r in api.get("/relations?source=api").json()["results"]] == [uid]
        refused(api.post(f"/relations/{uid}/close"), 409, "illegal_transition")

    def test_type_is_understood_for_relation_type(self, api: Api) -> None:
        edge = {"source_entity": "API", "type": "uses", "target_entity": "Redis"}
        made = api.post("/relations", edge).json()
        assert made["relation_type"] == "uses"
        for kind, ids in (("uses", [made["id"]]), ("owns", [])):
            assert [row["id"] for row in api.get(f"/relations?type={kind}").json()["results"]] == ids
            graph = api.get(f"/relations/graph?entity=api&type={kind}").json()
            assert [row["id"] for row in graph["edges"]] == ids
        refused(api.post("/relations", {**edge, "relation_type": "owns"}), 400, "invalid", "relation_type")
        assert len(api.get("/relations").json()["results"]) == 1

    @pytest.mark.parametrize(
        ("query", "code", "field"),
        [
            ("", "invalid", "entity"),
            ("entity=a&depth=50", "invalid", "depth"),
            ("entity=a&depth=0", "invalid", "depth"),
            ("entity=a&colour=red", "unknown_field", "colour"),
        ],
    )
    def test_walks_that_are_refused(self, api: Api, query, code, field) -> None:
        refused(api.get(f"/relations/graph?{query}"), 400, code, field)


class TestSessions:
    def test_begun_seen_and_ended(self, api: Api) -> None:
        body = {"session_id": "run/1", "project_path": "/repo", "agent_id": "claude"}
        first, again = api.post("/sessions", body), api.post("/sessions", {**body, "project_path": "/x"})
        assert (first.status_code, again.status_code) == (201, 200)
        assert again.json()["project_path"] == "/repo"
        api.fact("Redis holds sessions", session_id="run/1")
        context = api.get("/sessions/run/1/context?fact_limit=5").json()
        assert [fact["fact_text"] for fact in context["facts"]] == ["Redis holds sessions"]
        assert context["observations_summary"] == {"total": 0, "by_type": {}, "tools_used": {}}
        ended = api.post("/sessions/run/1/end", {"summary": "All done."}).json()
        assert (ended["status"], ended["summary"]) == ("completed", "All done.")
        assert api.get("/sessions/run%2F1").json()["ended_at"] == ended["ended_at"]
        assert [row["id"] for row in api.get("/sessions?status=completed").json()["results"]] == ["run/1"]

    def test_a_context_with_a_conversation(self, api: Api) -> None:
        talk = api.post("/conversations", {"session_id": "s", "title": "T"}).json()["id"]
        api.post(f"/conversations/{talk}/messages", {"role": "user", "content": "hi", "thinking": "x"})
        (shown,) = api.get("/sessions/s/context").json()["conversations"]
        assert shown["id"] == talk
        assert [(m["role"], m["content"]) for m in shown["messages"]] == [("user", "hi")]
        assert "thinking" not in shown["messages"][0]


ROWS = {
    "/facts": {"fact_text": "x"},
    "/observations": {"summary": "x", "observation_type": "insight"},
    "/relations": {"source_entity": "a", "relation_type": "b", "target_entity": "c"},
    "/conversations": {"title": "x"},
}


@pytest.mark.parametrize("path", ROWS)
def test_arguments_of_the_engines_are_no_fields(api: Api, path: str) -> None:
    for name in sorted(ARGUMENTS - {"branch_name"}):  # the path has the branch
        with nothing_left():
            refused(api.post(path, {**ROWS[path], name: "x"}), 400, "unknown_field", name)
    assert api.post(path, ROWS[path]).status_code == 201
