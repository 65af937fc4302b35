"""Merges and merge requests on the command line, on the local store."""

import json
import re
from typing import Any

import pytest

from memory.actors import Actor
from memory.engines.branches.manager import BranchManager
from memory.engines.facts.bulk_actions import ActionEngine
from memory.engines.facts.engine import FactEngine
from memory.engines.versions.lookup import find_branch
from memory.models import Fact, MergeRequest, Project
from tests.command_line import Day1

pytestmark = pytest.mark.django_db(transaction=True)
TASK = "task/tokens"
facts = FactEngine()


@pytest.fixture
def learned(actor: Actor, project: Project) -> Fact:
    BranchManager().create_branch(name=TASK, actor=actor)
    fact = facts.write_fact(fact_text="Tokens live for an hour.", branch_name=TASK, actor=actor).fact
    verify(actor, fact, TASK)
    return fact


@pytest.fixture
def conflict(actor: Actor, project: Project) -> Fact:
    fact = facts.write_fact(fact_text="A day.", actor=actor).fact
    BranchManager().create_branch(name=TASK, actor=actor)
    for branch, text in (("main", "Two days."), (TASK, "An hour.")):
        facts.update_fact(fact_id=fact.uid, updates={"fact_text": text}, branch_name=branch, actor=actor)
        verify(actor, fact, branch)
    return fact


def verify(actor: Actor, fact: Fact, branch: str) -> None:
    ActionEngine().apply_action(action="verify", fact_ids=[fact.uid], branch_name=branch, actor=actor)


def texts(actor: Actor) -> list[str]:
    return sorted(Fact.objects.on(find_branch(actor, "main")).values_list("fact_text", flat=True))


def test_a_branch_is_merged(day1: Day1, actor: Actor, learned: Fact) -> None:
    status, out, err = day1("branch", "merge", TASK, "--dry-run")
    assert (status, out.splitlines()[0]) == (0, "class\ttype\tid\treason\ttext")
    assert f"applied\tfact\t{learned.uid}\tnew\tTokens live for an hour." in out
    assert "secrets passed: No secret was found in the texts that arrive." in err
    assert err.endswith("Nothing was changed.\n")
    assert texts(actor) == []
    status, out, err = day1("branch", "merge", TASK, "--message", "Done.")
    assert (status, out.split("\t")[1]) == (0, f"merged {TASK} into main\n")
    assert "fact: 1 applied" in err
    assert texts(actor) == ["Tokens live for an hour."]
    assert day1("branch", "merge", TASK) == (0, "", f"main has all of {TASK} already: nothing to do.\n")


def test_a_person_verifies_what_a_merge_would_bring(day1: Day1, actor: Actor, learned: Fact) -> None:
    guess = facts.write_fact(fact_text="A guess.", branch_name=TASK, actor=actor).fact
    status, out, err = day1("verification", "gate", TASK)
    assert (status, f"{guess.uid}\n" in out) == (1, True)
    assert err == f"Once you have read them: day1 verification gate {TASK} --verify\n"
    assert day1("verification", "gate", TASK, "--reason", "read")[0] == 2
    status, out, err = day1("verification", "gate", TASK, "--verify", "--reason", "read", "--format", "json")
    assert (status, err, json.loads(out)["can_merge"]) == (0, "", True)
    now = facts.get_fact(fact_id=guess.uid, branch_name=TASK, actor=actor)
    assert (now.verification_status, now.verification_reason) == ("verified", "read")


def test_what_a_merge_is_refused_for(day1: Day1, actor: Actor, learned: Fact) -> None:
    facts.write_fact(fact_text="A guess.", branch_name=TASK, actor=actor)
    text = (
        "conflict: The merge is refused by require_verified: Unverified facts: 1. Have a"
        f" person verify them on {TASK}, all in one action, or set a judge (DAY1_JUDGE_MODEL), or ask for"
        " less in the policy of main.\n"
    )
    assert day1("branch", "merge", TASK) == (1, "", text)
    assert (
        day1("branch", "merge", TASK, "--into", TASK)[2]
        == "conflict: A branch cannot be merged into itself.\n"
    )
    assert day1("branch", "merge", TASK, "--strategy", "best")[0] == 2
    options = ("--strategy", "cherry_pick", "--id", str(learned.uid))
    assert day1("branch", "merge", TASK, *options)[0] == 0
    assert texts(actor) == ["Tokens live for an hour."]
    assert day1("branch", "merge", TASK, "--force")[0] == 0
    assert texts(actor) == ["A guess.", "Tokens live for an hour."]


def test_a_merge_request(day1: Day1, actor: Actor, conflict: Fact) -> None:
    assert day1("merge-request")[2] == "No merge request: day1 merge-request create BRANCH opens one.\n"
    assert day1("merge-request", "create", TASK, "--title", "Shorter") == (0, "1\tShorter\n", "")
    assert day1("merge-request", "create", TASK)[2].startswith("exists: Merge request 1 from task/tokens")
    _, out, _ = day1("merge-request", "list", "--state", "open")
    assert out.splitlines()[1].split("\t")[:5] == ["1", "open", TASK, "main", "local"]
    status, out, err = day1("merge-request", "show", "1")
    assert (status, "state: open" in out) == (0, True)
    assert "conflicts failed: Conflicts without a decision: 1." in err
    _, out, _ = day1("merge-request", "plan", "1", "--class", "conflict")
    assert f"conflict\tfact\t{conflict.uid}\tedited\tAn hour." in out
    decide = ("merge-request", "decide", "1", "--id", str(conflict.uid), "--choice", "source")
    assert day1(*decide) == (0, "1\t1 decided, 0 left\n", "")
    assert "edited, source" in day1("merge-request", "plan", "1", "--class", "conflict")[1]
    assert day1("merge-request", "merge", "1")[1].startswith("1\tmerged as ")
    assert texts(actor) == ["An hour."]
    assert day1("merge-request", "revert", "1")[1].startswith("1\treverted by ")
    assert texts(actor) == ["Two days."]
    assert (
        day1("merge-request", "merge", "1")[2] == "illegal_transition: Merge request 1 is reverted already.\n"
    )


def test_by_rule_and_by_token(day1: Day1, conflict: Fact) -> None:
    day1("merge-request", "create", TASK)
    rule = ("merge-request", "decide", "1", "--all", "--choice", "target")
    assert day1(*rule, "--reason", "deleted")[1] == "1\t0 decided, 1 left\n"
    assert day1(*rule, "--reason", "edited")[1] == "1\t1 decided, 0 left\n"
    one = ("merge-request", "decide", "1", "--id", str(conflict.uid), "--choice", "edited", "--text", "Noon.")
    assert day1(*one, "--token", "old")[2].startswith(
        "conflict: Conflicts changed since they were decided: 1."
    )
    assert day1(*one)[1] == "1\t1 decided, 0 left\n"
    for words in (("--choice", "source"), ("--all", "--id", "x", "--choice", "source")):
        assert day1("merge-request", "decide", "1", *words)[0] == 2
    assert day1(*rule, "--token", "x")[0] == 2


def test_approve_and_reject(day1: Day1, learned: Fact) -> None:
    status, out, _ = day1("--format", "json", "merge-request", "create", TASK, "--description", "Why.")
    made: dict[str, Any] = json.loads(out)
    assert (status, made["description"], made["number"]) == (0, "Why.", 1)
    MergeRequest.objects.update(author_id="somebody else")
    assert day1("merge-request", "approve", "1") == (0, "1\tapproved\n", "")
    assert "approved by local" in day1("merge-request", "show", "1")[2]
    assert day1("merge-request", "reject", made["id"], "--reason", "No.") == (0, "1\trejected\n", "")
    assert day1("merge-request", "show", "7")[2] == "not_found: Nothing with this id is visible here.\n"


def test_withdraw(day1: Day1, conflict: Fact) -> None:
    day1("merge-request", "create", TASK)
    day1("merge-request", "decide", "1", "--all", "--choice", "target")
    day1("merge-request", "approve", "1")
    assert day1("merge-request", "withdraw", "1", "--type", "fact")[0] == 2
    assert day1("merge-request", "withdraw", "1", "--id", str(conflict.uid))[:2] == (0, "1\topen\n")
    assert MergeRequest.objects.get().decisions.filter(kind="fact").count() == 0
    assert day1("merge-request", "withdraw", "1")[:2] == (0, "1\topen\n")
    status, _, error = day1("merge-request", "withdraw", "1")
    assert (status, error.strip()) == (1, "not_found: You have not approved merge request 1.")


def test_what_one_call_decided_is_withdrawn(day1: Day1, conflict: Fact) -> None:
    day1("merge-request", "create", TASK)
    status, out, error = day1("merge-request", "decide", "1", "--all", "--type", "fact", "--choice", "target")
    assert (status, out) == (0, "1\t1 decided, 0 left\n")
    found = re.search(r"day1 merge-request withdraw 1 --decided-at (\S+) takes it back", error)
    assert found
    words = ("merge-request", "decide", "1", "--all", "--type", "fact", "--only-open", "--choice", "source")
    assert day1(*words) == (0, "1\t0 decided, 0 left\n", "")
    assert day1("merge-request", "decide", "1", "--id", "x", "--only-open", "--choice", "source")[0] == 2
    withdraw = ("merge-request", "withdraw", "1", "--decided-at", found[1])
    assert day1(*withdraw, "--id", str(conflict.uid))[0] == 2
    assert day1(*withdraw)[:2] == (0, "1\topen\n")
    assert MergeRequest.objects.get().decisions.count() == 0
    assert day1(*withdraw)[0] == 1


def test_a_closed_request_says_why_it_is_not_checked(day1: Day1, learned: Fact) -> None:
    day1("merge-request", "create", TASK)
    day1("merge-request", "merge", "1")
    assert "not checked: Merge request 1 is merged already." in day1("merge-request", "show", "1")[2]
