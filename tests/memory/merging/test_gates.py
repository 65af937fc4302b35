"""Gates: what each lets through, what it refuses and why."""

from itertools import product
from typing import Any

import pytest
from django.core.checks import run_checks

from memory.conf import conf
from memory.engines.access.policies import PolicyEngine
from memory.engines.branches.manager import BranchManager
from memory.engines.facts.bulk_actions import ActionEngine
from memory.engines.facts.engine import FactEngine
from memory.engines.fields.policies import GATES
from memory.engines.items.engine import ItemEngine
from memory.engines.merging.conflict_decisions import load_plan
from memory.engines.merging.engine import MergeEngine
from memory.engines.merging.gates import GateResult, compute_judged_hash, run_gate
from memory.engines.merging.plan import Decision
from memory.engines.merging.strategies import MergeOptions
from memory.engines.support.validation import secrets_found
from memory.engines.versions.policies import Policy
from memory.exceptions import Invalid
from memory.models import FactAssessment, Project
from tests.memory.merging.conftest import TASK, judge, write_verified

pytestmark = pytest.mark.django_db(transaction=True)
facts = FactEngine()


def run(actor: Any, name: str, **options: Any) -> GateResult:
    found = MergeEngine().preview_merge(source=TASK, actor=actor, **options)
    (result,) = [one for one in found.check.results if one.name == name]
    return result


class TestConflicts:
    @pytest.mark.parametrize(
        ("reason", "words"),
        [
            ("vectors_pending", "without their vector yet"),
            ("embedder_off", "Without an embedder"),
            ("embedder_unavailable", "does not answer"),
        ],
    )
    def test_facts_that_were_not_compared_are_a_warning(self, mira, learned, task, main, reason, words):
        """The plan itself says so where an embedder is at work; here it is told."""
        options = MergeOptions(task, main)
        plan = load_plan(options, options.points)
        plan.unchecked, plan.unchecked_reason = [learned.uid], reason
        result = run_gate("conflicts", plan, options, Policy())
        assert (result.state, result.ids, result.count) == ("warning", (learned.uid,), 1)
        assert words in result.reason
        assert result.reason.endswith(": 1.")

    def test_each_conflict_waits_for_its_decision(self, mira, conflict):
        result = run(mira, "conflicts")
        assert (result.state, result.ids, result.link) == ("failed", (conflict.uid,), "class=conflict")
        assert run(mira, "conflicts", decisions=[Decision(conflict.uid, "skip")]).state != "failed"

    def test_one_decision_settles_one_conflict(self, mira, main):
        both = [write_verified(mira, f"Token {n} lives for a day.", "main") for n in range(2)]
        BranchManager().create_branch(name=TASK, actor=mira)
        for branch, fact in product(("main", TASK), both):
            updates = {"fact_text": f"{fact.fact_text} On {branch}."}
            facts.update_fact(fact_id=fact.uid, updates=updates, branch_name=branch, actor=mira)
        one, two = (Decision(fact.uid, "target") for fact in both)
        assert set(run(mira, "conflicts").ids) == {one.uid, two.uid}
        result = run(mira, "conflicts", decisions=[one])
        assert (result.state, result.ids, result.count) == ("failed", (two.uid,), 1)
        assert run(mira, "conflicts", decisions=[one, two]).state != "failed"


@pytest.mark.parametrize("owner", [{}, {"user_id": "ann", "app_id": "shop"}])
def test_the_hash_of_what_a_verdict_is_about_is_that_of_its_row(mira, main, owner):
    learned = facts.write_fact(fact_text="A guess.", actor=mira, **owner).fact
    item = ItemEngine().put_item(namespace="a/b", key="k", value={"n": 1}, actor=mira, **owner).fact
    for row in (learned, item):
        assert compute_judged_hash(row.content_values()) == row.judged_hash


class TestVerified:
    def test_a_fact_without_a_verdict_fails(self, mira, learned):
        guess = facts.write_fact(fact_text="A guess.", branch_name=TASK, actor=mira).fact
        result = run(mira, "require_verified")
        assert (result.state, result.ids, result.count) == ("failed", (guess.uid,), 1)
        assert result.verifiable == (guess.uid,)
        assert result.reason == (
            f"Unverified facts: 1. Have a person verify them on {TASK}, all in one action,"
            " or set a judge (DAY1_JUDGE_MODEL), or ask for less in the policy of main."
        )

    def test_no_fact_at_all_passes(self, mira, task):
        assert run(mira, "require_verified").reason == "No fact arrives."

    def test_an_invalidated_one_always_fails(self, mira, learned):
        wrong = write_verified(mira, "Wrong.")
        judge(mira, wrong, action="invalidate")
        result = run(mira, "require_verified")
        assert (result.state, result.ids) == ("failed", (wrong.uid,))
        assert result.verifiable == ()
        assert result.reason == (
            "Facts that were judged to be wrong: 1; unverified: 0. Archive the wrong ones"
            f" on {TASK} or leave them out, and have the others verified."
        )

    def test_a_verdict_is_on_what_the_fact_says(self, mira, learned):
        facts.update_fact(
            fact_id=learned.uid, updates={"fact_text": "Another."}, branch_name=TASK, actor=mira
        )
        assert run(mira, "require_verified").state == "failed"
        judge(mira, learned)
        assert run(mira, "require_verified").state == "passed"

    def test_what_the_heuristic_verified_before_is_a_guess(self, mira, learned):
        FactAssessment.objects.all_versions().filter(uid=learned.uid).update(method="heuristic")
        result = run(mira, "require_verified")
        assert (result.state, result.ids, result.verifiable) == ("failed", (learned.uid,), (learned.uid,))

    def test_archived_facts_do_not_count(self, mira, learned):
        guess = facts.write_fact(fact_text="A guess.", branch_name=TASK, actor=mira).fact
        ActionEngine().apply_action(action="archive", fact_ids=[guess.uid], branch_name=TASK, actor=mira)
        assert run(mira, "require_verified").state == "passed"

    @pytest.mark.parametrize(
        ("choice", "state"), [("skip", "passed"), ("target", "passed"), ("source", "failed")]
    )
    def test_what_is_left_out_does_not_count(self, mira, conflict, choice, state):
        facts.update_fact(
            fact_id=conflict.uid, updates={"fact_text": "A guess."}, branch_name=TASK, actor=mira
        )
        decisions = [Decision(conflict.uid, choice)]
        assert run(mira, "require_verified", decisions=decisions).state == state

    def test_what_is_not_picked_does_not_count(self, mira, learned):
        facts.write_fact(fact_text="A guess.", branch_name=TASK, actor=mira)
        options = {"strategy": "cherry_pick", "ids": [learned.uid]}
        assert run(mira, "require_verified", **options).state == "passed"

    def test_an_edited_text_has_no_verdict(self, mira, conflict):
        decisions = [Decision(conflict.uid, "edited", text="Half a day.")]
        assert run(mira, "require_verified", decisions=decisions).state == "failed"

    @pytest.mark.parametrize(("strategy", "state"), [("ours", "passed"), ("theirs", "failed")])
    def test_the_strategy_decides_what_arrives(self, mira, conflict, strategy, state):
        facts.update_fact(
            fact_id=conflict.uid, updates={"fact_text": "A guess."}, branch_name=TASK, actor=mira
        )
        assert run(mira, "require_verified", strategy=strategy).state == state


class TestSecrets:
    def test_a_secret_that_was_stored_does_not_arrive(self, mira, project, task):
        Project.objects.filter(pk=project.pk).update(redact_secrets=False)
        secrets_found.start(project.pk)
        text = "The key is ghp_" + "a1B2" * 9
        fact = write_verified(mira, text)
        assert fact.fact_text == text
        result = run(mira, "secrets")
        assert (result.state, result.ids) == ("failed", (fact.uid,))
        assert result.reason == "Memories whose text holds a secret: 1."

    def test_plain_texts_pass(self, mira, learned):
        assert run(mira, "secrets").reason == "No secret was found in the texts that arrive."


class TestRegistry:
    def test_one_entry_in_the_settings_makes_a_gate(self, mira, learned, settings):
        gates = {"secrets": f"{__name__}.refuse_everything"}
        settings.DAY1 = {**settings.DAY1, "merge_gates": gates}
        result = run(mira, "secrets")
        assert (result.state, result.reason) == ("failed", "No.")

    def test_a_gate_that_the_settings_do_not_name_fails(self, mira, learned, settings):
        settings.DAY1 = {**settings.DAY1, "merge_gates": {}}
        result = run(mira, "conflicts")
        assert (result.state, result.reason) == ("failed", "The settings name no gate conflicts.")

    def test_a_policy_names_the_gates_of_the_settings(self, ada):
        entry, _ = PolicyEngine().set_policy(pattern="main", gates=list(conf().merge_gates), actor=ada)
        assert (
            entry.gates
            == [name for name, _ in GATES]
            == ["conflicts", "require_verified", "secrets", "recall"]
        )
        with pytest.raises(Invalid):
            PolicyEngine().set_policy(pattern="main", gates=["none"], actor=ada)

    def test_methods_that_the_policy_does_not_accept(self, mira, ada, learned):
        PolicyEngine().set_policy(pattern="main", accept_methods=["judge"], actor=ada)
        result = run(mira, "require_verified")
        assert (result.state, result.ids) == ("failed", (learned.uid,))

    def test_a_wrong_path_is_found_at_the_start(self, settings):
        settings.DAY1 = {**settings.DAY1, "merge_gates": {"x": "memory.nowhere.check"}}
        assert "day1.E011" in [found.id for found in run_checks(tags=["day1"])]


def refuse_everything(name: str, plan: Any, options: Any, policy: Any) -> GateResult:
    return GateResult(name, "failed", "No.")
