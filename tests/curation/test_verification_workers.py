"""Two workers on one batch of verification: no judgement twice, no verdict twice, nothing lost."""

from typing import Any

import pytest
from django.utils import timezone

from curation.engines.verification.engine import VerificationEngine
from curation.engines.verification.run import VerificationRun
from curation.models import Score, Verification, VerificationJob
from memory.actors import Actor
from memory.models import Commit
from tests.curation.fake_judge import FakeJudge

pytestmark = pytest.mark.django_db(transaction=True)
engine = VerificationEngine()


@pytest.fixture
def job(judge: FakeJudge, write: Any, actor: Actor, settings: Any) -> VerificationJob:
    settings.DAY1 = {**settings.DAY1, "judge_timeout": 60.0}  # while it answers, another worker does the job
    for number in range(3):
        write(f"The port of service {number} is 80{number:02} on every host.")
    return engine.verify_batch(actor=actor)


def take_over(job: VerificationJob) -> None:
    """Let the lease of a worker run out and another one end the job."""
    VerificationJob.objects.filter(pk=job.pk).update(resume_at=timezone.now())
    engine.resume_jobs()


def check_once(job: VerificationJob, calls: int) -> None:
    """Check that each fact was judged once, in one commit, and what was paid for."""
    job.refresh_from_db()
    assert (job.state, job.position, job.calls) == ("done", 3, calls)
    assert job.counts == {"verified": 3, "judge": 3, "refused": 0}
    assert Verification.objects.filter(job=job).count() == 3
    assert Score.objects.filter(verification__job=job).count() == 9
    assert Commit.objects.filter(kind="fact.verify").count() == 1


def test_one_job_is_one_workers(judge: FakeJudge, job: VerificationJob) -> None:
    begun: list[bool] = []

    def begin_other(text: str) -> None:
        if not begun:
            begun.append(True)
            engine.run_job(job.pk)  # its lease has not run out: this one has nothing to do

    judge.before = begin_other
    engine.run_job(job.pk)
    assert len(judge.prompts) == 3
    check_once(job, 3)


def test_one_that_slept_while_it_asked_stores_nothing(judge: FakeJudge, job: VerificationJob) -> None:
    slept: list[bool] = []

    def sleep(text: str) -> None:
        if not slept:
            slept.append(True)
            take_over(job)

    judge.before = sleep
    engine.run_job(job.pk)
    assert len(judge.prompts) == 4  # the answer that came too late is not stored
    check_once(job, 3)


def test_one_that_slept_before_its_commit_gives_no_verdict_twice(
    judge: FakeJudge, job: VerificationJob, monkeypatch: pytest.MonkeyPatch
) -> None:
    original, slept = VerificationRun._commit_portion, list[bool]()

    def sleep(self: VerificationRun, *args: Any) -> None:
        if not slept:
            slept.append(True)
            take_over(job)
        original(self, *args)

    monkeypatch.setattr(VerificationRun, "_commit_portion", sleep)
    engine.run_job(job.pk)
    assert len(judge.prompts) == 3  # the stored judgements are found
    check_once(job, 3)
