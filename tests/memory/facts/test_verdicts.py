"""Verdicts of people on facts."""

from dataclasses import replace
from uuid import uuid4

import pytest

from memory.engines.facts.bulk_actions import ActionEngine
from memory.exceptions import (
    IllegalTransition,
    Invalid,
    NotFound,
)
from memory.models import OPEN, AuditEntry, Commit, FactAssessment
from tests.memory.facts.helpers import everything, fact_engine, lasting


@pytest.mark.django_db
class TestVerdict:
    @pytest.fixture
    def judge(self, actor):
        def judge(uid, verdict="verified", reason="", branch="main", by=actor):
            return fact_engine.set_verification(
                fact_id=uid, verdict=verdict, actor=by, reason=reason, branch_name=branch
            )

        return judge

    def test_is_told_with_the_fact(self, write, actor, judge, main):
        uid = write().fact.uid
        fact = judge(uid, reason="I have seen it.", by=replace(actor, label="Ada"))
        assert (fact.verification_status, fact.verified_by, fact.verification_method) == (
            "verified",
            "Ada",
            "human",
        )
        assert (fact.verification_reason, fact.version) == ("I have seen it.", 1)
        commit, entry = Commit.objects.get(seq=2), AuditEntry.objects.get(action="fact.verify")
        assert (fact.verified_at, commit.kind, entry.target) == (commit.at, "fact.verify", str(uid))

    def test_the_same_again_adds_nothing(self, write, judge, main):
        uid = write().fact.uid
        judge(uid, "invalidated", "No.")
        before = everything()
        assert judge(uid, "invalidated", "No.").verification_status == "invalidated"
        assert everything() == before

    def test_another_replaces_it(self, write, judge, main):
        uid = write().fact.uid
        assert [judge(uid, v).verification_status for v in ("verified", "invalidated", "unverified")] == [
            "verified",
            "invalidated",
            "unverified",
        ]
        assert FactAssessment._base_manager.filter(seq_to=OPEN).count() == 1

    @pytest.mark.parametrize(
        ("edit", "back"),
        [
            ({"fact_text": "Other."}, {"fact_text": "Text."}),
            ({"essence": "Other"}, {"essence": "Text."}),
            ({"category": "error"}, {"category": "general"}),
        ],
    )
    def test_is_on_what_the_fact_says(self, write, actor, judge, main, edit, back):
        uid = write("Text.").fact.uid
        judge(uid)
        edited = fact_engine.update_fact(fact_id=uid, updates=edit, actor=actor)
        assert (edited.verification_status, edited.verified_at, edited.verified_by) == (
            "unverified",
            None,
            "",
        )
        again = fact_engine.update_fact(fact_id=uid, updates=back, actor=actor)
        assert (again.verification_status, again.verified_by) == ("verified", "local")

    @pytest.mark.parametrize(
        "edit", [{"priority": "P1"}, {"confidence": 0.1}, {"tags": ["x"]}, {"status": "archived"}]
    )
    def test_other_edits_leave_it(self, write, actor, judge, main, edit):
        uid = write().fact.uid
        judge(uid)
        assert (
            fact_engine.update_fact(fact_id=uid, updates=edit, actor=actor).verification_status == "verified"
        )

    def test_a_new_verdict_on_an_edited_text(self, write, actor, judge, main):
        uid = write().fact.uid
        judge(uid)
        fact_engine.update_fact(fact_id=uid, updates={"category": "error"}, actor=actor)
        assert judge(uid).verification_status == "verified"
        assert FactAssessment._base_manager.count() == 2

    def test_branches_judge_independently(self, write, actor, child, judge, main):
        uid = write().fact.uid
        judge(uid, "verified")
        child()
        judge(uid, "invalidated", branch="task/a")
        judge(uid, "unverified")
        told = [
            fact_engine.get_fact(fact_id=uid, actor=actor, branch_name=n).verification_status
            for n in ("main", "task/a")
        ]
        assert told == ["unverified", "invalidated"]
        assert fact_engine.get_fact(fact_id=uid, actor=actor, at=2).verification_status == "verified"

    @lasting
    def test_what_is_refused_leaves_nothing_behind(self, write, actor, judge, main):
        uid = write().fact.uid
        before = everything()
        for fields, error, message in [
            ({"verdict": "right"}, Invalid, "verdict must be one of invalidated, unverified, verified."),
            ({"verdict": None}, Invalid, "verdict must be one of invalidated, unverified, verified."),
            ({"reason": "r" * 2001}, Invalid, "reason has at most 2000 characters."),
            ({"reason": "\x00"}, Invalid, "reason holds a NUL character, which no text may."),
            ({"uid": uuid4()}, NotFound, "Nothing with this id is visible here."),
        ]:
            with pytest.raises(error) as caught:
                judge(**{"uid": uid, **fields})
            assert str(caught.value) == message
            assert everything() == before

    @lasting
    def test_a_fact_that_has_ended_is_not_judged(self, write, actor, judge, main):
        gone, old = write("Gone.").fact, write("Old.").fact
        fact_engine.archive_fact(fact_id=gone.uid, actor=actor)
        fact_engine.supersede_fact(old_fact_id=old.uid, new_fact_text="New.", actor=actor)
        before = everything()
        for uid, status in ((gone.uid, "archived"), (old.uid, "superseded")):
            for verdict in ("verified", "unverified"):
                with pytest.raises(IllegalTransition, match=f"this one is {status}"):
                    judge(uid, verdict)
            assert everything() == before
        report = ActionEngine().apply_action(action="verify", fact_ids=[gone.uid, old.uid], actor=actor)
        assert [(one.outcome, one.code) for one in report.results] == [("refused", "illegal_transition")] * 2
        fact_engine.restore_fact(fact_id=gone.uid, actor=actor)
        assert judge(gone.uid).verification_status == "verified"
