"""Repeatable requests: Idempotency-Key on every POST; and ETags for reads."""

import json
import re
import threading
from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from memory.engines.support.idempotency import TTL
from memory.models import Commit, Fact, IdempotencyRecord
from tests.memory.api.client import UNKNOWN, Api, api_for, nothing_left, refused

pytestmark = pytest.mark.django_db(transaction=True)
ETAG = re.compile(r'"(\d+)-[0-9a-f]{16}"')


def once(api: Api, path: str, body: object, key: str = "k1"):
    return api.post(path, body, Idempotency_Key=key)


def test_the_same_request_gets_the_stored_answer(api: Api) -> None:
    first = once(api, "/facts", {"fact_text": "a", "deduplicate": False})
    assert "Idempotency-Replayed" not in first
    with nothing_left():
        again = once(api, "/facts/", b'{"deduplicate": false,  "fact_text": "a"}')
    assert (again.status_code, again.json(), again["ETag"]) == (201, first.json(), first["ETag"])
    assert again["Idempotency-Replayed"] == "true"
    assert Fact.objects.all_versions().count() == Commit.objects.count() == 1


def test_without_the_header_nothing_is_kept(api: Api) -> None:
    api.fact("a")
    assert IdempotencyRecord.objects.count() == 0


def test_the_same_key_with_another_request_is_refused(api: Api) -> None:
    once(api, "/facts", {"fact_text": "a"})
    api.post("/branches", {"name": "task/x"})
    with nothing_left():
        problem = refused(once(api, "/facts", {"fact_text": "b"}), 409, "conflict", "Idempotency-Key")
        refused(once(api, "/facts?branch=task/x", {"fact_text": "a"}), 409, "conflict", "Idempotency-Key")
    assert problem["detail"] == "This Idempotency-Key was used with another request: take a new key."


def test_the_scope_is_the_route_the_key_and_the_project(api: Api, stranger: Api, project) -> None:
    colleague = api_for(project)
    for name, client in (("a", api), ("colleague", colleague), ("stranger", stranger)):
        assert once(client, "/facts", {"fact_text": f"Written by {name}."}).status_code == 201
    assert once(api, "/branches", {"name": "task/x"}).status_code == 201
    assert once(api, "/facts/bulk", {"facts": [{"fact_text": "b"}]}).status_code == 201
    assert IdempotencyRecord.objects.count() == 5


def test_every_post_obeys(api: Api) -> None:
    one, two = api.fact("one")["id"], api.fact("two")["id"]
    key = api.post("/keys", {"label": "k", "scopes": ["read"]}).json()["id"]
    posts = [
        ("/facts/bulk", {"facts": [{"fact_text": "b"}]}),
        (f"/facts/{one}/links", {"to_id": two, "link_type": "BRIDGE"}),
        (f"/facts/{one}/verify", {"verdict": "verified"}),
        (f"/facts/{one}/archive", {}),
        (f"/facts/{one}/restore", None),
        (f"/facts/{one}/supersede", {"new_fact_text": "three"}),
        ("/branches", {"name": "task/x"}),
        ("/branches/task/x/restore", {}),
        (f"/keys/{key}/revoke", {}),
    ]
    for path, body in posts:
        first = once(api, path, body)
        assert first.status_code in (200, 201), (path, first.content)
        with nothing_left():
            again = once(api, path, body)
        assert (again.status_code, again.json()) == (first.status_code, first.json()), path
        assert again["Idempotency-Replayed"] == "true"


def test_a_token_is_told_once_even_so(api: Api) -> None:
    body = {"label": "agent", "scopes": ["read"]}
    first = once(api, "/keys", body).json()
    again = once(api, "/keys", body)
    assert first["token"].startswith("day1_")
    assert again.json() == {**first, "token": None}
    assert first["token"] not in json.dumps(list(IdempotencyRecord.objects.values_list("body", flat=True)))


def test_what_was_refused_may_be_corrected_under_the_same_key(api: Api) -> None:
    with nothing_left():
        refused(once(api, "/facts", {"fact_text": "a", "confidence": 2}), 400, "invalid", "confidence")
        refused(once(api, f"/facts/{UNKNOWN}/archive", {}), 404, "not_found")
    assert once(api, "/facts", {"fact_text": "a", "confidence": 1}).status_code == 201


@pytest.mark.parametrize("key", ["", "x" * 201])
def test_a_key_that_is_none(api: Api, key: str) -> None:
    with nothing_left():
        refused(once(api, "/facts", {"fact_text": "a"}, key), 400, "invalid", "Idempotency-Key")
    assert once(api, "/facts", {"fact_text": "a"}, "x" * 200).status_code == 201


def test_an_answer_is_kept_for_a_day(api: Api) -> None:
    once(api, "/facts", {"fact_text": "a"})
    nearly = timezone.now() - TTL + timedelta(minutes=1)
    IdempotencyRecord.objects.update(created_at=nearly)
    assert once(api, "/facts", {"fact_text": "a"})["Idempotency-Replayed"] == "true"
    IdempotencyRecord.objects.update(created_at=nearly - timedelta(minutes=2))
    assert once(api, "/facts", {"fact_text": "b"}).status_code == 201


def test_twins_at_the_same_moment_write_once(api: Api) -> None:
    answers, start = [], threading.Barrier(6)

    def send() -> None:
        start.wait()
        try:
            answers.append(once(Api(api.token), "/facts", {"fact_text": "a", "deduplicate": False}))
        finally:
            connection.close()

    threads = [threading.Thread(target=send) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [answer.status_code for answer in answers] == [201] * 6
    assert len({answer.content for answer in answers}) == 1
    assert sorted("Idempotency-Replayed" in answer for answer in answers) == [False] + [True] * 5
    assert Fact.objects.all_versions().count() == 1


def test_a_write_that_breaks_after_it_was_stored_leaves_nothing(api: Api, monkeypatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError

    monkeypatch.setattr("memory.answers.facts.fact", broken)
    with nothing_left():
        refused(once(api, "/facts", {"fact_text": "a"}), 500, "error")
    monkeypatch.undo()
    assert once(api, "/facts", {"fact_text": "a"}).status_code == 201


# ---- ETags -------------------------------------------------------------------------------------------


def test_a_row_that_is_known_is_not_sent_again(api: Api) -> None:
    path = f"/facts/{api.fact('a')['id']}"
    first = api.get(path)
    assert ETAG.fullmatch(first["ETag"])
    for tags in (first["ETag"], f'"x", {first["ETag"]}', f"W/{first['ETag']}", "*"):
        same = api.get(path, If_None_Match=tags)
        assert (same.status_code, same.content, same["ETag"]) == (304, b"", first["ETag"])
    assert api.get(path, If_None_Match='"1-0000000000000000"').status_code == 200
    changed = api.patch(path, {"pinned": True})
    assert ETAG.fullmatch(changed["ETag"])[1] == "2"
    assert api.get(path, If_None_Match=first["ETag"])["ETag"] == changed["ETag"]


def test_a_branch_has_a_tag_too(api: Api) -> None:
    first = api.get("/branches/main")
    assert api.get("/branches/main", If_None_Match=first["ETag"]).status_code == 304
    api.fact("a")
    assert api.get("/branches/main", If_None_Match=first["ETag"])["ETag"].startswith('"1-')


def test_what_stands_beside_the_history_changes_the_tag_too(api: Api) -> None:
    path = f"/facts/{api.fact('a')['id']}"
    before = api.get(path)["ETag"]
    api.post(f"{path}/verify", {"verdict": "verified"})
    after = api.get(path)["ETag"]
    assert before != after
    assert (ETAG.fullmatch(before)[1], ETAG.fullmatch(after)[1]) == ("1", "1")


def changes(path: str) -> list[tuple[str, str, dict | None]]:
    return [
        ("PATCH", path, {"pinned": True}),
        ("POST", f"{path}/archive", {}),
        ("POST", f"{path}/restore", {}),
        ("POST", f"{path}/supersede", {"new_fact_text": "b"}),
        ("POST", f"{path}/verify", {"verdict": "verified"}),
        ("DELETE", path, None),
    ]


def test_a_change_of_what_has_changed_since_is_refused(api: Api) -> None:
    path = f"/facts/{api.fact('a')['id']}"
    old = api.get(path)["ETag"]
    api.patch(path, {"confidence": 0.9})
    with nothing_left():
        for method, route, body in changes(path):
            problem = refused(api(method, route, body, If_Match=old), 412, "stale_version")
            assert problem["data"] == {"current": 2, "expected": 1, "changed": ["confidence"]}
            told = "The fact is at version 2, not 1: read it again. Changed: confidence."
            assert problem["detail"] == told
            body = {**(body or {}), "expected_version": 1}
            refused(api(method, route, body), 412, "stale_version")


def test_a_change_of_what_was_read_goes_through(api: Api) -> None:
    path = f"/facts/{api.fact('a')['id']}"
    for method, route, body in changes(path)[:3]:
        tag = api.get(path)["ETag"]
        assert api(method, route, body, If_Match=tag).status_code == 200
    assert api.patch(path, {"pinned": False, "expected_version": 4}).json()["version"] == 5
    assert api.patch(path, {"pinned": True}, If_Match="*").json()["version"] == 6
    both = f'"5-0000000000000000", {api.get(path)["ETag"]}'
    assert api.patch(path, {"pinned": False}, If_Match=both).json()["version"] == 7
    assert api.delete(f"{path}?expected_version=7").status_code == 204


def test_tags_that_are_none(api: Api) -> None:
    path = f"/facts/{api.fact('a')['id']}"
    tag = api.get(path)["ETag"]
    with nothing_left():
        refused(api.patch(path, {"pinned": True}, If_Match="1"), 400, "invalid", "If-Match")
        refused(api.patch(path, {"pinned": True}, If_Match='"another-server"'), 412, "stale_version")
        answer = api.patch(path, {"pinned": True, "expected_version": 2}, If_Match=tag)
        refused(answer, 400, "invalid", "expected_version")
        refused(api.patch(path, {"expected_version": "1"}), 400, "invalid", "expected_version")
        refused(api.patch(f"/facts/{UNKNOWN}", {}, If_Match='"x"'), 404, "not_found")
