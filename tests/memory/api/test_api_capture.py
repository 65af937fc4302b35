"""Sessions, observations and relations over REST."""

import pytest

from memory.operations.inputs import ARGUMENTS
from tests.memory.api.client import Api, nothing_left, refused

pytestmark = pytest.mark.django_db(transaction=True)


class TestObservations:
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
