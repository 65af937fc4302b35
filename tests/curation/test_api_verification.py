"""Verification over REST: verdicts, ratings, batches, jobs, the gate, refusals."""

from threading import Thread

import pytest

from curation.models import VerificationJob
from curation.tasks import sweep_verification, verify
from memory.models import Fact
from tests.curation.fake_judge import FakeJudge
from tests.memory.api.client import Api
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
