"""Erasures over REST and on the command line."""

import json

import pytest

from memory.models import Erasure, IdempotencyRecord
from memory.models.base import ERASED_MARK
from tests.memory.api.client import UNKNOWN, Api, api_for, nothing_left, refused
from tests.memory.erasure.helpers import WORD, tables_with

pytestmark = pytest.mark.django_db(transaction=True)


class TestRest:
    def test_a_dry_run_then_the_erasure(self, api: Api) -> None:
        fact = api.fact(f"The code is {WORD}")
        body = {"scope": "fact", "target": fact["id"]}
        with nothing_left():
            plan = api.post("/erasures", body).json()
        assert (plan["dry_run"], plan["confirm"], plan["counts"], plan["copies"], plan["left"]) == (
            True,
            "test",
            {"fact": 1},
            [],
            [],
        )
        example = {"kind": "fact", "id": fact["id"], "line": f"The code is {WORD}", "why": ""}
        assert plan["examples"] == [example]
        made = api.post("/erasures", {**body, "confirm": "test"}, Idempotency_Key="once")
        assert made.status_code == 201
        row = made.json()
        assert (row["scope"], row["target"], row["state"]) == ("fact", fact["id"], "done")
        assert api.get(f"/facts/{fact['id']}").json()["fact_text"] == ERASED_MARK
        assert [v["fact_text"] for v in api.get(f"/facts/{fact['id']}/history").json()["results"]] == [
            ERASED_MARK
        ]
        checked = api.get(f"/erasures/{row['id']}").json()
        assert checked == {**row, "holds": True, "versions_left": 0}
        assert api.get("/erasures").json()["results"] == [row]
        assert api.get("/erasures?state=pending").json()["results"] == []
        assert not IdempotencyRecord.objects.exists()
        assert tables_with(WORD) == set()
        assert api.get(f"/facts/search?q={WORD}").json()["results"] == []

    def test_a_dry_run_with_the_name_erases_nothing(self, api: Api) -> None:
        fact = api.fact("Keep me")
        body = {"scope": "fact", "target": fact["id"], "confirm": "test", "dry_run": True}
        with nothing_left():
            assert api.post("/erasures", body).json()["dry_run"] is True
            for confirm in ("x", ""):  # whoever sends a name means to erase
                named = {"scope": "fact", "target": fact["id"], "confirm": confirm}
                refused(api.post("/erasures", named), 400, "invalid", "confirm")
                refused(api.post("/erasures", {**named, "dry_run": False}), 400, "invalid", "confirm")
            without = {"scope": "fact", "target": fact["id"], "dry_run": False}
            refused(api.post("/erasures", without), 400, "invalid", "confirm")
        assert api.get(f"/facts/{fact['id']}").json()["fact_text"] == "Keep me"

    def test_refusals(self, api: Api, project, other_project) -> None:
        fact = api.fact("Keep me")
        body = {"scope": "fact", "target": fact["id"], "dry_run": False, "confirm": "test"}
        weak, other = api_for(project, scopes=["merge"]), api_for(other_project)
        with nothing_left():
            refused(weak.post("/erasures", body), 403, "scope_missing")
            refused(weak.get("/erasures"), 403, "scope_missing")
            refused(other.post("/erasures", body), 404, "not_found")
            refused(api.post("/erasures", {**body, "confirm": "x"}), 400, "invalid", "confirm")
            refused(api.post("/erasures", {**body, "scope": "x"}), 400, "invalid", "scope")
            refused(api.post("/erasures", {"scope": "fact"}), 400, "invalid", "target")
            refused(api.post("/erasures", {**body, "why": "x"}), 400, "unknown_field", "why")
            refused(api.get(f"/erasures/{UNKNOWN}"), 404, "not_found")
        done = api.post("/erasures", body).json()
        refused(api.post("/erasures", body), 409, "conflict")
        refused(other.get(f"/erasures/{done['id']}"), 404, "not_found")
        change = {"fact_text": "Back"}
        refused(api.patch(f"/facts/{fact['id']}", change), 409, "conflict")
        assert api.get(f"/facts/{fact['id']}").json()["fact_text"] == ERASED_MARK


class TestCommandLine:
    def test_a_preview_by_default_then_the_name_typed(self, day1, api: Api) -> None:
        fact = api.fact(f"The code is {WORD}")
        status, out, err = day1("erase", "match", WORD)
        assert (status, out.splitlines()[:2]) == (0, ["kind\tnumber", "fact\t1"])
        assert err.endswith("Nothing was erased. To erase it for good: --confirm test\n")
        assert not Erasure.objects.exists()
        status, _, err = day1("erase", "match", WORD, "--confirm", "other")
        assert (status, "nothing was erased" in err) == (1, True)
        assert api.get(f"/facts/{fact['id']}").json()["fact_text"] == f"The code is {WORD}"
        status, out, err = day1("erase", "match", WORD, "--confirm", "test")
        erasure = Erasure.objects.get()
        assert (status, out) == (0, f"{erasure.pk}\tdone\t1 fact\n")
        assert err == f"Proof: {erasure.proof}\n"
        status, out, _ = day1("erasures")
        assert (status, out.splitlines()[1].split("\t")[:3]) == (0, [str(erasure.pk), "match", "done"])
        status, out, _ = day1("--format", "json", "erasures", "show", str(erasure.pk))
        assert (status, json.loads(out)["holds"]) == (0, True)
        assert day1("erase", "match", WORD, "--confirm", "test")[0] == 1

    def test_a_wrong_command_line(self, day1) -> None:
        assert day1("erase", "branch", "main")[0] == 2
        assert day1("erase", "fact")[0] == 2
