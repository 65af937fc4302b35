"""Merge requests: from the question to the merge and back, and all that is refused on the way."""

import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection, connections

from memory.actors import Actor, local_actor
from memory.conf import conf
from memory.engines.access.key_actors import get_actor
from memory.engines.access.keys import KeyEngine
from memory.engines.access.policies import PolicyEngine
from memory.engines.activity.events import EventEngine
from memory.engines.branches.manager import BranchManager
from memory.engines.branches.revert import RevertEngine
from memory.engines.erasure.engine import ErasureEngine
from memory.engines.facts.engine import FactEngine
from memory.engines.merging.engine import MergeEngine
from memory.engines.merging.gates import GateResult
from memory.engines.merging.plan import Decision
from memory.engines.merging.request_history import RequestHistoryEngine
from memory.engines.merging.requests import MergeRequestEngine
from memory.exceptions import (
    BranchArchived,
    BranchForbidden,
    BranchNotFound,
    Conflict,
    Day1Error,
    Exists,
    IllegalTransition,
    Invalid,
    NotFound,
    ScopeMissing,
)
from memory.models import ApiKey, AuditEntry, Fact, MergeDecision, MergeRequest
from memory.models.nodes import uuid7
from tests.memory.api.client import nothing_left
from tests.memory.merging.conftest import TASK, texts, write_verified

pytestmark = pytest.mark.django_db(transaction=True)
engine, facts, policies = MergeRequestEngine(), FactEngine(), PolicyEngine()
merges = MergeEngine()


def refuse(kind: type[Day1Error], text: str, work: Callable[..., Any], **arguments: Any) -> Day1Error:
    """Check that a call is refused with exactly this sentence and leaves nothing behind; return the error."""
    with nothing_left(), pytest.raises(kind) as caught:
        work(**arguments)
    assert caught.value.text == text
    assert caught.value.code == kind.code
    return caught.value


def settle(actor: Any, request: MergeRequest, fact: Any, choice: str, text: str = "", token: str = "") -> Any:
    decision = Decision(fact.uid, choice, token, text)
    return engine.decide_conflicts(request_id=request.pk, decisions=[decision], actor=actor)


class TestTheWay:
    def test_a_request_is_opened_checked_approved_merged_and_reverted(self, mira, vera, request_for, project):
        request = request_for
        assert (request.number, request.title, request.state) == (1, f"Merge {TASK} into main", "open")
        assert (request.author_kind, request.author_label) == ("user", "mira")
        found = engine.check_request(request_id=1, actor=vera)
        names = ["conflicts", "require_verified", "secrets", "recall"]
        assert [one.name for one in found.check.results] == names
        assert (found.check.failed, found.check.mergeable) == ([], True)
        assert engine.approve_request(request_id=request.pk, actor=vera).request.state == "approved"
        before = texts("main", project)
        done = engine.merge_request(request_id=request.pk, actor=vera)
        assert (done.request.state, done.request.closed_by) == ("merged", "vera")
        assert done.request.merge_commit == done.result.commit
        assert done.result.commit.message == f"#1 Merge {TASK} into main"
        assert texts("main", project) == before | {"Tokens live for an hour."}
        undone = engine.revert_request(request_id=request.pk, actor=vera)
        assert (undone.state, undone.revert_commit.kind) == ("reverted", "commit.revert")
        assert texts("main", project) == before

    def test_the_trail_and_the_events_name_the_request(self, mira, vera, request_for, project):
        engine.approve_request(request_id=1, actor=vera)
        engine.merge_request(request_id=1, actor=vera)
        engine.revert_request(request_id=1, actor=vera)
        entries = AuditEntry.objects.filter(action__startswith="merge_request.").order_by("id")
        assert [(one.action.split(".")[1], one.actor_label) for one in entries] == [
            ("create", "mira"),
            ("approve", "vera"),
            ("merge", "vera"),
            ("revert", "vera"),
        ]
        assert {one.target for one in entries} == {str(request_for.pk)}
        assert {(one.detail["number"], one.detail["source"], one.detail["target"]) for one in entries} == {
            (1, TASK, "main")
        }
        events, _ = EventEngine().read_events(project_id=project.pk, after=0)
        told = [(one.kind, one.branch, one.commit) for one in events if one.kind.startswith("merge_request")]
        assert told == [(one.action, "main", None) for one in entries]

    def test_numbers_are_counted_in_the_project(self, mira, request_for, other_project):
        engine.reject_request(request_id=1, actor=mira)
        assert engine.create_request(source=TASK, actor=mira).number == 2
        stranger = local_actor(other_project.pk)
        BranchManager().create_branch(name=TASK, actor=stranger)
        assert engine.create_request(source=TASK, actor=stranger).number == 1
        assert engine.get_request(request_id=1, actor=mira).pk == request_for.pk

    def test_a_rejected_one_makes_room_for_another(self, mira, vera, request_for):
        row = engine.reject_request(request_id=1, reason="Not true.", actor=vera)
        assert (row.state, row.reason, row.closed_by) == ("rejected", "Not true.", "vera")
        assert engine.create_request(source=TASK, actor=mira).state == "open"

    def test_its_author_may_withdraw_it(self, person, learned):
        writer = person("writer", "write")
        request = engine.create_request(source=TASK, actor=writer)
        with pytest.raises(ScopeMissing):
            engine.reject_request(request_id=request.pk, actor=person("other", "write"))
        assert engine.reject_request(request_id=request.pk, actor=writer).state == "rejected"

    def test_a_reverted_one_can_be_asked_for_again(self, mira, vera, request_for):
        engine.merge_request(request_id=1, actor=vera)
        engine.revert_request(request_id=1, actor=vera)
        assert engine.create_request(source=TASK, actor=mira).number == 2

    def test_a_merge_that_is_undone_as_a_commit_is_reverted_too(self, vera, request_for):
        done = engine.merge_request(request_id=1, actor=vera)
        undone = RevertEngine().revert_commit(commit_id=done.result.commit.pk, actor=vera)
        request = engine.get_request(request_id=1, actor=vera)
        assert (request.state, request.revert_commit) == ("reverted", undone)
        entry = AuditEntry.objects.get(action="merge_request.revert")
        assert (entry.target, entry.detail["commit"]) == (str(request.pk), str(undone.pk))

    def test_a_reverted_merge_that_is_brought_back(self, mira, vera, request_for, project, learned):
        engine.merge_request(request_id=1, actor=vera)
        shown = texts("main", project)
        for _ in range(2):
            reverted = engine.revert_request(request_id=1, actor=vera)
            assert reverted.state == "reverted"
            redone = RevertEngine().revert_commit(commit_id=reverted.revert_commit.pk, actor=vera)
            request = engine.get_request(request_id=1, actor=vera)
            assert (request.state, request.revert_commit, texts("main", project)) == ("merged", None, shown)
            assert MergeEngine().preview_merge(source=TASK, actor=vera).plan.counts == {}
        names = [one.name for one in RequestHistoryEngine().list_events(request_id=1, actor=vera)]
        assert names == ["opened", "merged", "reverted", "merged", "reverted", "merged"]
        entry = AuditEntry.objects.filter(action="merge_request.redo").order_by("id").last()
        assert (entry.target, entry.detail["commit"]) == (str(request.pk), str(redone.pk))

    def test_lists_by_state_source_and_target(self, mira, vera, request_for, person):
        BranchManager().create_branch(name="task/b", actor=mira)
        second = engine.create_request(source="task/b", target=TASK, title="Second", actor=mira)
        every = engine.list_requests(actor=mira)
        assert [row.number for row in every] == [2, 1]
        assert [row.number for row in engine.list_requests(actor=mira, source=TASK)] == [1]
        assert [row.number for row in engine.list_requests(actor=mira, target=TASK)] == [2]
        first = engine.list_requests(actor=mira, limit=1)
        assert [row.number for row in engine.list_requests(actor=mira, limit=1, cursor=first.next)] == [1]
        engine.reject_request(request_id=second.pk, actor=mira)
        assert [row.number for row in engine.list_requests(actor=mira, state="rejected")] == [2]
        engine.approve_request(request_id=1, actor=vera)
        assert [row.number for row in engine.list_requests(actor=mira, state="approved")] == [1]
        write_verified(mira, "One more.")
        assert [row.number for row in engine.list_requests(actor=mira, state="approved")] == []
        assert [row.number for row in engine.list_requests(actor=mira, state="open")] == [1]
        with pytest.raises(Invalid):
            engine.list_requests(actor=mira, state="no")

    def test_a_key_sees_requests_of_its_branches_alone(self, person, request_for):
        agent = person("agent", "write", branch_patterns=("task/*",))
        stranger = person("stranger", "write", branch_patterns=("other/*",))
        assert [row.number for row in engine.list_requests(actor=agent)] == [1]
        assert engine.get_request(request_id=1, actor=agent).pk == request_for.pk
        assert list(engine.list_requests(actor=stranger)) == []
        with pytest.raises(NotFound):
            engine.get_request(request_id=request_for.pk, actor=stranger)
        assert engine.check_request(request_id=1, actor=agent).check.mergeable is None
        assert list(engine.list_requests(actor=person("main", "admin", branch_patterns=("main",)))) == []

    def test_a_key_of_a_task_may_ask_for_a_merge_into_main(self, person, learned):
        agent = person("agent", "write", branch_patterns=("task/*",))
        assert engine.create_request(source=TASK, actor=agent).target.name == "main"


class TestApprovals:
    def test_a_newer_commit_ends_an_approval(self, mira, vera, request_for):
        engine.approve_request(request_id=1, actor=vera)
        assert engine.get_request(request_id=1, actor=mira).current_state == "approved"
        write_verified(mira, "One more.")
        found = engine.check_request(request_id=1, actor=mira)
        assert (found.request.current_state, [one.counts for one in found.approvals]) == ("open", [False])
        again = engine.approve_request(request_id=1, actor=vera)
        assert (again.request.state, [one.counts for one in again.approvals]) == ("approved", [True])

    def test_another_decision_ends_an_approval(self, mira, vera, conflict):
        request = engine.create_request(source=TASK, actor=mira)
        settle(mira, request, conflict, "target")
        engine.approve_request(request_id=1, actor=vera)
        settled = settle(mira, request, conflict, "source")
        assert settled.request.state == "open"
        assert [one.counts for one in engine.check_request(request_id=1, actor=mira).approvals] == [False]

    def test_the_author_may_not_approve_where_the_policy_wants_another(self, mira, vera, ada, request_for):
        engine.approve_request(request_id=1, actor=mira)
        policies.set_policy(pattern="main", approvals=1, actor=ada)
        text = "Who opened a merge request into main may not approve it: its policy wants another."
        refuse(Conflict, text, engine.approve_request, request_id=1, actor=mira)

    def test_a_key_of_the_authors_approves_for_the_author(self, mira, vera, ada, request_for):
        def make_key(maker: Actor) -> Actor:
            made = replace(maker, id="", scopes=frozenset({"admin"}))  # mira is no member of these tests
            key, _token = KeyEngine().create_key(label="agent", scopes=["merge"], actor=made)
            ApiKey.objects.filter(pk=key.pk).update(created_by_id=maker.id)
            return get_actor(key, "rest")

        own = make_key(mira)
        engine.approve_request(request_id=1, actor=own)
        policies.set_policy(pattern="main", approvals=2, actor=ada)
        assert [one.counts for one in engine.check_request(request_id=1, actor=mira).approvals] == [False]
        text = "Who opened a merge request into main may not approve it: its policy wants another."
        refuse(Conflict, text, engine.approve_request, request_id=1, actor=own)
        for twice in (vera, make_key(vera)):  # one person and a key of theirs are one
            assert engine.approve_request(request_id=1, actor=twice).request.state == "open"
        assert engine.approve_request(request_id=1, actor=ada).request.state == "approved"

    def test_an_authors_approval_from_before_does_not_count_either(self, mira, vera, ada, request_for):
        engine.approve_request(request_id=1, actor=mira)
        policies.set_policy(pattern="main", approvals=1, actor=ada)
        text = "The merge is refused by approvals: Approvals: 0 of 1."
        refuse(Conflict, text, engine.merge_request, request_id=1, actor=vera)

    def test_as_many_as_the_policy_wants(self, mira, vera, ada, request_for):
        policies.set_policy(pattern="main", approvals=2, actor=ada)
        assert engine.approve_request(request_id=1, actor=vera).request.state == "open"
        assert engine.approve_request(request_id=1, actor=vera).request.state == "open"
        text = "The merge is refused by approvals: Approvals: 1 of 2."
        refuse(Conflict, text, engine.merge_request, request_id=1, actor=vera)
        assert engine.approve_request(request_id=1, actor=ada).request.state == "approved"
        assert engine.merge_request(request_id=1, actor=vera).request.state == "merged"

    def test_the_state_follows_a_change_of_the_policy(self, mira, vera, ada, request_for):
        engine.approve_request(request_id=1, actor=vera)
        for needed, state, other in ((2, "open", "approved"), (1, "approved", "open")):
            policies.set_policy(pattern="main", approvals=needed, actor=ada)
            assert engine.get_request(request_id=1, actor=mira).current_state == state
            assert [one.current_state for one in engine.list_requests(actor=mira).results] == [state]
            assert [one.number for one in engine.list_requests(actor=mira, state=state).results] == [1]
            assert engine.list_requests(actor=mira, state=other).results == []

    def test_an_outdated_approval_does_not_count(self, mira, vera, ada, request_for):
        policies.set_policy(pattern="main", approvals=1, actor=ada)
        engine.approve_request(request_id=1, actor=vera)
        write_verified(mira, "One more.")
        text = (
            "The merge is refused by approvals: Approvals: 0 of 1. Older than the newest commit or decision,"
            " so they do not count: 1."
        )
        refuse(Conflict, text, engine.merge_request, request_id=1, actor=vera)

    def test_without_a_request_there_are_none(self, mira, ada, learned):
        policies.set_policy(pattern="main", approvals=1, actor=ada)
        text = "The merge is refused by approvals: A merge request is needed, with approvals: 1."
        refuse(Conflict, text, MergeEngine().merge_branch, source=TASK, actor=mira)

    def test_what_was_not_read_is_not_approved(self, mira, vera, request_for, task):
        task.refresh_from_db()
        seq = task.head
        write_verified(mira, "One more.")
        text = f"{TASK} has newer commits than those that you read: it is at {seq + 2}, not at {seq}."
        refuse(Conflict, text, engine.approve_request, request_id=1, source_seq=seq, actor=vera)
        assert (
            engine.approve_request(request_id=1, source_seq=seq + 2, actor=vera).request.state == "approved"
        )


class TestDecisions:
    def test_a_conflict_waits_for_a_decision(self, mira, vera, conflict, project):
        request = engine.create_request(source=TASK, actor=mira)
        error = refuse(
            Conflict,
            "The merge is refused by conflicts: Conflicts without a decision: 1.",
            engine.merge_request,
            request_id=1,
            actor=vera,
        )
        assert (error.data["gates"], error.data["ids"]) == ("conflicts", [str(conflict.uid)])
        settled = settle(mira, request, conflict, "source")
        assert (settled.decided, settled.undecided) == (1, 0)
        engine.merge_request(request_id=1, actor=vera)
        assert texts("main", project) == {"Tokens live for an hour."}

    def test_the_plan_shows_what_was_decided(self, mira, conflict):
        request = engine.create_request(source=TASK, actor=mira)
        settle(mira, request, conflict, "skip")
        found = engine.plan_request(request_id=1, classes=["conflict"], kind="fact", actor=mira)
        (item,) = found.plan.page
        row = found.decisions[("fact", conflict.uid)]
        assert (item.uid, row.choice, row.by, row.token) == (conflict.uid, "skip", "mira", item.token)

    def test_the_latest_decision_counts(self, mira, conflict):
        request = engine.create_request(source=TASK, actor=mira)
        for choice in ("source", "target", "skip"):
            settle(mira, request, conflict, choice)
        assert MergeDecision.objects.get().choice == "skip"

    def test_by_rule(self, mira, vera, conflict, project):
        request = engine.create_request(source=TASK, actor=mira)
        options = {"request_id": request.pk, "actor": mira}
        assert engine.decide_conflicts(choice="target", reasons=["deleted"], **options).decided == 0
        assert engine.decide_conflicts(choice="target", kind="relation", **options).decided == 0
        settled = engine.decide_conflicts(choice="target", reasons=["edited"], kind="fact", **options)
        assert settled.decided == 1
        engine.decide_conflicts(choice="target", **options)
        assert engine.check_request(request_id=1, actor=mira).check.mergeable

    def test_a_rule_decides_the_conflicts_of_its_reason_alone(self, mira, vera, conflict, project):
        removed = write_verified(mira, "Builds run at night.", TASK)
        merges.merge_branch(source=TASK, strategy="cherry_pick", ids=[removed.uid], actor=mira, target="main")
        facts.delete_fact(fact_id=removed.uid, branch_name=TASK, actor=mira)
        facts.update_fact(fact_id=removed.uid, updates={"fact_text": "Builds run at noon."}, actor=mira)
        request = engine.create_request(source=TASK, actor=mira)
        options = {"request_id": request.pk, "actor": mira, "kind": "fact"}
        assert engine.decide_conflicts(choice="target", reasons=["deleted"], **options).decided == 1
        assert engine.check_request(request_id=1, actor=mira).view.undecided == {"edited": 1}
        assert engine.decide_conflicts(choice="source", reasons=["edited"], **options).undecided == 0
        engine.merge_request(request_id=1, actor=vera)
        assert texts("main", project) == {"Builds run at noon.", "Tokens live for an hour."}

    def test_a_conflict_that_changed_is_refused_with_what_it_is_now(self, mira, conflict):
        request = engine.create_request(source=TASK, actor=mira)
        (item,) = engine.plan_request(request_id=1, classes=["conflict"], kind="fact", actor=mira).plan.page
        facts.update_fact(
            fact_id=conflict.uid, updates={"fact_text": "A week."}, branch_name=TASK, actor=mira
        )
        with nothing_left(), pytest.raises(Conflict) as caught:
            settle(mira, request, conflict, "source", token=item.token)
        assert caught.value.text == "Conflicts changed since they were decided: 1. Decide them again."
        (now,) = caught.value.data["conflicts"]
        assert (now["id"], now["type"], now["reason"]) == (str(conflict.uid), "fact", "edited")
        assert now["token"] not in ("", item.token)
        assert settle(mira, request, conflict, "source", token=now["token"]).undecided == 0

    def test_a_decision_on_what_changed_since_counts_no_more(self, mira, vera, conflict):
        request = engine.create_request(source=TASK, actor=mira)
        settle(mira, request, conflict, "source")
        facts.update_fact(
            fact_id=conflict.uid, updates={"fact_text": "A week."}, branch_name="main", actor=mira
        )
        with nothing_left(), pytest.raises(Conflict) as caught:
            engine.merge_request(request_id=1, actor=vera)
        assert caught.value.data["gates"] == "conflicts"
        assert [one["id"] for one in caught.value.data["conflicts"]] == [str(conflict.uid)]

    @pytest.mark.parametrize(
        ("choice", "text", "field"),
        [
            ("edited", "", "decisions[0].text"),
            ("edited", "  ", "decisions[0].text"),
            ("source", "A text.", "decisions[0].text"),
            ("mine", "", "decisions[0].choice"),
        ],
    )
    def test_a_decision_that_makes_no_sense(self, mira, conflict, choice, text, field):
        request = engine.create_request(source=TASK, actor=mira)
        with nothing_left(), pytest.raises(Invalid) as caught:
            settle(mira, request, conflict, choice, text)
        assert caught.value.data["field"] == field

    def test_what_is_no_conflict_is_not_decided(self, mira, request_for, learned):
        with nothing_left(), pytest.raises(Conflict):
            settle(mira, request_for, learned, "source")

    def test_an_id_that_no_conflict_has_is_a_mistake(self, mira, conflict):
        request = engine.create_request(source=TASK, actor=mira)
        untouched = facts.write_fact(fact_text="On main alone.", branch_name="main", actor=mira).fact
        for uid, kind in ((uuid4(), "fact"), (untouched.uid, "fact"), (conflict.uid, "link")):
            wrong = Decision(uid, "source", kind=kind)
            with nothing_left(), pytest.raises(Invalid) as caught:
                engine.decide_conflicts(
                    request_id=request.pk, decisions=[Decision(conflict.uid, "source"), wrong], actor=mira
                )
            assert caught.value.data["field"] == "decisions[1].id"
            with nothing_left(), pytest.raises(Invalid) as caught:
                merges.merge_branch(source=TASK, decisions=[wrong], actor=mira)
            assert caught.value.data["field"] == "decisions[0].id"

    def test_what_was_settled_meanwhile_has_changed(self, mira, ada, conflict):
        request = engine.create_request(source=TASK, actor=mira)
        merges.merge_branch(source=TASK, actor=ada, decisions=[Decision(conflict.uid, "target")], force=True)
        with nothing_left(), pytest.raises(Conflict):
            settle(mira, request, conflict, "source")

    def test_a_rule_takes_no_text(self, mira, conflict):
        engine.create_request(source=TASK, actor=mira)
        refuse(
            Invalid,
            "A text settles one conflict: a rule takes no choice edited.",
            engine.decide_conflicts,
            request_id=1,
            choice="edited",
            actor=mira,
        )

    def test_decisions_or_a_rule(self, mira, request_for, learned):
        text = "Give decisions, or a choice for all conflicts of a kind."
        refuse(Invalid, text, engine.decide_conflicts, request_id=1, actor=mira)
        both = {"decisions": [Decision(learned.uid, "source")], "choice": "source"}
        refuse(Invalid, text, engine.decide_conflicts, request_id=1, actor=mira, **both)


class TestRefused:
    def test_a_branch_into_itself(self, mira, task):
        text = "A branch cannot be merged into itself."
        refuse(Conflict, text, engine.create_request, source=TASK, target=TASK, actor=mira)

    @pytest.mark.parametrize(("source", "target"), [(TASK, "old"), ("old", "main")])
    def test_an_archived_branch(self, mira, task, source, target):
        BranchManager().create_branch(name="old", actor=mira)
        BranchManager().archive_branch(name="old", actor=mira)
        text = "The branch old is archived and takes no writes: restore it first."
        refuse(BranchArchived, text, engine.create_request, source=source, target=target, actor=mira)

    def test_a_branch_that_is_not_there(self, mira, task):
        text = "There is no branch named task/none."
        refuse(BranchNotFound, text, engine.create_request, source="task/none", actor=mira)

    def test_a_branch_that_was_archived_meanwhile(self, mira, vera, request_for):
        BranchManager().archive_branch(name=TASK, actor=mira)
        text = f"The branch {TASK} is archived and takes no writes: restore it first."
        for work in (engine.merge_request, engine.approve_request, engine.plan_request):
            refuse(BranchArchived, text, work, request_id=1, actor=vera)
        refuse(BranchArchived, text, engine.decide_conflicts, request_id=1, choice="source", actor=vera)
        assert engine.check_request(request_id=1, actor=vera).check is None
        assert engine.reject_request(request_id=1, actor=vera).state == "rejected"

    def test_a_second_request_of_the_same_pair(self, mira, request_for):
        text = f"Merge request 1 from {TASK} into main is open already."
        refuse(Exists, text, engine.create_request, source=TASK, actor=mira)

    def test_a_failing_gate_says_which_why_and_which_facts(self, mira, vera, request_for):
        fact = facts.write_fact(fact_text="A guess.", branch_name=TASK, actor=mira).fact
        error = refuse(
            Conflict,
            "The merge is refused by require_verified: Unverified facts: 1. Have a person"
            f" verify them on {TASK}, all in one action, or set a judge (DAY1_JUDGE_MODEL), or ask for less"
            " in the policy of main.",
            engine.merge_request,
            request_id=1,
            actor=vera,
        )
        assert (error.data["gates"], error.data["ids"]) == ("require_verified", [str(fact.uid)])

    def test_whatever_is_done_with_a_closed_one(self, mira, vera, request_for):
        engine.merge_request(request_id=1, actor=vera)
        text = "Merge request 1 is merged already."
        for work in (
            engine.merge_request,
            engine.approve_request,
            engine.reject_request,
            engine.plan_request,
        ):
            refuse(IllegalTransition, text, work, request_id=1, actor=vera)
        refuse(IllegalTransition, text, engine.decide_conflicts, request_id=1, choice="source", actor=vera)

    def test_the_revert_of_what_was_not_merged(self, vera, request_for):
        text = "Only a merged request can be reverted: 1 is open."
        refuse(IllegalTransition, text, engine.revert_request, request_id=1, actor=vera)

    def test_the_revert_of_what_has_changed_since(self, mira, vera, request_for, learned):
        engine.merge_request(request_id=1, actor=vera)
        facts.update_fact(fact_id=learned.uid, updates={"fact_text": "Two."}, actor=mira)
        with nothing_left(), pytest.raises(Conflict) as caught:
            engine.revert_request(request_id=1, actor=vera)
        assert caught.value.data["changed"] == [str(learned.uid)]
        assert engine.get_request(request_id=1, actor=vera).state == "merged"

    def test_a_merge_that_brings_nothing(self, mira, vera, task):
        engine.create_request(source=TASK, actor=mira)
        text = f"There is nothing to merge: main has all of {TASK} that is to arrive."
        check = engine.check_request(request_id=1, actor=vera).check
        assert (check.mergeable, [(one.name, one.reason) for one in check.failed]) == (
            False,
            [("changes", text)],
        )
        refuse(
            Conflict,
            f"The merge is refused by changes: {text}",
            engine.merge_request,
            request_id=1,
            actor=vera,
        )

    def test_ids_belong_to_cherry_pick(self, mira, learned):
        make, options = engine.create_request, {"source": TASK, "actor": mira}
        text = "Only the strategy cherry_pick takes ids."
        refuse(Invalid, text, make, ids=[learned.uid], **options)
        refuse(Invalid, "Name the memories to pick.", make, strategy="cherry_pick", **options)

    @pytest.mark.parametrize(
        ("lesser", "needed", "work", "options"),
        [
            ("propose", "write", engine.create_request, {"source": TASK, "target": "task/other"}),
            ("curate", "merge", engine.approve_request, {"request_id": 1}),
            ("curate", "merge", engine.merge_request, {"request_id": 1}),
            ("merge", "admin", engine.merge_request, {"request_id": 1, "force": True}),
            ("curate", "merge", engine.reject_request, {"request_id": 1}),
            ("write", "curate", engine.decide_conflicts, {"request_id": 1, "choice": "source"}),
        ],
    )
    def test_scopes(self, mira, person, request_for, lesser, needed, work, options):
        """The scope before the one that is needed is refused, and that one is enough."""
        BranchManager().create_branch(name="task/other", actor=mira)
        text = f"This needs the scope {needed}."
        refuse(ScopeMissing, text, work, actor=person("vic", lesser), **options)
        work(actor=person("vic", needed), **options)


class TestForce:
    def test_an_admin_overrules_the_gates_and_the_trail_names_them(self, mira, person, request_for, project):
        facts.write_fact(fact_text="A guess.", branch_name=TASK, actor=mira)
        done = engine.merge_request(request_id=1, force=True, actor=person("ada", "admin"))
        assert done.request.state == "merged"
        assert "A guess." in texts("main", project)
        entry = AuditEntry.objects.get(action="merge.force")
        assert (entry.target, entry.actor_label) == ("main", "ada")
        assert entry.detail == {"source": TASK, "gates": ["require_verified"]}

    def test_where_all_passes_nothing_is_overruled(self, person, request_for):
        engine.merge_request(request_id=1, force=True, actor=person("ada", "admin"))
        assert not AuditEntry.objects.filter(action="merge.force").exists()


class TestTwoAtOnce:
    def test_one_of_two_merges_wins(self, mira, vera, request_for, project):
        """Both threads begin when the other is ready; one of them merges, one is told so."""
        ready, outcomes = threading.Barrier(2), []

        def merge(actor: Any) -> None:
            ready.wait()
            try:
                outcomes.append(MergeRequestEngine().merge_request(request_id=1, actor=actor).request.state)
            except Day1Error as error:
                outcomes.append(error.text)
            finally:
                connections.close_all()

        threads = [threading.Thread(target=merge, args=(actor,)) for actor in (mira, vera)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(outcomes) == ["Merge request 1 is merged already.", "merged"]
        assert AuditEntry.objects.filter(action="merge_request.merge").count() == 1

    def test_one_of_two_requests_is_opened(self, mira, learned):
        ready, outcomes = threading.Barrier(2), []

        def create() -> None:
            ready.wait()
            try:
                outcomes.append(MergeRequestEngine().create_request(source=TASK, actor=mira).number)
            except Exists as error:
                outcomes.append(error.code)
            finally:
                connections.close_all()

        threads = [threading.Thread(target=create) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(map(str, outcomes)) == ["1", "exists"]


class TestWithoutARequest:
    def merge(self, actor: Any, **options: Any) -> Any:
        return MergeEngine().merge_branch(source=TASK, actor=actor, **options)

    def test_a_branch_is_merged_under_the_policy_of_its_target(self, mira, learned, project):
        facts.write_fact(fact_text="A guess.", branch_name=TASK, actor=mira)
        with nothing_left(), pytest.raises(Conflict, match="refused by require_verified"):
            self.merge(mira)
        BranchManager().create_branch(name="task/other", actor=mira)
        done = self.merge(mira, target="task/other", message="All of it.")
        assert (done.commit.message, done.open_conflicts) == ("All of it.", 0)
        assert texts("task/other", project) == {"A guess.", learned.fact_text}

    def test_the_preview_changes_nothing(self, mira, learned):
        with nothing_left():
            found = MergeEngine().preview_merge(source=TASK, actor=mira)
        assert {item.uid for item in found.plan.page} == {learned.uid}
        assert found.check.mergeable

    def test_what_there_is_nothing_of(self, mira, learned):
        assert self.merge(mira).commit is not None
        with nothing_left():
            assert self.merge(mira).commit is None

    def test_decisions_come_with_the_merge(self, mira, conflict, project):
        with nothing_left(), pytest.raises(Conflict, match="refused by conflicts"):
            self.merge(mira)
        self.merge(mira, decisions=[Decision(conflict.uid, "source")])
        assert texts("main", project) == {"Tokens live for an hour."}

    def test_decisions_on_what_has_changed_are_refused(self, mira, conflict):
        (item,) = MergeEngine().preview_merge(source=TASK, kind="fact", actor=mira).plan.page
        facts.update_fact(
            fact_id=conflict.uid, updates={"fact_text": "A week."}, branch_name="main", actor=mira
        )
        with nothing_left(), pytest.raises(Conflict) as caught:
            self.merge(mira, decisions=[Decision(conflict.uid, "source", item.token)])
        assert caught.value.text == "Conflicts changed since they were decided: 1. Decide them again."

    def test_it_needs_the_scope_merge_on_the_target_and_read_on_the_source(self, person, learned):
        with nothing_left(), pytest.raises(ScopeMissing):
            self.merge(person("vic", "curate"))
        with nothing_left(), pytest.raises(BranchForbidden):
            self.merge(person("vic", "merge", branch_patterns=("main",)))


class TestBesideBusyWriters:
    """A gate writes to the target during each check before the locks: the target never stands still."""

    @pytest.fixture
    def watch(self, settings):
        def watch(gate: Callable[..., GateResult]) -> None:
            gates = {**conf().merge_gates, "secrets": f"{__name__}.{gate.__name__}"}
            settings.DAY1 = {**settings.DAY1, "merge_gates": gates}

        return watch

    def test_a_merge_still_comes_to_an_end(self, mira, learned, project, watch):
        watch(write_beside)
        result = MergeEngine().merge_branch(source=TASK, actor=mira)
        assert result.counts == {"fact": {"applied": 1}, "verdict": {"applied": 1}}
        assert learned.fact_text in texts("main", project)

    def test_it_passes_its_gates_as_things_are_in_the_end(self, mira, learned, project, watch):
        watch(refuse_in_the_end)
        with pytest.raises(Conflict, match="refused by secrets: Not any more"):
            MergeEngine().merge_branch(source=TASK, actor=mira)
        assert learned.fact_text not in texts("main", project)

    def test_what_is_erased_while_it_is_checked_does_not_arrive(self, mira, learned, project, watch):
        watch(erase_beside)
        before = texts("main", project)
        result = MergeEngine().merge_branch(source=TASK, actor=mira)
        assert result.counts["fact"] == {"rejected": 1}
        assert texts("main", project) == before
        assert not Fact._base_manager.filter(fact_text=learned.fact_text).exists()


def erase_beside(name: str, plan: Any, options: Any, policy: Any) -> GateResult:
    """Erase what arrives, when it is about to be merged."""
    arriving = [item for item in plan.of_model(Fact) if item.arrives]
    if not connection.in_atomic_block and arriving:
        project = options.target.project
        (item,) = arriving
        erasing = {"scope": "fact", "target": str(item.uid), "confirm": project.slug}
        ErasureEngine().erase(actor=local_actor(project.pk), **erasing)
    return GateResult(name, "passed", "")


def write_beside(name: str, plan: Any, options: Any, policy: Any) -> GateResult:
    if not connection.in_atomic_block:
        actor = Actor(options.target.project_id, "user", "ned", "ned", frozenset({"write"}))
        facts.write_fact(fact_text=f"Note {uuid7()}.", branch_name="main", actor=actor)
    return GateResult(name, "passed", "")


def refuse_in_the_end(name: str, plan: Any, options: Any, policy: Any) -> GateResult:
    found = write_beside(name, plan, options, policy)
    return GateResult(name, "failed", "Not any more.") if connection.in_atomic_block else found
