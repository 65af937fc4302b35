"""Verification: jobs that survive a kill and keep to a budget, whose verdict stands, rights, branches."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from curation.engines.verification.engine import VerificationEngine, verify_due
from curation.engines.verification.gates import check_merge_gate, summarize_branch
from curation.models import Score, Verification, VerificationCursor, VerificationJob
from memory.actors import Actor
from memory.engines.access.policies import PolicyEngine
from memory.engines.branches.manager import BranchManager
from memory.engines.branches.revert import RevertEngine
from memory.engines.erasure.engine import ErasureEngine, confirm_name
from memory.engines.facts.bulk_actions import ActionEngine
from memory.engines.facts.engine import FactEngine
from memory.engines.merging.engine import MergeEngine
from memory.exceptions import (
    BranchArchived,
    BranchForbidden,
    Conflict,
    IllegalTransition,
    Invalid,
    NotFound,
    ScopeMissing,
    StaleVersion,
)
from memory.models import BranchPolicy, Commit, Fact, FactAssessment, Project, QueueMessage
from tests.curation.fake_judge import FakeJudge, rating, verify_fact
from tests.memory.fake_provider import failing

pytestmark = pytest.mark.django_db(transaction=True)
engine, facts, branches = VerificationEngine(), FactEngine(), BranchManager()


def run(job: VerificationJob) -> VerificationJob:
    engine.run_job(job.pk)
    job.refresh_from_db()
    return job


def abandon(job: VerificationJob) -> None:
    """Let the time of a worker that was killed run out."""
    VerificationJob.objects.filter(pk=job.pk).update(resume_at=timezone.now())


def act(action: str, uids: Any, actor: Actor, branch: str = "main") -> None:
    ActionEngine().apply_action(action=action, fact_ids=uids, actor=actor, branch_name=branch)


def read(fact: Fact, actor: Actor, branch: str = "main") -> tuple[str, str]:
    now = facts.get_fact(fact_id=fact.uid, actor=actor, branch_name=branch)
    return now.verification_status, now.verification_method


def write_many(write: Any, count: int, branch: str = "main") -> list[Fact]:
    return [write(f"The port of service {n} is 80{n:02} on every host.", branch) for n in range(count)]


# ---- the heuristic -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "scores", "verdict"),
    [
        ({"fact_text": "word " * 40, "confidence": 0.9}, (0.9, 0.5, 1.0), "plausible"),
        ({"fact_text": "one two three four", "category": "bug_fix"}, (0.7, 0.7, 0.2), "unverified"),
        (
            {"fact_text": "one two", "category": "architecture", "confidence": 0.1},
            (0.1, 0.7, 0.1),
            "unverified",
        ),
        ({"fact_text": "one", "confidence": 0}, (0.0, 0.5, 0.05), "unverified"),
        ({"fact_text": "令牌由网关负责续期令牌由网关负责续期"}, (0.7, 0.5, 0.45), "unverified"),
    ],
)
def test_the_heuristic_rates_by_confidence_category_and_length(
    actor: Actor, main: Any, fields: dict, scores: tuple, verdict: str
) -> None:
    fact = facts.write_fact(actor=actor, **fields).fact
    result = verify_fact(fact_id=fact.uid, actor=actor)
    found = {one.dimension: one.value for one in result.scores.all()}
    assert tuple(found[name] for name in ("accuracy", "relevance", "specificity")) == scores
    assert (result.method, result.verdict, result.fallback, result.calls) == ("heuristic", verdict, "", 0)
    expected = ("unverified", "") if verdict == "unverified" else (verdict, "heuristic")
    assert read(fact, actor) == expected


def test_without_a_judge_that_is_said(actor: Actor, fact: Fact) -> None:
    verify_fact(fact_id=fact.uid, actor=actor)
    found = summarize_branch(branch_name="main", actor=actor)
    assert (found.judge, found.facts, found.methods["heuristic"]) == (None, 1, 1)
    assert found.verification == {"verified": 0, "plausible": 1, "unverified": 0, "invalidated": 0}
    now = facts.get_fact(fact_id=fact.uid, actor=actor)
    assert (now.verification_status, now.verified_by, now.verified_at) == ("plausible", "", None)
    assert now.verification_reason == (
        "The heuristic answers plausible or unverified. Average 0.65 of confidence, category and length: no"
        " judgement."
    )


# ---- whose verdict stands ------------------------------------------------------------------------------


def test_a_persons_verdict_stands_against_the_judge(judge: FakeJudge, fact: Fact, actor: Actor) -> None:
    facts.set_verification(fact_id=fact.uid, verdict="verified", reason="read it", actor=actor)
    judge.text = rating(0.0)
    result = verify_fact(fact_id=fact.uid, actor=actor)
    assert (result.verdict, result.applied) == ("invalidated", False)
    assert read(fact, actor) == ("verified", "human")


def test_the_heuristic_never_takes_the_place_of_a_judge(judge: FakeJudge, fact: Fact, actor: Actor) -> None:
    judge.text = rating(0.5)
    assert verify_fact(fact_id=fact.uid, actor=actor).verdict == "unverified"
    judge.fail(500)
    result = verify_fact(fact_id=fact.uid, actor=actor)
    assert (result.method, result.verdict, result.applied) == ("heuristic", "plausible", False)
    assert read(fact, actor) == ("unverified", "judge")


def test_a_judge_takes_the_place_of_the_heuristic(judge: FakeJudge, fact: Fact, actor: Actor) -> None:
    judge.fail(500)
    verify_fact(fact_id=fact.uid, actor=actor)
    assert read(fact, actor) == ("plausible", "heuristic")
    judge.text = rating(0.5)
    verify_fact(fact_id=fact.uid, actor=actor)
    assert read(fact, actor) == ("unverified", "judge")


def test_what_a_person_cleared_a_judge_may_judge_and_the_heuristic_not(
    judge: FakeJudge, fact: Fact, actor: Actor
) -> None:
    facts.set_verification(fact_id=fact.uid, verdict="unverified", actor=actor)
    judge.fail(500)
    assert not verify_fact(fact_id=fact.uid, actor=actor).applied
    assert read(fact, actor) == ("unverified", "human")
    assert verify_fact(fact_id=fact.uid, actor=actor).applied
    assert read(fact, actor) == ("verified", "judge")


def test_an_edit_makes_it_unverified_and_a_revert_takes_the_verdict_back(
    judge: FakeJudge, fact: Fact, actor: Actor
) -> None:
    verify_fact(fact_id=fact.uid, actor=actor)
    commit = Commit.objects.filter(kind="fact.verify").get()
    facts.update_fact(fact_id=fact.uid, updates={"fact_text": "Another text."}, actor=actor)
    assert read(fact, actor)[0] == "unverified"
    _, rated = engine.get_status(fact_id=fact.uid, actor=actor)
    assert rated is None  # the rating was of another text
    RevertEngine().revert_commit(commit_id=commit.pk, actor=actor)
    facts.update_fact(fact_id=fact.uid, updates={"fact_text": fact.fact_text}, actor=actor)
    assert read(fact, actor)[0] == "unverified"


# ---- batches -------------------------------------------------------------------------------------------


def test_a_batch_takes_the_newest_that_the_filters_let_pass(
    judge: FakeJudge, write: Any, actor: Actor
) -> None:
    old, *_ = write_many(write, 3)
    write("A decision that is of another kind.", category="decision")
    job = engine.verify_batch(actor=actor, chosen={"category": ["general"]}, limit=2)
    assert QueueMessage.objects.filter(payload__contains=str(job.pk)).count() == 1
    assert (job.state, job.total, job.position) == ("queued", 2, 0)
    run(job)
    assert (job.state, job.position, job.calls) == ("done", 2, 2)
    assert job.counts == {"verified": 2, "judge": 2, "refused": 0}
    assert (job.input_tokens, job.output_tokens) == (200, 20)
    assert read(old, actor) == ("unverified", "")
    assert Commit.objects.filter(kind="fact.verify").count() == 1  # one commit of all


def test_texts_that_a_judge_has_rated_are_left_out_unless_asked_for(
    judge: FakeJudge, write: Any, actor: Actor
) -> None:
    write_many(write, 2)
    judge.text = rating(0.5)  # stays unverified
    assert run(engine.verify_batch(actor=actor)).position == 2
    assert engine.verify_batch(actor=actor).total == 0
    assert engine.verify_batch(actor=actor, again=True).total == 2


def test_a_batch_stops_at_its_budget(judge: FakeJudge, write: Any, actor: Actor) -> None:
    write_many(write, 5)
    job = run(engine.verify_batch(actor=actor, budget=7, votes=2))
    assert (job.state, job.position, job.calls, len(judge.prompts)) == ("stopped", 3, 6, 6)
    assert job.counts["judge"] == 3
    engine.resume_jobs()
    assert len(judge.prompts) == 6  # it does not go on by itself
    assert engine.verify_batch(actor=actor).total == 2  # the rest


class Killed(BaseException):
    """The worker is killed."""


def test_a_killed_batch_goes_on_where_it_was(
    judge: FakeJudge, write: Any, actor: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only the answer that was under way is asked for again; what was stored before is found."""
    written = write_many(write, 5)
    job = engine.verify_batch(actor=actor)
    with connection.execute_wrapper(killing_at(4)), pytest.raises(Killed):
        engine.run_job(job.pk)
    job.refresh_from_db()
    assert (job.state, job.position, job.calls) == ("running", 0, 3)
    assert Verification.objects.filter(applied=None).count() == 3
    assert {read(fact, actor) for fact in written} == {("unverified", "")}
    run(job)
    assert job.state == "running"  # its worker may still live
    abandon(job)
    engine.resume_jobs()
    job.refresh_from_db()
    assert (job.state, job.position, job.calls) == ("done", 5, 5)
    assert {read(fact, actor) for fact in written} == {("verified", "judge")}
    assert Verification.objects.count() == 5
    assert Score.objects.count() == 15
    assert len(judge.prompts) == 6


def killing_at(number: int) -> Any:
    """Kill the process when it stores its n-th judgement."""
    seen = 0

    def wrapper(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        nonlocal seen
        if sql.startswith("INSERT") and "curation_verification" in sql:
            seen += 1
            if seen == number:
                raise Killed
        return execute(sql, params, many, context)

    return wrapper


def test_a_kill_before_the_commit_loses_no_judgement(judge: FakeJudge, write: Any, actor: Actor) -> None:
    write_many(write, 3)
    job = engine.verify_batch(actor=actor)
    with failing("memory_factassessment"), pytest.raises(KeyboardInterrupt):
        engine.run_job(job.pk)
    abandon(job)
    engine.resume_jobs()
    job.refresh_from_db()
    assert (job.state, job.position, len(judge.prompts)) == ("done", 3, 3)
    assert FactAssessment.objects.all_versions().count() == 3


def test_a_job_runs_once(judge: FakeJudge, fact: Fact, actor: Actor) -> None:
    job = run(engine.verify_batch(actor=actor))
    run(job)
    assert len(judge.prompts) == 1


def test_a_fact_that_goes_or_changes_under_a_job_gets_no_verdict(
    judge: FakeJudge, write: Any, actor: Actor
) -> None:
    first, second, third = write_many(write, 3)
    job = engine.verify_batch(actor=actor)
    facts.archive_fact(fact_id=first.uid, actor=actor)

    def edit(data: str) -> None:
        if "service 1 is" in data:
            facts.update_fact(fact_id=second.uid, updates={"fact_text": "Edited meanwhile."}, actor=actor)

    judge.before = edit
    run(job)
    assert (job.state, job.counts) == ("done", {"verified": 2, "judge": 2, "refused": 1})
    assert read(second, actor) == ("unverified", "")
    assert read(third, actor) == ("verified", "judge")


def test_a_branch_archived_under_a_job_fails_it(judge: FakeJudge, write: Any, actor: Actor) -> None:
    branches.create_branch(name="task/x", actor=actor)
    write("A fact of the task alone, which nobody else has.", "task/x")
    job = engine.verify_batch(actor=actor, branch_name="task/x")
    branches.archive_branch(name="task/x", actor=actor)
    run(job)
    assert (job.state, "task/x" in job.note) == ("failed", True)


# ---- refusals ------------------------------------------------------------------------------------------


def test_a_retired_fact_is_refused(judge: FakeJudge, fact: Fact, actor: Actor) -> None:
    facts.archive_fact(fact_id=fact.uid, actor=actor)
    with pytest.raises(IllegalTransition):
        verify_fact(fact_id=fact.uid, actor=actor)
    with pytest.raises(IllegalTransition):
        engine.start_verification(fact_id=fact.uid, actor=actor)
    assert (VerificationJob.objects.count(), len(judge.prompts)) == (0, 0)


def test_a_viewer_may_not_verify(fact: Fact, project: Project) -> None:
    viewer = Actor(project.pk, "user", label="Vera", scopes=frozenset({"read"}))
    for call in (
        lambda: verify_fact(fact_id=fact.uid, actor=viewer),
        lambda: engine.start_verification(fact_id=fact.uid, actor=viewer),
        lambda: engine.verify_batch(actor=viewer),
    ):
        with pytest.raises(ScopeMissing):
            call()
    assert VerificationJob.objects.count() == 0
    assert engine.get_status(fact_id=fact.uid, actor=viewer)[1] is None


def test_jobs_of_other_branches_and_projects_are_unknown(
    fact: Fact, actor: Actor, project: Project, other_project: Project
) -> None:
    job = engine.verify_batch(actor=actor)
    narrow = Actor(project.pk, "key", scopes=frozenset({"curate"}), branch_patterns=("task/*",))
    foreign = Actor(other_project.pk, "key", scopes=frozenset({"admin"}))
    for other in (narrow, foreign):
        with pytest.raises(NotFound):
            engine.get_job(job_id=job.pk, actor=other)
        assert not engine.list_jobs(actor=other).results
    with pytest.raises(BranchForbidden):
        engine.verify_batch(actor=narrow)
    with pytest.raises(NotFound):
        verify_fact(fact_id=fact.uid, actor=foreign)


@pytest.mark.parametrize(
    "numbers", [{"limit": 0}, {"limit": 10_001}, {"budget": 0}, {"votes": 10}, {"votes": True}]
)
def test_numbers_out_of_range_are_refused(fact: Fact, actor: Actor, numbers: dict) -> None:
    with pytest.raises(Invalid):
        engine.verify_batch(actor=actor, **numbers)
    assert VerificationJob.objects.count() == 0


def test_a_stale_version_and_an_archived_branch_are_refused(fact: Fact, actor: Actor) -> None:
    with pytest.raises(StaleVersion):
        engine.start_verification(fact_id=fact.uid, actor=actor, expected_version=7)
    branches.create_branch(name="task/x", actor=actor)
    branches.archive_branch(name="task/x", actor=actor)
    with pytest.raises(BranchArchived):
        verify_fact(fact_id=fact.uid, actor=actor, branch_name="task/x")


# ---- branches ------------------------------------------------------------------------------------------


def test_a_verdict_is_of_its_branch_alone(judge: FakeJudge, fact: Fact, actor: Actor) -> None:
    branches.create_branch(name="task/x", actor=actor)
    verify_fact(fact_id=fact.uid, actor=actor, branch_name="task/x")
    assert read(fact, actor, "task/x") == ("verified", "judge")
    assert read(fact, actor) == ("unverified", "")
    assert engine.get_status(fact_id=fact.uid, actor=actor)[1] is None
    assert summarize_branch(branch_name="main", actor=actor).verification["verified"] == 0


def test_evidence_of_another_branch_is_not_shown(judge: FakeJudge, fact: Fact, actor: Actor) -> None:
    branches.create_branch(name="task/x", actor=actor)
    facts.update_fact(
        fact_id=fact.uid, updates={"fact_text": "Only on the task."}, actor=actor, branch_name="task/x"
    )
    verify_fact(fact_id=fact.uid, actor=actor)
    assert "Only on the task." not in judge.prompts[0][1]["content"]


# ---- the gate of merges --------------------------------------------------------------------------------


def test_the_merge_gate_counts_and_names_what_stops_it(judge: FakeJudge, write: Any, actor: Actor) -> None:
    branches.create_branch(name="task/x", actor=actor)
    good, bad, open_fact = write_many(write, 3, "task/x")
    judge.text = rating(0.9)
    verify_fact(fact_id=good.uid, actor=actor, branch_name="task/x")
    judge.text = rating(0.1)
    verify_fact(fact_id=bad.uid, actor=actor, branch_name="task/x")
    found = check_merge_gate(source_branch="task/x", actor=actor)
    assert (found.target, found.can_merge) == ("main", False)
    assert (found.verified, found.unverified, found.invalidated) == (1, 1, 1)
    assert set(found.offending) == {bad.uid, open_fact.uid}
    loose = check_merge_gate(source_branch="task/x", actor=actor, require_verified=False)
    assert (loose.can_merge, loose.offending) == (False, (bad.uid,))
    facts.archive_fact(fact_id=bad.uid, actor=actor, branch_name="task/x")
    assert check_merge_gate(source_branch="task/x", actor=actor, require_verified=False).can_merge
    with pytest.raises(Conflict):
        check_merge_gate(source_branch="main", actor=actor)


def test_the_heuristic_opens_no_gate(settings: Any, write: Any, actor: Actor) -> None:
    branches.create_branch(name="task/x", actor=actor)
    (fact,) = write_many(write, 1, "task/x")
    facts.update_fact(fact_id=fact.uid, updates={"confidence": 1.0}, actor=actor, branch_name="task/x")
    verify_fact(fact_id=fact.uid, actor=actor, branch_name="task/x")
    assert read(fact, actor, "task/x") == ("plausible", "heuristic")
    assert check_reason(actor) == (
        "Unverified facts: 1. Have a person verify them on task/x, all in one action, or"
        " set a judge (DAY1_JUDGE_MODEL), or ask for less in the policy of main."
    )
    settings.DAY1 = {**settings.DAY1, "judge_model": "any", "judge_api_key": "k"}
    assert "or the judge rate them, or ask for less in the policy of main." in check_reason(actor)
    PolicyEngine().set_policy(pattern="main", accept_methods=["judge", "heuristic"], actor=actor)
    assert "1. Have the judge rate them on task/x, or ask for less" in check_reason(actor)
    assert check_merge_gate(source_branch="task/x", actor=actor).verifiable == ()
    BranchPolicy.objects.update(accept_methods=["heuristic"])  # as an earlier release let it be
    assert PolicyEngine().get_policy(name="main", actor=actor).accept_methods == ("human", "judge")
    with pytest.raises(Conflict):
        MergeEngine().merge_branch(source="task/x", actor=actor)
    found = check_merge_gate(source_branch="task/x", actor=actor)
    assert (found.verified, found.unverified, found.verifiable) == (0, 1, (fact.uid,))
    act("verify", found.verifiable, actor, "task/x")
    assert MergeEngine().merge_branch(source="task/x", actor=actor)
    assert read(fact, actor) == ("verified", "human")


def check_reason(actor: Actor) -> str:
    """Return what the gate of main says of task/x."""
    checks = MergeEngine().preview_merge(source="task/x", actor=actor).check.results
    (found,) = (one for one in checks if one.name == "require_verified")
    assert found.state == "failed"
    return found.reason


# ---- again ---------------------------------------------------------------------------------------------


def test_edited_facts_are_verified_again(judge: FakeJudge, write: Any, actor: Actor) -> None:
    first, second = write_many(write, 2)
    verify_fact(fact_id=first.uid, actor=actor)
    assert verify_due() == 0
    facts.update_fact(fact_id=first.uid, updates={"fact_text": "Edited since."}, actor=actor)
    facts.update_fact(fact_id=second.uid, updates={"fact_text": "Never judged, edited."}, actor=actor)
    assert verify_due() == 1
    assert verify_due() == 0  # it runs already
    engine.resume_jobs()
    assert read(first, actor) == ("verified", "judge")
    assert read(second, actor) == ("unverified", "")
    assert verify_due() == 0


def test_old_judgements_are_made_again(judge: FakeJudge, fact: Fact, actor: Actor, settings: Any) -> None:
    verify_fact(fact_id=fact.uid, actor=actor)
    Verification.objects.update(created_at=timezone.now() - timedelta(days=91))
    settings.DAY1 = {**settings.DAY1, "judge_days": 0}
    assert verify_due() == 0
    settings.DAY1 = {**settings.DAY1, "judge_days": 90}
    judge.text = rating(0.1)
    assert verify_due() == 1
    engine.resume_jobs()
    assert read(fact, actor) == ("invalidated", "judge")
    assert Verification.objects.filter(latest=True).count() == 1
    assert verify_due() == 0


def test_what_is_due_keeps_to_the_calls_of_an_hour(
    judge: FakeJudge, write: Any, actor: Actor, settings: Any
) -> None:
    written = write_many(write, 5)
    run(engine.verify_batch(actor=actor))
    settings.DAY1 = {**settings.DAY1, "judge_budget": 2}
    for n, fact in enumerate(written):
        facts.update_fact(fact_id=fact.uid, updates={"fact_text": f"Edited {n}."}, actor=actor)
    due = []
    for _ in range(4):
        due.append(verify_due())
        engine.resume_jobs()
    assert due == [2, 2, 1, 0]
    assert {read(fact, actor) for fact in written} == {("verified", "judge")}


def test_a_fact_whose_judge_failed_is_due_after_a_day(judge: FakeJudge, fact: Fact, actor: Actor) -> None:
    judge.fail(500)
    verify_fact(fact_id=fact.uid, actor=actor)
    assert verify_due() == 0
    Verification.objects.update(created_at=timezone.now() - timedelta(hours=25))
    assert verify_due() == 1
    engine.resume_jobs()
    assert read(fact, actor) == ("verified", "judge")


def test_retired_facts_are_due_only_once(judge: FakeJudge, fact: Fact, actor: Actor) -> None:
    verify_fact(fact_id=fact.uid, actor=actor)
    Verification.objects.update(created_at=timezone.now() - timedelta(days=91))
    facts.archive_fact(fact_id=fact.uid, actor=actor)
    assert verify_due() == 1
    engine.resume_jobs()
    assert verify_due() == 0


def test_without_a_judge_nothing_is_due(fact: Fact, actor: Actor) -> None:
    verify_fact(fact_id=fact.uid, actor=actor)
    facts.update_fact(fact_id=fact.uid, updates={"fact_text": "Edited since."}, actor=actor)
    assert verify_due() == 0
    assert VerificationCursor.objects.count() == 1


# ---- erasure -------------------------------------------------------------------------------------------


def test_an_erased_fact_takes_the_judges_words_with_it(judge: FakeJudge, write: Any, actor: Actor) -> None:
    fact = write("Ada's badge opens door 17 of the annex.")
    judge.text = rating(0.9, reason="The seventeenth entrance is hers.")
    verify_fact(fact_id=fact.uid, actor=actor)
    erase(fact, actor)
    assert Score.objects.count() == 3
    assert not [one for one in Score.objects.all() if "seventeenth" in one.explanation]


def erase(fact: Fact, actor: Actor) -> None:
    target = str(fact.uid)
    name = confirm_name(actor.project_id, "fact", target)
    ErasureEngine().erase(scope="fact", target=target, confirm=name, actor=actor)
