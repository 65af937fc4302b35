"""What a merge request answers while it cannot be merged, after it was, and after something was withdrawn."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from memory.actors import Actor
from memory.conf import conf
from memory.engines.access.policies import PolicyEngine
from memory.engines.activity.events import EventEngine
from memory.engines.branches.manager import BranchManager
from memory.engines.facts.engine import FactEngine
from memory.engines.merging.checked_merge import MergeCheck, MergeResult, check_plan, merge_checked
from memory.engines.merging.engine import MergeEngine
from memory.engines.merging.gates import GateResult
from memory.engines.merging.plan import Decision, FullPlan
from memory.engines.merging.request_history import RequestHistoryEngine
from memory.engines.merging.request_previews import build_options
from memory.engines.merging.requests import MergeRequestEngine
from memory.engines.merging.strategies import MergeOptions
from memory.exceptions import Conflict, IllegalTransition, NotFound, ScopeMissing
from memory.models import AuditEntry, Fact, MergeDecision, MergeRequest
from tests.memory.api.client import nothing_left
from tests.memory.merging.conftest import TASK, texts, write_verified

pytestmark = pytest.mark.django_db(transaction=True)
ENGINE, HISTORY, MERGES = MergeRequestEngine(), RequestHistoryEngine(), MergeEngine()


class TestFastForward:
    TEXT = "main has 1 commits of its own: it cannot be fast-forwarded."

    @pytest.fixture
    def moved(self, mira: Actor, learned: Fact) -> Any:
        """Open a request to fast-forward main, which then goes on by itself."""
        request = ENGINE.create_request(source=TASK, strategy="fast_forward", actor=mira)
        FactEngine().write_fact(fact_text="Main went on.", actor=mira)
        return request

    def test_a_target_that_moved_fails_a_check(self, vera, moved):
        found = ENGINE.check_request(request_id=1, actor=vera)
        assert [(one.name, one.reason) for one in found.check.failed] == [("fast_forward", self.TEXT)]
        shown = ENGINE.plan_request(request_id=1, actor=vera).plan
        assert shown.counts["fact"] == {"applied": 1}

    def test_the_merge_is_refused_with_the_reason(self, vera, ada, moved):
        for actor, force in ((vera, False), (ada, True)):
            with nothing_left(), pytest.raises(Conflict) as caught:
                ENGINE.merge_request(request_id=1, actor=actor, force=force)
            assert caught.value.text == f"The merge is refused by fast_forward: {self.TEXT}"

    def test_an_approval_is_done_as_a_whole(self, vera, moved):
        found = ENGINE.approve_request(request_id=1, actor=vera)
        assert (found.request.state, [one.counts for one in found.approvals]) == ("approved", [True])
        assert [one.name for one in found.check.failed] == ["fast_forward"]

    def test_without_a_request_too(self, vera, project, learned):
        FactEngine().write_fact(fact_text="Main went on.", actor=vera)
        preview = MERGES.preview_merge(source=TASK, strategy="fast_forward", actor=vera)
        assert [one.name for one in preview.check.failed] == ["fast_forward"]
        with nothing_left(), pytest.raises(Conflict, match="refused by fast_forward"):
            MERGES.merge_branch(source=TASK, strategy="fast_forward", actor=vera)

    def test_a_target_that_stood_still_passes(self, mira, vera, learned, project):
        ENGINE.create_request(source=TASK, strategy="fast_forward", actor=mira)
        assert ENGINE.merge_request(request_id=1, actor=vera).request.state == "merged"
        assert texts("main", project) == {learned.fact_text}


class TestWithdrawn:
    @pytest.fixture
    def approved(self, mira: Actor, vera: Actor, ada: Actor, conflict: Fact) -> Fact:
        """Approve a request, and then decide its conflict."""
        PolicyEngine().set_policy(pattern="main", approvals=1, actor=ada)
        ENGINE.create_request(source=TASK, actor=mira)
        ENGINE.approve_request(request_id=1, actor=vera)
        ENGINE.decide_conflicts(request_id=1, decisions=[Decision(conflict.uid, "source")], actor=mira)
        return conflict

    def test_a_decision_that_is_taken_back_does_not_bring_an_approval_back(self, mira, vera, approved):
        assert ENGINE.get_request(request_id=1, actor=mira).state == "open"
        ENGINE.withdraw_decision(request_id=1, uid=approved.uid, actor=mira)
        found = ENGINE.check_request(request_id=1, actor=mira)
        assert (found.request.state, [one.counts for one in found.approvals]) == ("open", [False])
        assert {one.name for one in found.check.failed} == {"conflicts", "approvals"}
        assert ENGINE.approve_request(request_id=1, actor=vera).request.state == "approved"

    def test_a_decision_that_is_taken_back_is_told(self, mira, vera, person, project, approved):
        ENGINE.withdraw_decision(request_id=1, uid=approved.uid, actor=vera)
        told = [(one.name, one.by, one.count) for one in HISTORY.list_events(request_id=1, actor=mira)]
        assert told[-1] == ("decision_withdrawn", "vera", 1)
        last = AuditEntry.objects.order_by("id").last()
        assert (last.action, last.detail["memory"]) == ("merge_request.withdraw", f"fact {approved.uid}")
        events, _ = EventEngine().read_events(project_id=project.pk, after=0)
        assert (events[-1].kind, events[-1].branch) == ("merge_request.withdraw", "main")
        robot = person("robot", "write", branch_patterns=("task/*",))
        assert [one.name for one in HISTORY.list_events(request_id=1, actor=robot)] == ["opened", "approved"]

    def test_what_was_not_decided_is_refused(self, mira, approved):
        ENGINE.withdraw_decision(request_id=1, uid=approved.uid, actor=mira)
        with nothing_left(), pytest.raises(NotFound, match="There is no decision on fact"):
            ENGINE.withdraw_decision(request_id=1, uid=approved.uid, actor=mira)

    def test_an_approval_is_taken_back_by_who_gave_it(self, mira, vera, ada, person, request_for):
        ENGINE.approve_request(request_id=1, actor=vera)
        with nothing_left(), pytest.raises(NotFound, match="You have not approved merge request 1"):
            ENGINE.withdraw_approval(request_id=1, actor=ada)
        with nothing_left(), pytest.raises(ScopeMissing):
            ENGINE.withdraw_approval(request_id=1, actor=person("vera", "curate"))
        assert ENGINE.withdraw_approval(request_id=1, actor=vera).state == "open"
        assert list(ENGINE.check_request(request_id=1, actor=mira).approvals) == []
        last = AuditEntry.objects.order_by("id").last()
        assert (last.action, last.actor_label) == ("merge_request.withdraw", "vera")
        assert (last.detail["withdrawn"], last.detail["count"]) == ("approval", 1)
        told = [(one.name, one.by, one.count) for one in HISTORY.list_events(request_id=1, actor=mira)]
        assert told == [("opened", "mira", 0), ("approval_withdrawn", "vera", 0)]

    def test_nothing_is_taken_back_of_a_closed_one(self, mira, vera, request_for):
        ENGINE.approve_request(request_id=1, actor=vera)
        ENGINE.merge_request(request_id=1, actor=vera)
        with nothing_left(), pytest.raises(IllegalTransition):
            ENGINE.withdraw_approval(request_id=1, actor=vera)
        with nothing_left(), pytest.raises(IllegalTransition):
            ENGINE.withdraw_decision(request_id=1, uid=request_for.pk, actor=vera)


class TestWithdrawnDuringTheMerge:
    """Between the checks of a merge and its locks others go on."""

    @pytest.fixture
    def merge(self, mira: Actor, vera: Actor, ada: Actor, conflict: Fact) -> Any:
        """Return the merge of an approved request, during which something happens once."""
        PolicyEngine().set_policy(pattern="main", approvals=1, actor=ada)
        ENGINE.create_request(source=TASK, actor=mira)
        ENGINE.decide_conflicts(request_id=1, decisions=[Decision(conflict.uid, "source")], actor=mira)
        ENGINE.approve_request(request_id=1, actor=vera)

        def merge(*happens: Any) -> MergeResult:
            left = list(happens)

            def check(plan: FullPlan, options: MergeOptions) -> MergeCheck:
                found = check_plan(plan, options)
                while left:
                    left.pop(0)()
                return found

            options = build_options(ENGINE.get_request(request_id=1, actor=mira))
            return merge_checked(options, mira, "", checker=check)

        return merge

    def refuse(self, merge: Any, *happens: Any) -> None:
        with pytest.raises(Conflict, match="refused by approvals"):
            merge(*happens)
        request = MergeRequest.objects.get()
        assert (request.pending, request.merge_commit, request.target.head) == (
            True,
            None,
            request.target_seq,
        )

    def test_an_approval_counts_no_more(self, vera, merge):
        self.refuse(merge, lambda: ENGINE.withdraw_approval(request_id=1, actor=vera))

    def test_nor_does_one_of_before_a_decision_that_was_made_again(self, mira, conflict, merge):
        again = [Decision(conflict.uid, "source")]
        self.refuse(
            merge,
            lambda: ENGINE.withdraw_decision(request_id=1, uid=conflict.uid, actor=mira),
            lambda: ENGINE.decide_conflicts(request_id=1, decisions=again, actor=mira),
        )

    def test_what_is_approved_anew_is_merged(self, vera, merge):
        merge(
            lambda: ENGINE.withdraw_approval(request_id=1, actor=vera),
            lambda: ENGINE.approve_request(request_id=1, actor=vera),
        )
        assert MergeRequest.objects.get().state == "merged"


def decide_beside(name: str, plan: Any, options: Any, policy: Any) -> GateResult:
    """Decide a conflict while the request is checked."""
    actor = Actor(options.source.project_id, "user", "ned", "ned", frozenset({"merge"}))
    if not options.decisions:
        ENGINE.decide_conflicts(request_id=1, choice="target", actor=actor)
    return GateResult(name, "passed", "")


def test_an_approval_covers_no_decision_of_meanwhile(mira, vera, conflict, settings):
    ENGINE.create_request(source=TASK, actor=mira)
    gates = {**conf().merge_gates, "secrets": f"{__name__}.decide_beside"}
    settings.DAY1 = {**settings.DAY1, "merge_gates": gates}
    text = "The decisions on merge request 1 changed meanwhile: look at them again."
    with pytest.raises(Conflict) as caught:
        ENGINE.approve_request(request_id=1, actor=vera)
    assert caught.value.text == text
    assert list(ENGINE.check_request(request_id=1, actor=mira).approvals) == []
    assert ENGINE.approve_request(request_id=1, actor=vera).request.state == "approved"


class TestStatedTimes:
    """An actor may state a time in the past; an approval is still of the decisions that there were."""

    @pytest.fixture
    def approved(self, mira, vera, conflict):
        ENGINE.create_request(source=TASK, actor=mira)
        ENGINE.decide_conflicts(request_id=1, choice="source", actor=mira)
        return ENGINE.approve_request(request_id=1, actor=vera).request

    def test_a_decision_of_before_an_approval_ends_it(self, mira, vera, ada, approved):
        PolicyEngine().set_policy(pattern="main", approvals=1, actor=ada)
        past = replace(mira, told_at=timezone.now() - timedelta(days=3))
        ENGINE.decide_conflicts(request_id=1, choice="target", actor=past)
        assert [one.counts for one in ENGINE.check_request(request_id=1, actor=mira).approvals] == [False]
        with pytest.raises(Conflict, match="approvals"):
            ENGINE.merge_request(request_id=1, actor=vera)

    def test_so_does_one_that_is_withdrawn(self, mira, conflict, approved):
        past = replace(mira, told_at=timezone.now() - timedelta(days=3))
        ENGINE.withdraw_decision(request_id=1, uid=conflict.uid, actor=past)
        assert [one.outdated for one in ENGINE.check_request(request_id=1, actor=mira).approvals] == [True]

    def test_an_approval_of_before_the_decisions_counts(self, mira, vera, approved):
        past = replace(vera, told_at=timezone.now() - timedelta(days=3))
        assert ENGINE.approve_request(request_id=1, actor=past).request.state == "approved"

    def test_each_call_is_taken_back_alone(self, mira, approved):
        past = replace(mira, told_at=timezone.now() - timedelta(days=3))
        first, again = (
            ENGINE.decide_conflicts(request_id=1, choice=choice, kind="fact", actor=past).decided_at
            for choice in ("target", "skip")
        )
        with pytest.raises(NotFound):  # all of it was decided anew
            ENGINE.withdraw_decision(request_id=1, decided_at=first, actor=mira)
        ENGINE.withdraw_decision(request_id=1, decided_at=again, actor=mira)
        assert not MergeDecision.objects.filter(kind="fact").exists()


class TestReadDecisions:
    """Who approves says which decisions were read."""

    def test_others_are_not_approved(self, mira, vera, conflict):
        opened = ENGINE.create_request(source=TASK, actor=mira)
        read_at = ENGINE.decide_conflicts(request_id=1, choice="source", actor=mira).decided_at
        for earlier in (opened.created_at, read_at - timedelta(seconds=1)):
            with pytest.raises(Conflict, match="The decisions on merge request 1 changed meanwhile"):
                ENGINE.approve_request(request_id=1, decided_at=earlier, actor=vera)
        assert list(ENGINE.check_request(request_id=1, actor=mira).approvals) == []
        done = ENGINE.approve_request(request_id=1, decided_at=read_at, actor=vera)
        assert done.request.state == "approved"

    def test_nor_is_the_first_one(self, mira, vera, conflict):
        opened = ENGINE.create_request(source=TASK, actor=mira)
        done = ENGINE.approve_request(request_id=1, decided_at=opened.created_at, actor=vera)
        assert done.request.state == "approved"


class TestWho:
    def test_each_event_names_the_kind_of_its_actor(self, mira, project, conflict):
        agent = Actor(project.pk, "key", "k1", "robot", frozenset({"merge"}))
        ENGINE.create_request(source=TASK, actor=mira)
        ENGINE.decide_conflicts(request_id=1, choice="target", actor=agent)
        ENGINE.reject_request(request_id=1, reason="No.", actor=agent)
        found = [(one.name, one.by, one.kind) for one in HISTORY.list_events(request_id=1, actor=mira)]
        assert found == [
            ("opened", "mira", "user"),
            ("decided", "robot", "key"),
            ("rejected", "robot", "key"),
        ]

    def test_who_may_not_read_the_target_sees_no_decision_and_no_commit_of_it(
        self, mira, vera, person, conflict
    ):
        ENGINE.create_request(source=TASK, actor=mira)
        ENGINE.decide_conflicts(request_id=1, choice="source", actor=vera)
        ENGINE.merge_request(request_id=1, actor=vera)
        robot = person("robot", "write", branch_patterns=("task/*",))
        found = [(one.name, one.commit) for one in HISTORY.list_events(request_id=1, actor=robot)]
        assert found == [("opened", None), ("merged", None)]


class TestClosed:
    def test_says_why_it_is_not_checked(self, mira, vera, request_for):
        assert ENGINE.check_request(request_id=1, actor=vera).not_checked == ""
        ENGINE.merge_request(request_id=1, actor=vera)
        found = ENGINE.check_request(request_id=1, actor=vera)
        assert (found.check, found.not_checked) == (None, "Merge request 1 is merged already.")

    def test_says_that_a_branch_is_archived(self, mira, vera, request_for):
        BranchManager().archive_branch(name=TASK, actor=mira)
        text = f"The branch {TASK} is archived and takes no writes: restore it first."
        assert ENGINE.check_request(request_id=1, actor=vera).not_checked == text

    def test_has_the_seqs_of_its_merge(self, mira, vera, learned, task, main):
        other = write_verified(mira, "Builds run at night.")
        picking = {"strategy": "cherry_pick", "ids": [other.uid]}
        opened = ENGINE.create_request(source=TASK, actor=mira, **picking)
        later = FactEngine().update_fact(
            fact_id=other.uid, updates={"tags": ["ci"]}, branch_name=TASK, actor=mira
        )
        FactEngine().write_fact(fact_text="Main went on.", actor=mira)
        task.refresh_from_db()
        main.refresh_from_db()
        merged = ENGINE.merge_request(request_id=1, actor=vera).request
        assert (merged.source_seq, merged.target_seq) == (task.head, main.head)
        assert merged.source_seq > opened.source_seq
        commits = HISTORY.list_commits(request_id=1, actor=vera).results
        assert (len(commits), commits[0].seq) == (task.head - task.fork_seq, later.seq_from)

    def test_has_the_seqs_at_which_it_was_approved(self, mira, vera, request_for, task):
        write_verified(mira, "One more.")
        task.refresh_from_db()
        request = ENGINE.approve_request(request_id=1, actor=vera).request
        assert (request.source_seq, request.approved_seq) == (task.head, task.head)

    def test_a_forced_merge_answers_what_it_overruled(self, mira, ada, learned):
        FactEngine().write_fact(fact_text="A guess.", branch_name=TASK, actor=mira)
        result = MERGES.merge_branch(source=TASK, force=True, actor=ada)
        assert (result.check.mergeable, [one.name for one in result.check.failed]) == (
            False,
            ["require_verified"],
        )
