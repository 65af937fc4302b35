"""Repeatable merges: the plan comes before the locks, the answer is stored with the merge."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import OperationalError, connection

from memory.conf import conf
from memory.engines.merging.gates import GateResult
from memory.models import AuditEntry, Commit, IdempotencyRecord, MergeRequest
from tests.memory.api.client import Api, nothing_left, refused

pytestmark = pytest.mark.django_db(transaction=True)
TASK = "task/tokens"
KEY = {"Idempotency_Key": "k1"}
in_transaction: list[bool] = []  # of each check


def record_transaction(name: str, plan: Any, options: Any, policy: Any) -> GateResult:
    in_transaction.append(connection.in_atomic_block)
    return GateResult(name, "passed", "")


@pytest.fixture
def checks(settings: Any) -> list[bool]:
    """Return a list that says of each check of a merge whether it was made in a transaction."""
    return watch_checks(settings)


def watch_checks(settings: Any) -> list[bool]:
    gates = {**conf().merge_gates, "secrets": f"{__name__}.record_transaction"}
    settings.DAY1 = {**settings.DAY1, "merge_gates": gates}
    in_transaction.clear()
    return in_transaction


@pytest.fixture
def learned(api: Api) -> dict[str, Any]:
    api.post("/branches", {"name": TASK})
    fact = api.fact("Tokens live for an hour.", branch=TASK)
    assert api.post(f"/facts/{fact['id']}/verify", {"verdict": "verified", "branch": TASK}).status_code == 200
    return fact


@pytest.fixture
def conflict(api: Api) -> dict[str, Any]:
    fact = api.fact("Tokens live for a day.")
    api.post("/branches", {"name": TASK})
    for branch in ("main", TASK):
        api.patch(f"/facts/{fact['id']}", {"fact_text": f"Tokens on {branch}.", "branch": branch})
    return fact


@contextmanager
def refusing_answers() -> Iterator[None]:
    """Let the database fail when an answer is stored, as in a crash right then."""

    def run(execute: Callable[..., Any], sql: str, params: Any, many: bool, context: Any) -> Any:
        if sql.startswith("INSERT") and IdempotencyRecord._meta.db_table in sql:
            raise OperationalError("disk I/O error")
        return execute(sql, params, many, context)

    with connection.execute_wrapper(run):
        yield


def count_merges() -> int:
    return Commit.objects.filter(kind="branch.merge").count()


ROUTES = [(f"/branches/{TASK}/merge", {}), ("/merge-requests/1/merge", {})]


@pytest.mark.parametrize(("path", "body"), ROUTES)
class TestMerges:
    @pytest.fixture(autouse=True)
    def opened(self, api: Api, learned: Any) -> None:
        assert api.post("/merge-requests", {"source": TASK}).status_code == 201

    def test_are_planned_before_the_locks(self, api: Api, checks: list[bool], path: str, body: Any) -> None:
        assert api.post(path, body, **KEY).status_code == 200
        assert checks == [False]

    def test_twice_under_one_key_are_one(self, api: Api, path: str, body: Any) -> None:
        first = api.post(path, body, **KEY)
        with nothing_left():
            again = api.post(path, body, **KEY)
        assert (first.status_code, again.status_code, again.json()) == (200, 200, first.json())
        assert (first.json()["commit"] is not None, again["Idempotency-Replayed"]) == (True, "true")
        refused(api.post(path, {"message": "Other."}, **KEY), 409, "conflict", "Idempotency-Key")

    def test_a_crash_leaves_all_or_nothing(self, api: Api, path: str, body: Any) -> None:
        with nothing_left(), refusing_answers():
            assert api.post(path, body, **KEY).status_code == 500
        assert api.post(path, body, **KEY).json()["commit"] is not None
        assert count_merges() == 1

    def test_at_the_same_moment_are_one(self, api: Api, path: str, body: Any) -> None:
        answers, start = [], threading.Barrier(4)

        def send() -> None:
            start.wait()
            try:
                answers.append(Api(api.token).post(path, body, **KEY))
            finally:
                connection.close()

        threads = [threading.Thread(target=send) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert [one.status_code for one in answers] == [200] * 4, [one.content for one in answers]
        assert len({one.content for one in answers}) == 1
        assert count_merges() == 1


class TestTheOthers:
    def test_an_approval(self, api: Api, learned: Any, checks: list[bool]) -> None:
        api.post("/merge-requests", {"source": TASK})
        with nothing_left(), refusing_answers():
            assert api.post("/merge-requests/1/approve", {}, **KEY).status_code == 500
        checks.clear()
        first = api.post("/merge-requests/1/approve", {}, **KEY)
        assert (checks, first.json()["state"], len(first.json()["approvals"])) == ([False], "approved", 1)
        api.fact("One more.", branch=TASK)
        with nothing_left():
            assert api.post("/merge-requests/1/approve", {}, **KEY).json() == first.json()
        assert api.get("/merge-requests/1").json()["state"] == "open"

    def test_decisions(self, api: Api, conflict: Any) -> None:
        api.post("/merge-requests", {"source": TASK})
        body = {"choice": "source"}
        with nothing_left(), refusing_answers():
            assert api.post("/merge-requests/1/decisions", body, **KEY).status_code == 500
        read: list[bool] = []

        def watch(execute: Callable[..., Any], sql: str, params: Any, many: bool, context: Any) -> Any:
            if sql.startswith("SELECT") and "memory_fact" in sql:
                read.append(connection.in_atomic_block)
            return execute(sql, params, many, context)

        with connection.execute_wrapper(watch):
            first = api.post("/merge-requests/1/decisions", body, **KEY)
        assert (first.json()["decided"], set(read)) == (1, {False})
        with nothing_left():
            assert api.post("/merge-requests/1/decisions", body, **KEY).json() == first.json()
        assert AuditEntry.objects.filter(action="merge_request.decide").count() == 1

    def test_a_plan_is_made_anew(self, api: Api, learned: Any, checks: list[bool]) -> None:
        body = {"dry_run": True}
        first = api.post(f"/branches/{TASK}/merge", body, **KEY)
        assert api.post(f"/branches/{TASK}/merge", body, **KEY).json() == first.json()
        assert checks == [False, False]

    def test_the_end_of_a_part_and_of_a_task(self, api: Api, checks: list[bool]) -> None:
        api.post("/tasks", {"name": "Fix", "slug": "fix"})
        api.post("/tasks/fix/join", {"agent_id": "ann"})
        fact = {"category": "decision", "confidence": 0.9, "branch": "task/fix/ann"}
        api.fact("Tokens live for an hour.", **fact)
        for path in ("/tasks/fix/agents/ann/complete", "/tasks/fix/complete"):
            with refusing_answers():
                assert api.post(path, {}, **KEY).status_code == 500
            first = api.post(path, {}, **KEY)
            assert first.status_code == 200, first.content
            with nothing_left():
                assert api.post(path, {}, **KEY).json() == first.json()
        assert (count_merges(), MergeRequest.objects.count()) == (1, 1)
        assert True not in checks
