"""Calibration: the judge beside the people, on the same texts."""

from collections import Counter
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from curation.engines.verification.calibration import VERDICTS, calibrate, compute_kappa
from curation.engines.verification.engine import VerificationEngine
from memory.actors import Actor
from memory.engines.branches.manager import BranchManager
from memory.engines.facts.engine import FactEngine
from memory.exceptions import ScopeMissing
from memory.models import Fact, Project
from tests.curation.fake_judge import MODEL, FakeJudge, rating, verify_fact

engine, facts = VerificationEngine(), FactEngine()
SAYS = {"verified": rating(0.9), "unverified": rating(0.5), "invalidated": rating(0.1)}
PAIRS = [
    *[("verified", "verified")] * 4,
    ("verified", "unverified"),
    *[("invalidated", "invalidated")] * 2,
    ("invalidated", "verified"),
]


def judge_and_say(
    fact: Fact, actor: Actor, judge: FakeJudge, said: str, verdict: str, branch: str = "main"
) -> None:
    facts.set_verification(fact_id=fact.uid, verdict=said, actor=actor, branch_name=branch)
    judge.text = SAYS[verdict]
    verify_fact(fact_id=fact.uid, actor=actor, branch_name=branch)


@pytest.mark.django_db(transaction=True)
def test_kappa_and_table_come_from_the_curators_own_verdicts(
    judge: FakeJudge, write: Any, actor: Actor
) -> None:
    for n, (said, verdict) in enumerate(PAIRS):
        judge_and_say(write(f"Service {n} listens on port 80{n}."), actor, judge, said, verdict)
    facts.set_verification(fact_id=write("Nobody asked the judge.").uid, verdict="verified", actor=actor)
    verify_fact(fact_id=write("No person looked at this.").uid, actor=actor)
    every, one = calibrate(actor=actor)
    assert (every.model, one.model, one.prompt) == ("", MODEL, "verify-1")
    assert every.table == one.table
    assert (one.pairs, one.agreement) == (8, 0.75)
    assert one.table["verified"] == {"verified": 4, "unverified": 1, "invalidated": 0}
    assert one.table["invalidated"] == {"verified": 1, "unverified": 0, "invalidated": 2}
    # observed 6/8; by chance (5·5 + 3·2) / 64
    assert one.kappa == round((0.75 - 31 / 64) / (1 - 31 / 64), 4)


@pytest.mark.django_db(transaction=True)
def test_only_the_newest_on_the_same_text_counts(judge: FakeJudge, fact: Fact, actor: Actor) -> None:
    judge_and_say(fact, actor, judge, "verified", "invalidated")
    judge_and_say(fact, actor, judge, "invalidated", "invalidated")
    (every, _) = calibrate(actor=actor)
    assert (every.pairs, every.agreement, every.kappa) == (1, 1.0, None)
    facts.set_verification(fact_id=fact.uid, verdict="unverified", actor=actor)  # cleared
    assert calibrate(actor=actor)[0].pairs == 0
    facts.set_verification(fact_id=fact.uid, verdict="verified", actor=actor)
    facts.update_fact(fact_id=fact.uid, updates={"fact_text": "Another text."}, actor=actor)
    verify_fact(fact_id=fact.uid, actor=actor)  # a person said nothing of this text
    assert calibrate(actor=actor)[0].pairs == 1


@pytest.mark.django_db(transaction=True)
def test_the_heuristic_is_not_calibrated_and_viewers_may_not_see(
    fact: Fact, actor: Actor, project: Project
) -> None:
    facts.set_verification(fact_id=fact.uid, verdict="verified", actor=actor)
    verify_fact(fact_id=fact.uid, actor=actor)
    (every,) = calibrate(actor=actor)
    assert (every.pairs, every.agreement, every.kappa) == (0, None, None)
    with pytest.raises(ScopeMissing):
        calibrate(actor=Actor(project.pk, "user", scopes=frozenset({"write"})))


@pytest.mark.django_db(transaction=True)
def test_branches_that_an_actor_may_not_use_do_not_count(
    judge: FakeJudge, fact: Fact, actor: Actor, project: Project
) -> None:
    BranchManager().create_branch(name="task/x", actor=actor)
    judge_and_say(fact, actor, judge, "verified", "verified", "task/x")
    narrow = Actor(project.pk, "key", scopes=frozenset({"curate"}), branch_patterns=("main",))
    assert (calibrate(actor=actor)[0].pairs, calibrate(actor=narrow)[0].pairs) == (1, 0)


pairs_of_verdicts = st.lists(
    st.tuples(st.sampled_from(VERDICTS), st.sampled_from(VERDICTS)), min_size=1, max_size=40
)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(pairs_of_verdicts)
def test_kappa_is_at_most_one_and_does_not_ask_who_is_first(pairs: list[tuple[str, str]]) -> None:
    kappa = compute_kappa(Counter(pairs))
    assert kappa == compute_kappa(Counter((other, one) for one, other in pairs))
    assert kappa is None or -1 <= kappa <= 1
    if all(one == other for one, other in pairs) and len(set(pairs)) > 1:
        assert kappa == 1
