"""Access: scopes, branch patterns, two projects, rate limits."""

from datetime import timedelta

import pytest
import time_machine
from django.db import OperationalError
from django.utils import timezone

from curation.models import ReviewItem
from memory.models import QueueMessage
from tests.memory.api.client import UNKNOWN, Api, api_for, nothing_left, refused

pytestmark = pytest.mark.django_db(transaction=True)


def test_archiving_by_correcting_wants_the_same_scope(api: Api, project) -> None:
    path = f"/facts/{api.fact('a')['id']}"
    writer = api_for(project, scopes=["write"])
    with nothing_left():
        refused(writer.patch(path, {"status": "archived"}), 403, "scope_missing")
    assert api_for(project, scopes=["curate"]).patch(path, {"status": "archived"}).status_code == 200


def test_a_key_for_some_branches_uses_no_other(api: Api, project) -> None:
    fact = api.fact("a")["id"]
    for name in ("task/mine", "other"):
        api.post("/branches", {"name": name})
    client = api_for(project, scopes=["curate"], branch_patterns=["task/*"])
    with nothing_left():
        for branch in ("main", "other"):
            for answer in (
                client.get(f"/facts?branch={branch}"),
                client.get(f"/facts/{fact}?branch={branch}"),
                client.post("/facts", {"fact_text": "b", "branch": branch}),
                client.patch(f"/facts/{fact}", {"pinned": True, "branch": branch}),
                client.delete(f"/facts/{fact}?branch={branch}"),
                client.get(f"/facts/search?q=a&branch={branch}"),
                client.post("/facts/search", {"query": "a", "branches": [branch]}),
                client.get(f"/facts/{fact}/explain?q=a&branch={branch}"),
                client.get(f"/branches/{branch}"),
                client.get(f"/branches/{branch}/log"),
                client.delete(f"/branches/{branch}"),
                client.get(f"/review-items?branch={branch}"),
            ):
                problem = refused(answer, 403, "branch_forbidden")
                assert problem["data"] == {"name": branch}
        refused(client.get("/facts"), 403, "branch_forbidden")
        refused(client.post("/branches", {"name": "elsewhere"}), 403, "branch_forbidden")
    assert client.get(f"/facts/{fact}?branch=task/mine").status_code == 200
    assert [b["name"] for b in client.get("/branches").json()["results"]] == ["task/mine"]
    found = client.post("/facts/search", {"query": "a", "branches": ["*"]}).json()
    assert found["branches"] == ["task/mine"]
    assert client.post("/branches", {"name": "task/mine/2", "parent": "task/mine"}).status_code == 201


def test_a_key_for_one_agent_speaks_for_no_other(project) -> None:
    client = api_for(project, scopes=["write"], agent_id="bot")
    with nothing_left():
        refused(client.post("/facts", {"fact_text": "a", "agent_id": "other"}), 403, "scope_missing")
        refused(
            client.post("/facts/bulk", {"facts": [{"fact_text": "a", "agent_id": "x"}]}), 403, "scope_missing"
        )
    assert client.fact("a")["agent_id"] == "bot"


# ---- rate limits -------------------------------------------------------------------------------------


def test_past_its_rate_a_key_waits_as_long_as_told(project, other_project) -> None:
    client, other = api_for(project, rate_per_minute=5), api_for(project, rate_per_minute=5)
    with time_machine.travel("2026-05-01T12:00:50Z", tick=False) as clock:
        for _ in range(5):
            assert client.get("/branches").status_code == 200
        with nothing_left():
            answer = client.post("/facts", {"fact_text": "a"})
            problem = refused(answer, 429, "rate_limited")
        wait = int(answer["Retry-After"])
        used = {"what": "key", "limit_name": "key_requests", "used": 5, "limit": 5}
        assert problem["data"] == {"retry_after": wait, **used}
        assert other.get("/branches").status_code == 200
        assert client.get("/health/live").status_code == 200
        for _ in range(20):  # repeated tries do not prolong the wait
            client.get("/branches")
        clock.shift(timedelta(seconds=wait - 1))
        refused(client.get("/branches"), 429, "rate_limited")
        clock.shift(timedelta(seconds=2))
        assert client.get("/branches").status_code == 200


def test_a_steady_caller_gets_its_rate_and_no_more(project) -> None:
    client, let_through = api_for(project, rate_per_minute=6), 0
    with time_machine.travel("2026-05-01T12:00:00Z", tick=False) as clock:
        for _ in range(60):
            let_through += client.get("/branches").status_code == 200
            clock.shift(timedelta(seconds=5))
    assert 24 <= let_through <= 33


def test_a_key_writes_no_more_than_its_quota(api: Api, project) -> None:
    made = api.post("/keys", {"label": "bot", "scopes": ["write"], "max_facts": 3}).json()
    assert (made["max_facts"], made["max_bytes"], made["written_facts"]) == (3, 0, 0)
    bot = Api(made["token"])
    first = bot.fact("one")
    assert bot.patch(f"/facts/{first['id']}", {"fact_text": "One."}).status_code == 200
    assert bot.post("/facts", {"fact_text": "One."}).status_code == 200  # it is there: nothing is written
    with nothing_left():
        answer = bot.post("/facts/bulk", {"facts": [{"fact_text": "two"}, {"fact_text": "three"}]})
        problem = refused(answer, 403, "quota_exceeded")
        assert problem["data"] == {"size": "3 facts", "limit": 3, "part": "facts"}
        call = {"op": "put", "namespace": "a", "key": "x", "value": 1}
        refused(bot.post("/items/batch", {"calls": [call, {**call, "key": "y"}]}), 403, "quota_exceeded")
    assert bot("PUT", "/items/a/k", {"value": 1}).status_code == 201
    refused(bot("PUT", "/items/a/k", {"value": 2}), 403, "quota_exceeded")
    assert bot.delete("/items/a/k").status_code == 204
    assert (bot.get("/facts").status_code, api.fact("two")["fact_text"]) == (200, "two")
    (row,) = [one for one in api.get("/keys").json()["results"] if one["label"] == "bot"]
    assert row["written_facts"] == 3
    turned = api.post(f"/keys/{row['id']}/rotate", {}).json()
    assert (turned["max_facts"], turned["written_facts"]) == (3, 3)
    refused(Api(turned["token"]).post("/facts", {"fact_text": "four"}), 403, "quota_exceeded")


def test_a_key_writes_so_many_bytes(api: Api) -> None:
    made = api.post("/keys", {"label": "bot", "scopes": ["write"], "max_bytes": 1000}).json()
    bot = Api(made["token"])
    talk = bot.post("/conversations", {"title": "A talk"}).json()["id"]
    for _ in range(2):
        said = {"role": "user", "content": "é" * 200}
        assert bot.post(f"/conversations/{talk}/messages", said).status_code == 201
    refused(bot.post("/facts", {"fact_text": "x" * 300}), 403, "quota_exceeded")
    assert bot.post("/facts", {"fact_text": "x"}).status_code == 201
    for wrong in (-1, 2**53 + 1, "3"):
        body = {"label": "a", "scopes": ["write"], "max_bytes": wrong}
        refused(api.post("/keys", body), 400, "invalid", "max_bytes")


# ---- review items and health -------------------------------------------------------------------------


def test_review_items_of_the_branches_within_reach(api: Api, project, main) -> None:
    api.post("/branches", {"name": "task/a"})
    for place, branch in enumerate(project.branches.order_by("name")):
        ReviewItem.objects.create(
            project=project,
            branch=branch,
            kind="near_duplicate",
            fact_id=UNKNOWN,
            other_id=UNKNOWN,
            score=0.9,
            pair=f"p{place}",
            status="open" if place else "resolved",
        )
    listed = api.get("/review-items").json()["results"]
    assert [(row["branch"], row["status"]) for row in listed] == [("task/a", "open"), ("main", "resolved")]
    assert len(api.get("/review-items?status=open&kind=near_duplicate").json()["results"]) == 1
    assert len(api.get("/review-items?branch=main").json()["results"]) == 1
    refused(api.get("/review-items?status=closed"), 400, "invalid", "status")
    narrow = api_for(project, scopes=["curate"], branch_patterns=["task/*"])
    assert [row["branch"] for row in narrow.get("/review-items").json()["results"]] == ["task/a"]


def test_health_without_a_key_is_one_word(api: Api) -> None:
    assert Api("").get("/health").json() == {"status": "ok"}
    for path in ("/health/live", "/health/ready"):
        assert Api("").get(path).json() == {"status": "ok"}
    refused(Api("day1_wrong").get("/health"), 401, "unauthenticated")


def test_health_is_degraded_when_nobody_works_on_the_queue(api: Api) -> None:
    waiting = QueueMessage.objects.create(queue="day1", visible_at=timezone.now(), payload="{}")
    told = api.get("/health").json()
    assert (told["status"], told["worker"], told["queue"]["waiting"]) == ("ok", "unknown", 1)
    QueueMessage.objects.filter(pk=waiting.pk).update(visible_at=timezone.now() - timedelta(minutes=5))
    answer = api.get("/health")
    told = answer.json()
    assert (answer.status_code, told["status"], told["worker"]) == (200, "degraded", "stopped")
    assert told["queue"]["oldest_seconds"] >= 300
    assert Api("").get("/health").json() == {"status": "degraded"}


def test_health_is_degraded_while_a_task_is_set_aside(api: Api) -> None:
    now = timezone.now()
    QueueMessage.objects.create(queue="day1", visible_at=now, set_aside_at=now, tries=2, payload="{}")
    told = api.get("/health").json()
    assert (told["status"], told["worker"]) == ("degraded", "unknown")
    assert told["queue"] == {"waiting": 0, "oldest_seconds": 0.0, "set_aside": 1}


def test_health_tells_what_the_embedder_said(api: Api, monkeypatch) -> None:
    trouble = {"pending": 3, "failed": 0, "model": "m", "error": "no answer"}
    monkeypatch.setattr("memory.engines.embedding.engine.EmbeddingEngine.count_backlog", lambda *_: trouble)
    told = api.get("/health").json()
    assert (told["status"], told["embedding"]) == ("degraded", trouble)
    assert Api("").get("/health").json() == {"status": "ok"}


def test_health_without_a_database_is_503(monkeypatch) -> None:
    monkeypatch.setattr("memory.engines.store.health.check_database", lambda: "error")
    monkeypatch.setattr("memory.api.health.check_database", lambda: "error")
    for path in ("/health", "/health/ready"):
        answer = Api("").get(path)
        assert (answer.status_code, answer.json()["status"]) == (503, "degraded")
    assert Api("").get("/health/live").status_code == 200


def test_a_busy_database_is_told_as_such(api: Api, monkeypatch) -> None:
    def busy(*_: object, **__: object) -> None:
        raise OperationalError("database is locked: other writers took too long")

    monkeypatch.setattr("memory.api.operation_views.read_arguments", busy)
    answer = api.post("/facts", {"fact_text": "a"})
    refused(answer, 503, "unavailable")
    assert answer["Retry-After"] == "1"


def test_health_with_a_key_tells_what_waits(api: Api) -> None:
    told = api.get("/health").json()
    assert (told["status"], told["database"], told["worker"]) == ("ok", "ok", "unknown")
    assert told["queue"] == {"waiting": 0, "oldest_seconds": 0.0, "set_aside": 0}
    none = {"pending": 0, "failed": 0, "model": None, "error": "", "failed_error": "", "change": None}
    assert told["embedding"] == none
