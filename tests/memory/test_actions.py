"""Actions on many facts: one commit, the rules of each row, and refusals that stop nothing else."""

import pytest

from memory.actors import Actor
from memory.engines.branches.manager import BranchManager
from memory.engines.branches.revert import RevertEngine
from memory.engines.facts.assessment import annotate_facts
from memory.engines.facts.bulk_actions import ActionEngine
from memory.engines.facts.engine import FactEngine
from memory.engines.facts.facts_across_branches import ProposalEngine
from memory.exceptions import (
    BranchArchived,
    BranchForbidden,
    BranchNotFound,
    IllegalTransition,
    Invalid,
    NotFound,
    ScopeMissing,
    TooLarge,
)
from memory.models import AuditEntry, Fact, FactLink
from memory.models.nodes import uuid7
from tests.memory.api.client import nothing_left

pytestmark = pytest.mark.django_db(transaction=True)
action_engine = ActionEngine()


@pytest.fixture
def facts(actor, main):
    done = FactEngine().write_facts(facts=[{"fact_text": text} for text in "abc"], actor=actor)
    return [written.fact for written in done.results]


def shown(main, branch="main"):
    """Return status and verdict of each fact by its text, as a reader sees them."""
    branch = main.project.branches.get(name=branch)
    rows = Fact.objects.on(branch).fetch_all()
    annotate_facts(rows, branch.lineage(), branch.project_id)
    return {fact.fact_text: (fact.status, fact.verification_status) for fact in rows}


def ids(facts):
    return [fact.uid for fact in facts]


def outcomes(report):
    return [(result.outcome, result.code) for result in report.results]


def act(actor, action, facts, **more):
    return action_engine.apply_action(action=action, fact_ids=ids(facts), actor=actor, **more)


class TestDone:
    @pytest.mark.parametrize(
        ("action", "verdict"),
        [("verify", "verified"), ("invalidate", "invalidated"), ("unverify", "unverified")],
    )
    def test_verdicts(self, actor, main, facts, action, verdict):
        report = act(actor, action, facts[:2], reason="Read it.")
        assert outcomes(report) == [("done", ""), ("done", "")]
        assert shown(main) == {
            "a": ("active", verdict),
            "b": ("active", verdict),
            "c": ("active", "unverified"),
        }
        assert (report.commit.kind, report.commit.message) == ("fact.verify", "Read it.")
        again = act(actor, action, facts[:2], reason="Read it.")
        assert outcomes(again) == [("unchanged", ""), ("unchanged", "")]
        assert again.commit is None

    def test_another_verdict_takes_the_place_of_the_first(self, actor, main, facts):
        act(actor, "verify", facts)
        act(actor, "invalidate", facts[:1])
        assert [verdict for _, verdict in shown(main).values()] == ["invalidated", "verified", "verified"]

    def test_archive_and_restore(self, actor, main, facts):
        assert act(actor, "archive", facts).count_outcome("done") == 3
        assert {status for status, _ in shown(main).values()} == {"archived"}
        assert act(actor, "restore", facts).count_outcome("done") == 3
        assert {status for status, _ in shown(main).values()} == {"active"}

    def test_another_category_takes_the_verdict_away(self, actor, main, facts):
        act(actor, "verify", facts)
        report = act(actor, "set_category", facts[:2], category="security")
        assert report.count_outcome("done") == 2
        assert shown(main)["a"] == ("active", "unverified")
        again = act(actor, "set_category", facts, category="security")
        assert outcomes(again) == [("unchanged", ""), ("unchanged", ""), ("done", "")]

    def test_superseded_by_one_that_is_there(self, actor, main, facts):
        a, b, c = facts
        report = act(actor, "supersede", [a, b], replaced_by=c.uid)
        assert outcomes(report) == [("done", ""), ("done", "")]
        assert shown(main)["a"][0] == shown(main)["b"][0] == "superseded"
        keeper = FactEngine().get_fact(fact_id=c.uid, actor=actor)
        assert (keeper.parent_id, keeper.status) == (a.uid, "active")
        links = FactLink._base_manager.values_list("from_id", "to_id", "link_type")
        assert set(links) == {(c.uid, old.uid, "CONSOLIDATED_FROM") for old in (a, b)}

    def test_superseded_by_a_new_one_like_the_first(self, actor, main, facts):
        act(actor, "set_category", facts[:1], category="security")
        report = act(actor, "supersede", facts, new_fact_text="a, b and c")
        new = FactEngine().get_fact(fact_id=report.new_fact.uid, actor=actor)
        assert (new.fact_text, new.category, new.parent_id) == ("a, b and c", "security", facts[0].uid)
        links = FactLink._base_manager.filter(from_id=new.uid).values_list("to_id", flat=True)
        assert set(links) == {fact.uid for fact in facts}

    def test_superseded_by_a_text_that_another_fact_has(self, actor, main, facts):
        a, b, c = facts
        report = act(actor, "supersede", [a, b], new_fact_text=f" {c.fact_text.upper()} ")
        assert (report.new_fact.uid, report.created, outcomes(report)) == (c.uid, False, [("done", "")] * 2)
        assert (report.new_fact.parent_id, report.new_fact.fact_text) == (a.uid, c.fact_text)
        assert [shown(main)[name][0] for name in "abc"] == ["superseded", "superseded", "active"]
        assert act(actor, "supersede", [c], new_fact_text="d").created is True

    def test_one_commit_and_one_audit_entry_for_a_thousand(self, actor, main):
        texts = [{"fact_text": f"fact {n}"} for n in range(1000)]
        written = FactEngine().write_facts(facts=texts, actor=actor)
        facts = [one.fact for one in written.results]
        before = AuditEntry.objects.count()
        report = act(actor, "archive", facts)
        assert report.count_outcome("done") == 1000
        assert (report.commit.changed, report.commit.added) == (1000, 0)
        entry = AuditEntry.objects.first()
        assert AuditEntry.objects.count() == before + 1
        assert (entry.action, entry.target) == ("fact.archive", f"main@{report.commit.seq}")

    def test_one_fact_leaves_the_same_record_as_the_single_method(self, actor, main, facts):
        FactEngine().archive_fact(fact_id=facts[0].uid, actor=actor)
        single = AuditEntry.objects.first()
        act(actor, "archive", facts[1:2])
        bulk = AuditEntry.objects.first()
        assert (bulk.action, bulk.target) == (single.action, str(facts[1].uid))
        assert single.target == str(facts[0].uid)

    def test_the_statements_do_not_grow_with_the_facts(self, actor, main, django_assert_max_num_queries):
        texts = [{"fact_text": f"fact {n}"} for n in range(100)]
        facts = [one.fact for one in FactEngine().write_facts(facts=texts, actor=actor).results]
        act(actor, "verify", facts[:1])
        for action in ("invalidate", "unverify"):
            with django_assert_max_num_queries(25):
                act(actor, action, facts)

    def test_a_branch_changes_what_it_inherited_by_itself(self, actor, main, facts):
        BranchManager().create_branch(name="task/x", actor=actor)
        act(actor, "archive", facts[:2], branch_name="task/x")
        act(actor, "restore", facts[:1], branch_name="task/x")
        assert [status for status, _ in shown(main, "task/x").values()].count("archived") == 1
        assert {status for status, _ in shown(main).values()} == {"active"}


class TestRefused:
    def test_what_is_refused_for_one_stops_no_other(self, actor, main, facts, other_project):
        gone = uuid7()
        act(actor, "archive", facts[:1])
        report = action_engine.apply_action(
            action="archive", fact_ids=[*ids(facts), gone, facts[1].uid], actor=actor
        )
        assert outcomes(report) == [
            ("refused", "illegal_transition"),
            ("done", ""),
            ("done", ""),
            ("refused", "not_found"),
        ]
        assert report.results[0].message == "A fact that is archived cannot become archived."

    def test_a_fact_that_was_read_at_another_version(self, actor, main, facts):
        read = {fact.uid: fact.version for fact in facts}
        FactEngine().update_fact(fact_id=facts[0].uid, updates={"fact_text": "a2"}, actor=actor)
        report = act(actor, "verify", facts, expected_versions=read)
        assert outcomes(report) == [("refused", "stale_version"), ("done", ""), ("done", "")]
        assert report.results[0].message.endswith("Changed: essence, fact_text.")

    def test_when_all_are_refused_nothing_is_written(self, actor, main, facts):
        with nothing_left():
            report = act(actor, "restore", facts)
        assert report.commit is None
        assert {result.code for result in report.results} == {"illegal_transition"}

    def test_a_keeper_takes_no_place_of_its_own(self, actor, main, facts):
        report = act(actor, "supersede", facts[:2], replaced_by=facts[0].uid)
        assert outcomes(report) == [("refused", "invalid"), ("done", "")]

    def test_a_keeper_must_be_there_and_active(self, actor, main, facts):
        act(actor, "archive", facts[:1])
        with nothing_left():
            with pytest.raises(IllegalTransition):
                act(actor, "supersede", facts[1:], replaced_by=facts[0].uid)
            with pytest.raises(NotFound):
                act(actor, "supersede", facts[1:], replaced_by=uuid7())

    @pytest.mark.parametrize(
        ("options", "field"),
        [
            ({"action": "burn"}, "action"),
            ({"action": "set_category"}, "category"),
            ({"action": "set_category", "category": " "}, "category"),
            ({"action": "archive", "category": "x"}, "category"),
            ({"action": "supersede"}, "replaced_by"),
            ({"action": "verify", "new_fact_text": "x"}, "replaced_by"),
            ({"action": "supersede", "new_fact_text": " "}, "new_fact_text"),
            ({"action": "verify", "reason": "x" * 2001}, "reason"),
            ({"action": "verify", "fact_ids": []}, "fact_ids"),
        ],
    )
    def test_what_makes_no_sense(self, actor, main, facts, options, field):
        with nothing_left(), pytest.raises(Invalid) as refused:
            action_engine.apply_action(**{"fact_ids": ids(facts), "actor": actor, **options})
        assert refused.value.data["field"] == field

    def test_more_than_a_thousand(self, actor, main):
        with nothing_left(), pytest.raises(TooLarge, match="1000 facts"):
            action_engine.apply_action(action="verify", fact_ids=[uuid7() for _ in range(1001)], actor=actor)

    def test_branches_that_take_no_writes(self, actor, main, facts):
        BranchManager().create_branch(name="task/x", actor=actor)
        BranchManager().archive_branch(name="task/x", actor=actor)
        with nothing_left():
            with pytest.raises(BranchArchived):
                act(actor, "verify", facts, branch_name="task/x")
            with pytest.raises(BranchNotFound):
                act(actor, "verify", facts, branch_name="task/y")

    def test_scopes_and_branches(self, project, main, facts):
        reader = Actor(project.pk, "key", "k", "k", frozenset({"propose"}))
        elsewhere = Actor(project.pk, "key", "k", "k", frozenset({"admin"}), branch_patterns=("task/*",))
        with nothing_left():
            with pytest.raises(ScopeMissing):
                act(reader, "set_category", facts, category="x")
            with pytest.raises(BranchForbidden):
                act(elsewhere, "verify", facts)


class TestProposals:
    @pytest.fixture
    def proposals(self, actor, main):
        done = FactEngine().write_facts(
            facts=[{"fact_text": text} for text in "xy"], actor=actor, propose=True
        )
        return [written.fact for written in done.results]

    def test_accepted_or_refused_with_audit_and_undo(self, actor, main, proposals):
        one, two = proposals
        report = act(actor, "accept", [one])
        act(actor, "refuse", [two], reason="It is guessed.")
        assert shown(main) == {"x": ("active", "unverified"), "y": ("archived", "unverified")}
        last = AuditEntry.objects.order_by("pk").values_list("action", flat=True)
        assert {"fact.accept", "fact.refuse"} <= set(last)
        RevertEngine().revert_commit(commit_id=report.commit.pk, actor=actor)
        assert shown(main)["x"] == ("created", "unverified")
        act(actor, "restore", [two])
        assert shown(main)["y"] == ("created", "unverified")

    def test_what_is_no_proposal_or_was_decided(self, actor, main, facts, proposals):
        assert outcomes(act(actor, "refuse", facts[:1])) == [("refused", "illegal_transition")]
        act(actor, "refuse", proposals[:1])
        assert outcomes(act(actor, "accept", proposals[:1])) == [("refused", "illegal_transition")]
        assert outcomes(act(actor, "refuse", proposals[:1])) == [("unchanged", "")]
        act(actor, "accept", proposals[1:])
        assert outcomes(act(actor, "accept", proposals[1:])) == [("unchanged", "")]

    def test_an_accepted_proposal_takes_the_place_of_its_parent(self, actor, main, facts):
        new = FactEngine().write_fact(fact_text="z", parent_id=facts[0].uid, actor=actor, propose=True).fact
        assert shown(main)["a"][0] == "active"
        act(actor, "accept", [new])
        assert (shown(main)["a"][0], shown(main)["z"][0]) == ("superseded", "active")

    def test_those_that_wait_are_listed_on_their_branches(self, actor, main, proposals):
        BranchManager().create_branch(name="task/p", actor=actor)
        third = FactEngine().write_fact(fact_text="w", branch_name="task/p", actor=actor, propose=True).fact
        act(actor, "accept", proposals[:1])
        page = ProposalEngine().list_proposals(actor=actor)
        assert [(one.fact_text, one.branch.name) for one in page.results] == [("w", "task/p"), ("y", "main")]
        assert ProposalEngine().count_proposals(actor=actor, maximum=10) == 2
        only = ProposalEngine().list_proposals(actor=actor, branch_name="task/p")
        assert [one.uid for one in only.results] == [third.uid]
