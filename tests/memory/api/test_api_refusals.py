"""Refusals: each with its own code and message, and without a trace in the store."""

import json
from itertools import product

import pytest

from memory.engines.support.pagination import write_cursor
from memory.exceptions import ProviderUnavailable
from memory.models import Fact
from tests.memory.api.client import UNKNOWN, Api, nothing_left, refused

pytestmark = pytest.mark.django_db(transaction=True)
MIB = 1024 * 1024
KIB64 = 64 * 1024


# ---- fields of a fact --------------------------------------------------------------------------------

BAD_FIELDS = [
    ({}, "invalid", "fact_text"),
    ({"fact_text": ""}, "invalid", "fact_text"),
    ({"fact_text": " \n"}, "invalid", "fact_text"),
    ({"fact_text": None}, "invalid", "fact_text"),
    ({"fact_text": 5}, "invalid", "fact_text"),
    ({"fact_text": "a\u0000b"}, "invalid", "fact_text"),
    ({"fact_text": "half \ud83d"}, "invalid", "fact_text"),
    ({"confidence": 1.2}, "invalid", "confidence"),
    ({"confidence": -0.1}, "invalid", "confidence"),
    ({"confidence": "0.5"}, "invalid", "confidence"),
    ({"confidence": True}, "invalid", "confidence"),
    ({"essence": "x" * 201}, "invalid", "essence"),
    ({"category": ""}, "invalid", "category"),
    ({"category": ["a"]}, "invalid", "category"),
    ({"kind": "belief"}, "invalid", "kind"),
    ({"kind": "REFLECTION"}, "reserved_value", "kind"),
    ({"origin": "DREAMING"}, "reserved_value", "origin"),
    ({"priority": "P5"}, "invalid", "priority"),
    ({"tags": "auth"}, "invalid", "tags"),
    ({"tags": ["a"] * 51}, "invalid", "tags"),
    ({"tags": ["a\u0000"]}, "invalid", "tags"),
    ({"metadata": []}, "invalid", "metadata"),
    ({"metadata": {"a": "\u0000"}}, "invalid", "metadata"),
    ({"valid_from": "yesterday"}, "invalid", "valid_from"),
    ({"valid_from": "2026-05-01", "valid_until": "2026-04-01"}, "invalid", "valid_until"),
    ({"expires_at": 5}, "invalid", "expires_at"),
    ({"expires_at": "0001-01-01T00:00:00+14:00"}, "invalid", "expires_at"),
    ({"parent_id": "abc"}, "invalid", "parent_id"),
    ({"parent_id": UNKNOWN}, "invalid", "parent_id"),
    ({"session_id": "s" * 201}, "invalid", "session_id"),
    ({"propose": "yes"}, "invalid", "propose"),
    ({"deduplicate": None}, "invalid", "deduplicate"),
    ({"branch": ["main"]}, "invalid", "branch"),
    ({"colour": "red"}, "unknown_field", "colour"),
    ({"half \ud83d": 1}, "unknown_field", "half \ud83d"),
    ({"rid": 5}, "unknown_field", "rid"),
    ({"id": UNKNOWN}, "unknown_field", "id"),
    ({"verification_status": "verified"}, "unknown_field", "verification_status"),
    ({"status": "active"}, "unknown_field", "status"),
    ({"actor": "root"}, "unknown_field", "actor"),
    ({"self": 1}, "unknown_field", "self"),
    ({"project_id": UNKNOWN}, "unknown_field", "project_id"),
]


def test_a_bad_field_is_named(api: Api) -> None:
    for fields, code, field in BAD_FIELDS:
        body = fields if not fields or "fact_text" in fields else {"fact_text": "good", **fields}
        with nothing_left():
            refused(api.post("/facts", body), 400, code, field)
            if (
                not {"propose", "deduplicate", "branch"} & fields.keys()
                and fields.get("parent_id") != UNKNOWN
            ):
                answer = api.post("/facts/bulk", {"facts": [{"fact_text": "other"}, body]})
                refused(answer, 400, code, f"facts[1].{field}")


def test_one_bad_row_of_a_thousand_is_named_and_nothing_is_stored(api: Api) -> None:
    facts = [{"fact_text": f"fact {i}", "session_id": "new"} for i in range(1000)]
    facts[517]["confidence"] = 1.2
    with nothing_left():
        problem = refused(api.post("/facts/bulk", {"facts": facts}), 400, "invalid", "facts[517].confidence")
    assert problem["detail"] == "Fact 517: confidence must be a number from 0 to 1."


@pytest.mark.parametrize(
    ("body", "status", "code", "field"),
    [
        ({"facts": [{"fact_text": str(i)} for i in range(1001)]}, 413, "too_large", "facts"),
        ({"facts": []}, 400, "invalid", "facts"),
        ({"facts": {"fact_text": "a"}}, 400, "invalid", "facts"),
        ({}, 400, "invalid", "facts"),
        ({"facts": ["a", {"fact_text": "b"}]}, 400, "invalid", "facts[0]"),
        ({"facts": [{"fact_text": "a"}], "color": 1}, 400, "unknown_field", "color"),
        (
            {"facts": [{"fact_text": "a"}, {"fact_text": "a" * (KIB64 + 1)}]},
            413,
            "too_large",
            "facts[1].fact_text",
        ),
    ],
)
def test_a_bulk_that_is_none(api: Api, body: dict, status: int, code: str, field: str) -> None:
    with nothing_left():
        refused(api.post("/facts/bulk", body), status, code, field)


@pytest.mark.parametrize("letter", ["a", "é", "東", "🙂"])
def test_the_text_limit_is_in_bytes_and_exact(api: Api, letter: str) -> None:
    size = len(letter.encode())
    text = letter * (KIB64 // size) + "a" * (KIB64 % size)
    assert len(text.encode()) == KIB64
    row = api.fact(text)
    with nothing_left():
        problem = refused(api.post("/facts", {"fact_text": text + "a"}), 413, "too_large", "fact_text")
        refused(api.patch(f"/facts/{row['id']}", {"fact_text": text + "a"}), 413, "too_large", "fact_text")
        path = f"/facts/{row['id']}/supersede"
        assert api.post(path, {"new_fact_text": text + "a"}).status_code == 413
    assert "64 KiB" in problem["detail"]


# ---- bodies ------------------------------------------------------------------------------------------

BAD_BODIES = [
    b"",
    b"{",
    b"not json",
    b'{"fact_text": "a",}',
    b'{"fact_text": "a", "confidence": NaN}',
    b'{"fact_text": "a", "confidence": Infinity}',
    b'{"fact_text": "\xff\xfe"}',
    b'{"fact_text": "a", "metadata": {"n": ' + b"9" * 5000 + b"}}",
    b"[" * 100_000,
    b"[" * 100_000 + b"]" * 100_000,
    b'{"a":' * 50_000 + b"1" + b"}" * 50_000,
    b'{"fact_text": "a", "metadata": ' + b'{"a":' * 65 + b"1" + b"}" * 66,
    b"[]",
    b'"text"',
    b"5",
    b"null",
    b'[{"fact_text": "a"}]',
]


def test_a_body_that_is_no_json_object(api: Api) -> None:
    with nothing_left():
        for body, path in product(
            BAD_BODIES, ("/facts", "/facts/bulk", "/facts/search", "/branches", "/keys")
        ):
            answer = api.post(path, body) if body else api.post(path, b" ")
            refused(answer, 400, "invalid")


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b'{"a":', "Expecting value at line 1, column 6"),
        (b'{"a":\n "b', "Unterminated string starting at line 2, column 2"),
        (b'{"a": "\x01"}', "Invalid control character at line 1, column 8"),
        (b'{"a": NaN}', "NaN is no JSON number"),
        (b'{"a": ' + b"9" * 5000 + b"}", "it holds a number of too many digits"),
        (b'{"a": "\xff"}', "it is not UTF-8"),
        (b"[" * 65 + b"]" * 65, "it is nested more than 64 deep"),
        (b"[" * 100_000, "it is nested more than 64 deep"),
    ],
)
def test_what_is_wrong_with_a_body_is_told(api: Api, body: bytes, reason: str) -> None:
    detail = refused(api.post("/facts", body), 400, "invalid")["detail"]
    assert detail == f"The body is not JSON: {reason}."


@pytest.mark.parametrize("limit", ["ten", "2.5", "", "1e2"])
def test_a_page_size_that_is_no_number(api: Api, limit: str) -> None:
    for path in (f"/facts?limit={limit}", f"/facts/search?q=a&limit={limit}", f"/branches?limit={limit}"):
        problem = refused(api.get(path), 400, "invalid", "limit")
        assert problem["detail"] == "limit must be a whole number."
    problem = refused(api.post("/facts/search", {"query": "a", "limit": True}), 400, "invalid", "limit")
    assert problem["detail"] == "limit must be a whole number."


def test_a_name_given_twice_counts_once(api: Api) -> None:
    assert api.post("/facts", b'{"fact_text": "a", "fact_text": "b"}').json()["fact_text"] == "b"


def test_numbers_too_big_for_any_machine(api: Api) -> None:
    with nothing_left():
        refused(
            api.post("/facts", b'{"fact_text": "a", "metadata": {"n": 1e999}}'), 400, "invalid", "metadata"
        )
        refused(
            api.post("/facts", b'{"fact_text": "a", "created_cycle": 9e99}'), 400, "invalid", "created_cycle"
        )
        big = b"9" * 4000
        refused(api.post("/facts/search", b'{"query": "a", "limit": ' + big + b"}"), 400, "invalid", "limit")
        refused(api.post("/facts/search", b'{"query": "a", "at": ' + big + b"}"), 400, "invalid", "at")
    for number in (str(2**53).encode(), b"0"):
        answer = api.post("/facts/search", b'{"query": "a", "current_cycle": ' + number + b"}")
        assert answer.status_code == 200


def test_the_body_limit_is_eight_mebibytes(api: Api) -> None:
    start, end = b'{"fact_text": "a", "padding": "', b'"}'
    most = start + b"x" * (8 * MIB - len(start) - len(end)) + end
    with nothing_left():
        refused(api.post("/facts", most), 400, "unknown_field", "padding")
        problem = refused(api.post("/facts", most + b" "), 413, "too_large")
    assert "8 MiB" in problem["detail"]


@pytest.mark.parametrize(
    "kind",
    ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "application/xml"],
)
def test_only_json_is_read(api: Api, kind: str) -> None:
    with nothing_left():
        answer = api("POST", "/facts", b'{"fact_text": "a"}', Content_Type=kind)
        problem = refused(answer, 415, "unsupported_media_type")
    assert "Content-Type: application/json" in problem["detail"]
    assert (
        api(
            "POST", "/facts", b'{"fact_text": "a"}', Content_Type="Application/JSON; charset=utf-8"
        ).status_code
        == 201
    )


# ---- ids, names, addresses ---------------------------------------------------------------------------

BELOW = ["", "/history", "/verification", "/links", "/explain?q=a"]
POSTS = ["/archive", "/restore", "/supersede", "/verify", "/links"]


@pytest.mark.parametrize("bad", ["abc", "123", UNKNOWN + "0", "%00", "%F0%9F%99%82", "null"])
def test_a_malformed_id_is_named(api: Api, bad: str) -> None:
    bodies: dict[str, dict[str, str]] = {
        "/supersede": {"new_fact_text": "a"},
        "/verify": {"verdict": "verified"},
        "/links": {"to_id": UNKNOWN, "link_type": "ASSOCIATED"},
    }
    with nothing_left():
        for path in BELOW:
            refused(api.get(f"/facts/{bad}{path}"), 400, "invalid", "id")
        for path in POSTS:
            refused(api.post(f"/facts/{bad}{path}", bodies.get(path, {})), 400, "invalid", "id")
        refused(api.patch(f"/facts/{bad}", {}), 400, "invalid", "id")
        refused(api.delete(f"/facts/{bad}"), 400, "invalid", "id")
        refused(api.post(f"/keys/{bad}/revoke"), 400, "invalid", "id")


def test_an_unknown_branch(api: Api) -> None:
    row = api.fact("a")
    with nothing_left():
        for answer in (
            api.post("/facts", {"fact_text": "b", "branch": "task/none"}),
            api.post("/facts/bulk", {"facts": [{"fact_text": "b"}], "branch": "task/none"}),
            api.get("/facts?branch=task/none"),
            api.get(f"/facts/{row['id']}?branch=task/none"),
            api.patch(f"/facts/{row['id']}?branch=task/none", {"pinned": True}),
            api.delete(f"/facts/{row['id']}?branch=task/none"),
            api.get("/facts/search?q=a&branch=task/none"),
            api.post("/facts/search", {"query": "a", "branches": ["main", "task/none"]}),
            api.get("/branches/task/none"),
            api.get("/branches/task%2Fnone/log"),
            api.delete("/branches/task/none"),
        ):
            assert refused(answer, 404, "not_found")["detail"] == "There is no branch named task/none."


def test_an_archived_branch_is_read_and_not_written(api: Api) -> None:
    api.post("/branches", {"name": "task/old"})
    row = api.fact("a", branch="task/old")
    other = api.fact("b", branch="task/old")
    api.delete("/branches/task/old")
    path = f"/facts/{row['id']}"
    with nothing_left():
        for answer in (
            api.post("/facts", {"fact_text": "c", "branch": "task/old"}),
            api.post("/facts/bulk?branch=task/old", {"facts": [{"fact_text": "c"}]}),
            api.patch(f"{path}?branch=task/old", {"pinned": True}),
            api.delete(f"{path}?branch=task/old"),
            api.post(f"{path}/archive?branch=task/old"),
            api.post(f"{path}/supersede", {"new_fact_text": "c", "branch": "task/old"}),
            api.post(f"{path}/verify", {"verdict": "verified", "branch": "task/old"}),
            api.post(f"{path}/links?branch=task/old", {"to_id": other["id"], "link_type": "BRIDGE"}),
        ):
            refused(answer, 409, "branch_archived")
    for read in (path, "/facts", f"{path}/history", f"{path}/links"):
        assert api.get(f"{read}?branch=task/old").status_code == 200
    assert api.get(f"{path}?branch=task/old").json()["status"] == "archived"
    assert api.get("/facts/search?q=a&branch=task/old").json()["results"] == []
    assert len(api.get("/facts/search?q=a&branch=task/old&include=archived").json()["results"]) == 1


def test_addresses_and_methods_that_do_not_exist(api: Api) -> None:
    for path in ("/nothing", "/facts/a/b/c/d", "/branches/none", "/facts.json"):
        refused(api.get(path), 404, "not_found")
    wrong = [
        ("PUT", "/facts"),
        ("DELETE", "/facts"),
        ("OPTIONS", "/facts"),
        ("POST", "/health"),
        ("PATCH", "/keys"),
    ]
    for method, path in wrong:
        refused(api(method, path, {}), 405, "method_not_allowed")
    assert "POST" in api("PUT", "/facts", {})["Allow"]


BAD_QUERIES = [
    ("limit=0", "invalid", "limit"),
    ("limit=-5", "invalid", "limit"),
    ("limit=101", "invalid", "limit"),
    ("limit=999999999999999999999", "invalid", "limit"),
    ("limit=ten", "invalid", "limit"),
    ("limit=1.5", "invalid", "limit"),
    ("limit=", "invalid", "limit"),
    ("limit=5&limit=6", "invalid", "limit"),
    ("cursor=abc", "invalid", "cursor"),
    ("cursor=" + "a" * 5000, "invalid", "cursor"),
    ("cursor=eyJrZXkiOiJhIn0=", "invalid", "cursor"),
    (f"cursor={write_cursor({'key': UNKNOWN, 'seq': 'a'})}", "invalid", "cursor"),
    (f"cursor={write_cursor({'key': UNKNOWN, 'seq': 10**30})}", "invalid", "cursor"),
    ("at=yesterday", "invalid", "at"),
    ("at=99999", "invalid", "at"),
    ("at=-1", "invalid", "at"),
    ("colour=red", "unknown_field", "colour"),
    ("format=json", "unknown_field", "format"),
    ("kind=belief", "invalid", "kind"),
    ("min_confidence=2", "invalid", "min_confidence"),
    ("min_confidence=nan", "invalid", "min_confidence"),
    ("created_after=soon", "invalid", "created_after"),
    ("pinned=maybe", "invalid", "pinned"),
    ("parent_id=5", "invalid", "parent_id"),
    ("category=" + ",".join("a" * 60), "invalid", "category"),
]


def test_a_bad_query_parameter_is_named(api: Api) -> None:
    for query, code, field in BAD_QUERIES:
        refused(api.get(f"/facts?{query}"), 400, code, field)


# ---- searches ----------------------------------------------------------------------------------------

BAD_SEARCHES = [
    ({}, "invalid", "q"),
    ({"query": 5}, "invalid", "query"),
    ({"query": "x" * 8001}, "query_too_long", "query"),
    ({"query": "a", "q": "b"}, "invalid", "query"),
    ({"query": "a", "search_type": "magic"}, "invalid", "search_type"),
    ({"query": "a", "search_type": {}}, "invalid", "search_type"),
    ({"query": "a", "include": ["deleted"]}, "invalid", "include"),
    ({"query": "a", "include": [{}]}, "invalid", "include"),
    ({"query": "a", "include": 5}, "invalid", "include"),
    ({"query": "a", "recipe": "soup"}, "invalid", "recipe"),
    ({"query": "a", "recipe": ["seed"]}, "invalid", "recipe"),
    ({"query": "a", "limit": "10"}, "invalid", "limit"),
    ({"query": "a", "limit": True}, "invalid", "limit"),
    ({"query": "a", "limit": 0}, "invalid", "limit"),
    ({"query": "a", "max_tokens": 0}, "invalid", "max_tokens"),
    ({"query": "a", "current_cycle": -1}, "invalid", "current_cycle"),
    ({"query": "a", "current_cycle": 10**400}, "invalid", "current_cycle"),
    ({"query": "a", "at": {}}, "invalid", "at"),
    ({"query": "a", "at": True}, "invalid", "at"),
    ({"query": "a", "time_range": []}, "invalid", "time_range"),
    ({"query": "a", "time_range": {"from": 1}}, "unknown_field", "time_range.from"),
    ({"query": "a", "time_range": {"start": "soon"}}, "invalid", "created_after"),
    ({"query": "a", "time_range": {"field": "updated"}}, "invalid", "time_range.field"),
    ({"query": "a", "time_range": {"end": "2026-01-01"}, "created_before": ""}, "invalid", "created_before"),
    ({"query": "a", "kind": ["belief"]}, "invalid", "kind"),
    ({"query": "a", "tags": [5]}, "invalid", "tags"),
    ({"query": "a", "branches": []}, "invalid", "branch_names"),
    ({"query": "a", "branches": ["main"], "branch": "main"}, "invalid", "branch"),
    ({"query": "a", "branches": ["main"], "at": 1}, "invalid", "at"),
    ({"query": "a", "colour": "red"}, "unknown_field", "colour"),
]


def test_a_bad_search_is_named(api: Api) -> None:
    with nothing_left():
        for body, code, field in BAD_SEARCHES:
            refused(api.post("/facts/search", body), 400, code, field)


def test_the_query_limit_is_exact(api: Api) -> None:
    assert api.post("/facts/search", {"query": "ü" * 8000}).status_code == 200
    problem = refused(api.post("/facts/search", {"query": "ü" * 8001}), 400, "query_too_long", "query")
    assert problem["data"] == {"limit": 8000, "length": 8001}
    row = api.fact("a")
    refused(api.get(f"/facts/{row['id']}/explain?q=" + "x" * 8001), 400, "query_too_long", "query")


def test_what_nobody_expected_is_logged_and_not_told(api: Api, monkeypatch, caplog) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("secret /path/to/file")

    monkeypatch.setattr("memory.api.operation_views.read_arguments", fail)
    problem = refused(api.get("/facts"), 500, "error")
    assert "secret" not in json.dumps(problem)
    assert "secret /path/to/file" in caplog.text


def test_a_provider_that_is_away_has_a_line_in_the_log(api: Api, monkeypatch, caplog) -> None:
    def fail(*_: object, **__: object) -> None:
        raise ProviderUnavailable(reason="no answer within 5 s")

    monkeypatch.setattr("memory.api.operation_views.read_arguments", fail)
    refused(api.get("/facts"), 503, "provider_unavailable")
    lines = [
        (row.levelname, row.getMessage()) for row in caplog.records if row.name == "memory.answers.problems"
    ]
    reason = "The provider is not available: no answer within 5 s"
    assert lines == [("WARNING", f"GET /api/v1/facts: {reason}")]


def test_long_input_is_not_sent_back_whole(api: Api) -> None:
    answer = api.post("/facts", {"fact_text": "a", "n" * 100_000: 1})
    assert refused(answer, 400, "unknown_field", "n" * 200)
    assert len(answer.content) < 2000
    assert Fact.objects.all_versions().count() == 0
