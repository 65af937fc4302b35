"""What the heuristic says is a guess wherever it is read: stored by an earlier release, frozen, imported."""

from typing import Any

import pytest

from curation.engines.bundles.engine import KnowledgeBundleEngine
from curation.engines.bundles.keys import BundleKeyEngine
from curation.engines.handoffs.engine import HandoffEngine
from curation.engines.handoffs.packet import compute_sha256
from curation.engines.verification.engine import VerificationEngine
from curation.models import Handoff, Verification, VerificationJob
from memory.actors import Actor, local_actor
from memory.engines.activity.events import EventEngine
from memory.engines.branches.manager import BranchManager
from memory.engines.facts.ageing.rules import BELIEF_SHARES
from memory.engines.facts.engine import FactEngine
from memory.engines.facts.import_export import FactImport
from memory.engines.merging.engine import MergeEngine
from memory.models import Fact, FactAssessment, Project
from tests.curation.fake_judge import verify_fact
from tests.curation.test_bundles import bring, document, reseal
from tests.curation.test_handoffs import write_fact
from tests.memory.api.client import Api

pytestmark = pytest.mark.django_db(transaction=True)
facts, engine, bundles = FactEngine(), VerificationEngine(), KnowledgeBundleEngine()
STATUSES = FactAssessment.Status.values
COUNTS = {"verified": 0, "plausible": 1, "invalidated": 0, "unverified": 1}


@pytest.fixture
def former(actor: Actor, main: Any) -> dict[str, Fact]:
    """Return facts that the heuristic verified and invalidated, as an earlier release stored it."""
    found = {word: write_fact(actor, f"Was {word}.", word, "main") for word in ("verified", "invalidated")}
    FactAssessment.objects.all_versions().update(method="heuristic", by="heuristic")
    return found


def read(fact: Fact, actor: Actor, branch: str = "main") -> tuple[str, str]:
    now = facts.get_fact(fact_id=fact.uid, actor=actor, branch_name=branch)
    return now.verification_status, now.verification_method


def test_stored_verdicts_are_read_as_guesses(api: Api, actor: Actor, former: dict[str, Fact]) -> None:
    good, bad = former["verified"], former["invalidated"]
    assert (read(good, actor), read(bad, actor)) == (("plausible", "heuristic"), ("unverified", "heuristic"))
    rows = {status: api.get(f"/facts?verification_status={status}").json()["results"] for status in STATUSES}
    shown = {status: [row["fact_text"] for row in found] for status, found in rows.items()}
    assert shown == {
        "verified": [],
        "plausible": ["Was verified."],
        "unverified": ["Was invalidated."],
        "invalidated": [],
    }
    hits = api.post("/facts/search", {"query": "was verified or invalidated"}).json()["results"]
    assert [hit["signals"]["verification"] for hit in hits] == [1.0, 1.0]
    past = api.get(f"/facts/{good.uid}?at={api.get('/branches/main/log').json()['results'][0]['id']}").json()
    assert (past["verification_status"], past["verified_at"]) == ("plausible", None)
    for path in ("/verification/summary/main", "/branches/main/stats", "/analytics/overview"):
        assert api.get(path).json()["verification"] == COUNTS
    assert api.get("/analytics/curation").json()["recent_verdicts"] == {"verified": 0, "invalidated": 0}
    titles = [row["title"] for row in api.get("/branches/main/log").json()["results"]]
    assert "Found 1 fact plausible" in titles
    events, _position = EventEngine().read_events(project_id=actor.project_id, after=0)
    lines = [change.line for event in events for change in event.changes if change.type == "verdict"]
    assert lines == ["plausible", "unverified"]


def test_a_guess_weighs_less_than_a_verdict(actor: Actor, write: Any) -> None:
    """Of two on one text the merge keeps the weightier: verified before plausible before unverified."""
    guessed, judged = write("word " * 40, confidence=1.0), write("other " * 40, confidence=1.0)
    BranchManager().create_branch(name="task/x", actor=actor)
    for fact, verdict in ((guessed, "unverified"), (judged, "verified")):
        verify_fact(fact_id=fact.uid, actor=actor)
        facts.set_verification(fact_id=fact.uid, verdict=verdict, actor=actor, branch_name="task/x")
    MergeEngine().merge_branch(source="task/x", actor=actor)
    assert (read(guessed, actor), read(judged, actor)) == (("plausible", "heuristic"), ("verified", "human"))
    assert BELIEF_SHARES["plausible"] == BELIEF_SHARES["unverified"]


def test_stored_ratings_and_jobs_are_read_so(api: Api, actor: Actor, fact: Fact) -> None:
    verify_fact(fact_id=fact.uid, actor=actor)
    Verification.objects.update(verdict="verified")
    VerificationJob.objects.update(counts={"verified": 3, "invalidated": 1, "heuristic": 4, "refused": 0})
    rating = api.get(f"/facts/{fact.uid}/verification").json()["rating"]
    assert (rating["verdict"], rating["method"]) == ("plausible", "heuristic")
    (job,) = api.get("/jobs").json()["results"]
    assert job["counts"] == {"plausible": 3, "unverified": 1, "heuristic": 4, "refused": 0}


def test_a_rating_again_changes_nothing(actor: Actor, write: Any) -> None:
    fact = write("word " * 40, confidence=1.0)
    FactEngine().set_verification(fact_id=fact.uid, verdict="verified", actor=actor)
    FactAssessment.objects.all_versions().update(method="heuristic")
    assert verify_fact(fact_id=fact.uid, actor=actor).applied is False
    assert FactAssessment.objects.all_versions().count() == 1


def test_nobody_may_say_plausible(api: Api, fact: Fact) -> None:
    answer = api.post(f"/facts/{fact.uid}/verify", {"verdict": "plausible"})
    assert (answer.status_code, answer.json()["field"]) == (400, "verdict")
    assert FactAssessment.objects.all_versions().count() == 0


def test_a_frozen_packet_is_read_as_a_guess(api: Api, actor: Actor, former: dict[str, Fact]) -> None:
    judged = write_fact(actor, "A person read this.", branch="main")
    given = {"source_branch": "main", "include_unverified": True, "instructions": "Go on."}
    made = HandoffEngine().create_handoff(fact_ids=[former["verified"].uid, judged.uid], actor=actor, **given)
    assert [fact["verification_method"] for fact in made.facts] == ["heuristic", "human"]
    assert made.verification_status == "partial"
    frozen = [{**fact, "verification_status": "verified"} for fact in made.facts]
    frozen = [{name: fact[name] for name in fact if name != "verification_method"} for fact in frozen]
    made.facts, made.verification_status = frozen, "verified"
    made.sha256 = compute_sha256(made)
    made.save()
    packet = api.get(f"/handoffs/{made.pk}").json()
    assert [fact["verification_status"] for fact in packet["facts"]] == ["plausible", "verified"]
    assert [fact["verification_method"] for fact in packet["facts"]] == ["heuristic", ""]
    assert (packet["verification_status"], "verified" in packet["missing"]) == ("partial", True)
    (row,) = api.get("/handoffs").json()["results"]
    assert row["verification_status"] == "partial"
    unread = Handoff.objects.get()
    assert (unread.facts, unread.sha256) == (frozen, compute_sha256(unread))


def test_a_bundle_takes_no_guess_and_brings_it_as_one(
    actor: Actor, other_project: Project, former: dict[str, Fact]
) -> None:
    assert bundles.create_bundle(name="strict", actor=actor).counts["facts"] == 0
    key, other = BundleKeyEngine().make_signing_key(actor=actor), local_actor(other_project.pk)
    loose = bundles.create_bundle(name="loose", only_verified=False, actor=actor)
    data = document(loose)
    assert [fact["verification_status"] for fact in data["content"]["facts"]] == ["plausible", "unverified"]
    BundleKeyEngine().trust_key(name="Acme", public_key=key.public_key, actor=other)
    report = bring(other, data)
    assert (report.verified, report.reset) == (0, 0)
    (brought,) = FactAssessment.objects.all_versions().filter(branch__project=other_project, deleted=False)
    assert (brought.status, brought.method) == ("plausible", "heuristic")
    for fact in data["content"]["facts"]:
        fact |= {"verification_status": "verified", "verification_method": "heuristic"}
    dry = bring(other, reseal({**data, "name": "older"}), dry_run=True)
    assert (dry.verified, dry.reset) == (0, 0)


@pytest.mark.parametrize(
    ("method", "status"), [("heuristic", "unverified"), ("human", "invalidated"), (None, "invalidated")]
)
def test_an_imported_line_keeps_no_guess(actor: Actor, main: Any, method: Any, status: str) -> None:
    line = {
        "fact_text": "It is the moon.",
        "verification_status": "invalidated",
        "verification_method": method,
    }
    (done,) = FactImport(actor=actor).apply_lines([(1, line)])
    now = facts.get_fact(fact_id=done.fact_id, actor=actor)
    assert now.verification_status == status
