"""Verification over REST: verdicts, ratings, batches, jobs, the gate, refusals."""

from threading import Thread
from typing import Any

import pytest

from curation.models import VerificationJob
from curation.tasks import sweep_verification, verify, verify_due
from memory.engines.branches.manager import BranchManager
from memory.models import Fact
from tests.curation.fake_judge import FakeJudge, rating, verify_fact
from tests.memory.api.client import UNKNOWN, Api, nothing_left, refused
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)
SCORES = {"accuracy": 0.9, "relevance": 0.9, "specificity": 0.9}


def test_a_rating_is_a_job_and_then_beside_the_verdict(judge: FakeJudge, fact: Fact, api: Api) -> None:
    path = f"/facts/{fact.uid}"
    before = api.get(f"{path}/verification").json()
    assert (before["verification_status"], before["method"], before["rating"]) == ("unverified", "", None)
    answer = api.post(f"{path}/verify")
    assert answer.status_code == 202
    job = answer.json()
    assert (job["state"], job["total"], job["done"], job["branch"]) == ("queued", 1, 0, "main")
    verify(job["id"])
    ended = api.get(f"/jobs/{job['id']}").json()
    assert (ended["state"], ended["done"], ended["calls"], ended["input_tokens"]) == ("done", 1, 1, 100)
    assert api.get("/jobs").json()["results"] == [ended]
    row = api.get(f"{path}/verification").json()
    assert (row["verification_status"], row["method"], row["verified_by"]) == (
        "verified",
        "judge",
        "judge fake-judge",
    )
    rated = row["rating"]
    assert {one["dimension"]: one["value"] for one in rated["scores"]} == SCORES
    assert (rated["method"], rated["prompt"], rated["applied"], rated["fallback"]) == (
        "judge",
        "verify-1",
        True,
        "",
    )


def test_who_waits_gets_the_ended_job(judge: FakeJudge, fact: Fact, api: Api) -> None:
    def work() -> None:
        from django.db import connections

        wait_until(VerificationJob.objects.exists)
        sweep_verification()
        connections.close_all()

    worker = Thread(target=work)
    worker.start()
    answer = api.post(f"/facts/{fact.uid}/verify?wait=20")
    worker.join()
    assert (answer.status_code, answer.json()["state"]) == (200, "done")


def test_a_persons_verdict_is_the_same_call(fact: Fact, api: Api) -> None:
    answer = api.post(f"/facts/{fact.uid}/verify", {"verdict": "verified", "reason": "read it"})
    assert (answer.status_code, answer.json()["verification_status"]) == (200, "verified")
    assert not VerificationJob.objects.exists()


def test_a_batch_with_filters_and_a_budget(judge: FakeJudge, write: Any, api: Api) -> None:
    for n in range(3):
        write(f"A decision about service {n}.", category="decision")
    write("Something else that is not chosen.")
    body = {"filters": {"category": "decision"}, "limit": 10, "budget": 2, "votes": 1}
    answer = api.post("/verification/batch", body)
    assert (answer.status_code, answer.json()["total"], answer.json()["budget"]) == (202, 3, 2)
    sweep_verification()
    job = api.get(f"/jobs/{answer.json()['id']}").json()
    assert (job["state"], job["done"], job["counts"]["verified"]) == ("stopped", 2, 2)
    again = api.post("/verification/batch", {"fact_ids": [str(write("One alone, by its id.").uid)]}).json()
    assert again["total"] == 1
    verify_due()


def test_summary_gate_and_calibration(judge: FakeJudge, fact: Fact, write: Any, actor: Any, api: Api) -> None:
    BranchManager().create_branch(name="task/x/y", actor=actor)
    bad = write("What the task alone says of the port.", "task/x/y")
    judge.text = rating(0.1)
    verify_fact(fact_id=bad.uid, actor=actor, branch_name="task/x/y")
    summary = api.get("/verification/summary/task/x/y").json()
    assert (summary["branch"], summary["facts"], summary["judge"]) == ("task/x/y", 2, "fake-judge")
    assert summary["verification"] == {"verified": 0, "plausible": 0, "unverified": 1, "invalidated": 1}
    gate = api.post("/verification/merge-gate", {"source_branch": "task/x/y", "target_branch": "main"}).json()
    assert (gate["can_merge"], gate["invalidated"], gate["offending"]) == (False, 1, [str(bad.uid)])
    (every, *_) = api.get("/verification/calibration").json()["results"]
    assert (every["pairs"], every["kappa"]) == (0, None)


@pytest.mark.parametrize(
    ("path", "body", "code", "field"),
    [
        ("/verification/batch", {"limit": 0}, "invalid", "limit"),
        ("/verification/batch", {"votes": 99}, "invalid", "votes"),
        ("/verification/batch", {"filters": []}, "invalid", "filters"),
        ("/verification/batch", {"filters": {"nope": 1}}, "unknown_field", "nope"),
        ("/verification/batch", {"nope": 1}, "unknown_field", "nope"),
        ("/verification/merge-gate", {}, "invalid", "source_branch"),
        (f"/facts/{UNKNOWN}/verify?wait=31", {}, "invalid", "wait"),
        (f"/facts/{UNKNOWN}/verify", {"reason": "no verdict"}, "unknown_field", "reason"),
    ],
)
def test_wrong_input_is_refused(fact: Fact, api: Api, path: str, body: dict, code: str, field: str) -> None:
    with nothing_left():
        refused(api.post(path, body), 400, code, field)


def test_an_archived_fact_is_refused(fact: Fact, api: Api) -> None:
    api.post(f"/facts/{fact.uid}/archive")
    with nothing_left():
        refused(api.post(f"/facts/{fact.uid}/verify"), 409, "illegal_transition")
