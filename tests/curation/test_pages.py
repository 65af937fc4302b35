"""The pages of verification, in both frames; who may not sees no button and is refused."""

from typing import Any

import pytest
from django.test import Client

from curation.engines.verification.engine import VerificationEngine
from curation.models import VerificationJob
from memory.actors import Actor
from memory.engines.facts.engine import FactEngine
from memory.models import Fact
from tests.curation.fake_judge import FakeJudge, rating, verify_fact

pytestmark = pytest.mark.django_db(transaction=True)
engine = VerificationEngine()


def text_of(client: Client, path: str, status: int = 200) -> str:
    answer = client.get(path)
    assert answer.status_code == status
    return answer.content.decode()


def test_a_batch_is_begun_and_followed(judge: FakeJudge, fact: Fact, curator: Client) -> None:
    answer = curator.post("/p/test/verification", {"limit": "10", "budget": "5"})
    job = VerificationJob.objects.get()
    assert (answer.status_code, answer.url) == (302, f"/p/test/verification/jobs/{job.pk}")
    page = text_of(curator, answer.url)
    assert "queued" in page
    assert "<dt>Made</dt>" in page
    assert "<dt>Ended</dt>" not in page
    assert 'hx-trigger="load delay:2s"' in page
    engine.run_job(job.pk)
    page = text_of(curator, answer.url)
    assert 'hx-trigger="load delay' not in page
    assert "rated by the judge" in page
    assert "<dt>Ended</dt>" in page
    fragment = curator.get(answer.url, headers={"HX-Request": "true"}).content.decode()
    assert fragment.lstrip().startswith("<section")
    assert "fake-judge rates facts" in text_of(curator, "/p/test/verification")


def test_the_fact_shows_its_rating(
    judge: FakeJudge, fact: Fact, actor: Actor, curator: Client, viewer: Client
) -> None:
    path = f"/p/test/facts/{fact.uid}"
    assert "Ask the judge" in text_of(curator, path)
    assert "Ask the judge" not in text_of(viewer, path)
    judge.text = rating(0.2, reason="The <b>code</b> says otherwise.")
    assert curator.post(f"{path}/judge").status_code == 302
    engine.resume_jobs()
    page = text_of(viewer, path)
    assert "by the judge" in page
    assert "The &lt;b&gt;code&lt;/b&gt; says otherwise." in page
    assert "0.20" in page


def test_a_heuristic_rating_never_looks_like_a_judgement(fact: Fact, actor: Actor, viewer: Client) -> None:
    verify_fact(fact_id=fact.uid, actor=actor)
    page = text_of(viewer, f"/p/test/facts/{fact.uid}")
    assert "by a rule alone" in page
    assert "by the judge" not in page


def test_calibration_has_a_table(
    judge: FakeJudge, fact: Fact, actor: Actor, write: Any, curator: Client
) -> None:
    assert "No text has a verdict of both yet." in text_of(curator, "/p/test/verification/calibration")
    other = write("Another that the judge finds wrong.")
    for one, verdict, score in ((fact, "verified", 0.9), (other, "invalidated", 0.1)):
        FactEngine().set_verification(fact_id=one.uid, verdict=verdict, actor=actor)
        judge.text = rating(score)
        verify_fact(fact_id=one.uid, actor=actor)
    page = text_of(curator, "/p/test/verification/calibration")
    assert "fake-judge" in page
    assert "100 %" in page
    assert "1.00 (almost perfect)" in page
