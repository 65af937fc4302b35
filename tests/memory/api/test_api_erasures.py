"""Erasures over REST and on the command line."""

import pytest

from memory.models import IdempotencyRecord
from memory.models.base import ERASED_MARK
from tests.memory.api.client import Api, nothing_left, refused
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
