"""Facts over REST: values round-trip, and reach the right branch."""

import json
import re

import pytest

from memory.models import Commit
from tests.memory.api.client import UNKNOWN, Api, nothing_left, refused

pytestmark = pytest.mark.django_db(transaction=True)
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")

EVERYTHING = {
    "fact_text": "Access tokens expire after 15 minutes.\nRefresh tokens after 30 days.",
    "essence": "Tokens: 15 minutes, 30 days.",
    "category": "security",
    "kind": "BELIEF",
    "priority": "P1",
    "confidence": 0.9,
    "source_type": "observation",
    "source_id": "msg-7",
    "source": "code review",
    "origin": "SEEDED_LLM",
    "visibility": "private",
    "created_cycle": 3,
    "updated_cycle": 4,
    "valid_from": "2026-05-01T12:00:00+02:00",
    "valid_until": "2027-05-01",
    "expires_at": "2999-01-01T00:00:00.000001Z",
    "pinned": True,
    "tags": ["auth", "jwt"],
    "metadata": {"pr": 12, "files": ["auth.py"], "deep": {"null": None}},
    "session_id": "s1",
    "task_id": "t1",
    "agent_id": "a1",
}


def test_every_field_comes_back_as_it_was_sent(api: Api) -> None:
    answer = api.post("/facts", EVERYTHING)
    row = answer.json()
    times = {
        "valid_from": "2026-05-01T10:00:00.000000Z",
        "valid_until": "2027-05-01T00:00:00.000000Z",
        "expires_at": "2999-01-01T00:00:00.000001Z",
    }
    assert answer.status_code == 201
    assert {name: row[name] for name in EVERYTHING} == {**EVERYTHING, **times}
    assert (row["created"], row["branch"], row["version"], row["status"]) == (True, "main", 1, "active")
    assert TIME.fullmatch(row["created_at"])
    assert TIME.fullmatch(row["updated_at"])
    del row["created"]
    assert api.get(f"/facts/{row['id']}").json() == row


def test_nothing_of_the_storage_is_told(api: Api) -> None:
    row = api.fact("Numbers of rows stay on the server.")
    assert (
        not {"rid", "vid", "prev_vid", "merged_vid", "slot", "seq_from", "seq_to", "norm_hash"} & row.keys()
    )


@pytest.mark.parametrize(
    "text",
    [
        "Ünïcödé — 東京 🙂 \u202eright to left\u202c",
        "'; DROP TABLE memory_fact; -- \" OR 1=1",
        "<script>alert(1)</script> {{ 7*7 }} {% now %} ${x} {0} {name}",
        "line\r\nbreaks\tand\x0bodd\x1fcontrols\x7f",
        "e\u0301 is not \u00e9 here",
        "\ufeffbyte order mark and \u0000".replace("\u0000", "\ufffd"),
    ],
)
def test_texts_come_back_letter_by_letter(api: Api, text: str) -> None:
    fields = {"category": text[:60], "tags": [text[:60]], "metadata": {text: [text]}, "source": text[:60]}
    row = api.fact(text, **fields)
    seen = api.get(f"/facts/{row['id']}").json()
    assert {name: seen[name] for name in fields} == fields
    assert seen["fact_text"] == text
    assert api.post("/facts/search", {"query": text}).status_code == 200


def test_one_of_many_may_be_stored_though_its_text_is_there(api: Api) -> None:
    known = api.fact("one")["id"]
    facts = [{"fact_text": "one"}, {"fact_text": "one", "deduplicate": False}, {"fact_text": "two"}]
    rows = api.post("/facts/bulk", {"facts": facts}).json()["results"]
    assert [row["created"] for row in rows] == [False, True, True]
    assert (rows[0]["id"], rows[1]["id"] == known) == (known, False)
    rest = {"facts": [{"fact_text": "one"}, {"fact_text": "two", "deduplicate": True}], "deduplicate": False}
    rows = api.post("/facts/bulk", rest).json()["results"]
    assert [row["created"] for row in rows] == [True, False]
    with nothing_left():
        wrong = {"facts": [{"fact_text": "three"}, {"fact_text": "four", "deduplicate": 1}]}
        refused(api.post("/facts/bulk", wrong), 400, "invalid", "facts[1].deduplicate")


def test_many_facts_are_changed_in_one_commit(api: Api) -> None:
    one, two = api.fact("one", tags=["a"]), api.fact("two", kind="TASK")
    old = api.fact("old")
    three = api.fact("three", parent_id=old["id"], propose=True)
    head = api.get("/branches/main").json()["head"]
    changes = [
        {"id": one["id"], "fact_text": "One.", "expected_version": 1},
        {"id": two["id"], "status": "done", "priority": "P1"},
        {"id": three["id"], "status": "active"},
        {"id": old["id"], "category": "past"},
    ]
    answer = api.patch("/facts/bulk", {"facts": changes, "session_id": "s1"}).json()
    assert [(row["id"], row["version"], row["status"]) for row in answer["results"]] == [
        (one["id"], 2, "active"),
        (two["id"], 2, "done"),
        (three["id"], 2, "active"),
        (old["id"], 2, "superseded"),
    ]
    assert (answer["commit"]["kind"], answer["commit"]["session_id"]) == ("fact.update", "s1")
    shown = {row["id"]: row for row in api.get("/facts").json()["results"]}
    assert (shown[one["id"]]["fact_text"], shown[one["id"]]["tags"]) == ("One.", ["a"])
    assert (shown[one["id"]]["essence"], shown[two["id"]]["priority"]) == ("One.", "P1")
    assert (shown[old["id"]]["category"], api.get("/branches/main").json()["head"]) == ("past", head + 1)
    again = api.patch("/facts/bulk", {"facts": changes[3:]}).json()
    assert (again["commit"], again["results"][0]["version"]) == (None, 2)


def test_many_changes_are_all_or_none(api: Api) -> None:
    one, two = (api.fact(text)["id"] for text in ("one", "two"))
    good = {"id": one, "priority": "P1"}
    with nothing_left():
        for bad, status, code, field in (
            ({"id": UNKNOWN, "priority": "P1"}, 404, "not_found", "id"),
            ({"id": two, "priority": "P1", "expected_version": 2}, 412, "stale_version", ""),
            ({"id": two, "status": "done"}, 409, "illegal_transition", ""),
            ({"id": two, "confidence": 2}, 400, "invalid", "confidence"),
            ({"id": two, "parent_id": one}, 400, "unknown_field", "parent_id"),
            ({"id": one, "priority": "P2"}, 400, "invalid", "id"),
            ({"priority": "P2"}, 400, "invalid", "id"),
            ("two", 400, "invalid", ""),
        ):
            answer = api.patch("/facts/bulk", {"facts": [good, bad]})
            refused(answer, status, code, f"facts[1].{field}".rstrip("."))
        refused(api.patch("/facts/bulk", {"facts": []}), 400, "invalid", "facts")
        refused(api.patch("/facts/bulk", {"facts": [good] * 1001}), 413, "too_large", "facts")


def test_what_the_whole_bulk_states_holds_for_each_fact_that_states_nothing(api: Api) -> None:
    body = {"session_id": "s1", "facts": [{"fact_text": "a"}, {"fact_text": "b", "session_id": "s2"}]}
    api.post("/facts/bulk", body)
    rows = api.get("/facts").json()["results"]
    assert {row["fact_text"]: row["session_id"] for row in rows} == {"a": "s1", "b": "s2"}
    assert Commit.objects.get().session_id == "s1"


def test_without_a_verdict_the_judge_is_asked(api: Api) -> None:
    path = f"/facts/{api.fact('a')['id']}/verify"
    with nothing_left():
        refused(api.post(path, {"verdict": "maybe"}), 400, "invalid", "verdict")
        refused(api.post(path, {"verdict": "verified", "reason": "x" * 2001}), 400, "invalid", "reason")
    answer = api.post(path, {})
    assert (answer.status_code, answer.json()["state"]) == (202, "queued")


def test_the_branch_may_be_said_in_the_query_or_in_the_body(api: Api) -> None:
    api.post("/branches", {"name": "task/x"})
    assert api.fact("a", branch="task/x")["branch"] == "task/x"
    assert api.fact("b", branch_name="task/x")["branch"] == "task/x"
    assert (
        api.post("/facts?branch=task/x", {"fact_text": "c", "branch": "task/x"}).json()["branch"] == "task/x"
    )
    assert len(api.get("/facts?branch=task%2Fx").json()["results"]) == 3
    assert len(api.get("/facts?branch_name=task/x").json()["results"]) == 3
    assert api.get("/facts").json()["results"] == []
    with nothing_left():
        refused(
            api.post("/facts?branch=main", {"fact_text": "d", "branch": "task/x"}), 400, "invalid", "branch"
        )
        body = {"fact_text": "d", "branch": "main", "branch_name": "task/x"}
        refused(api.post("/facts", body), 400, "invalid", "branch")


def test_head_is_a_get_without_a_body(api: Api) -> None:
    path = f"/facts/{api.fact('a')['id']}"
    answer = api("HEAD", path)
    assert (answer.status_code, answer.content, answer["ETag"]) == (200, b"", api.get(path)["ETag"])


def test_a_slash_at_the_end_changes_nothing(api: Api) -> None:
    row = api.post("/facts/", {"fact_text": "a"}).json()
    for path in ("/facts/", f"/facts/{row['id']}/", f"/facts/{row['id']}/history/", "/facts/search/?q=a"):
        assert api.get(path).status_code == 200, path


def test_a_byte_order_mark_before_a_body_is_left_out(api: Api) -> None:
    body = b"\xef\xbb\xbf" + json.dumps({"fact_text": "Marked."}).encode()
    assert api.post("/facts", body).json()["fact_text"] == "Marked."
    event = {"session_id": "m", "hook_event_name": "UserPromptSubmit", "prompt": "Where is it?"}
    marked = b"\xef\xbb\xbf" + json.dumps(event).encode()
    assert api.post("/ingest/hook?client=claude-code", marked).status_code == 200
    assert [row["session_id"] for row in api.get("/conversations").json()["results"]] == ["m"]
