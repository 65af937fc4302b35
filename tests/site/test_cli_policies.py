"""The commands on branch policies and on proposals."""

import json

import pytest

from memory.actors import Actor
from memory.engines.audit.trail import AuditEngine
from memory.engines.facts.engine import FactEngine
from memory.models import BranchPolicy, Commit, Fact
from tests.command_line import Day1

pytestmark = pytest.mark.django_db(transaction=True)

NOWHERE = "01970000-0000-7000-8000-000000000000"
REFUSED = (
    "direct_writes_refused: The branch main takes no direct writes: write on a branch of your own and open a"
    " merge request, or propose the fact.\n"
)


@pytest.fixture
def proposals(actor: Actor) -> list[Fact]:
    return [
        FactEngine().write_fact(fact_text=f"Proposal {n}.", propose=True, actor=actor).fact for n in (1, 2)
    ]


def test_a_policy_is_set_shown_listed_and_deleted(day1: Day1) -> None:
    words = ("--direct-writes", "refuse", "--approvals", "2", "--gate", "secrets", "--accept-method", "human")
    assert day1("policy", "set", "task/*", *words) == (
        0,
        "task/*\tdirect writes: refuse, approvals: 2\n",
        "",
    )
    day1("branch", "create", "task/a")
    assert day1("policy", "show", "task/a")[1].splitlines() == [
        "branch: task/a",
        "set for: task/*",
        "direct_writes: refuse",
        "approvals: 2",
        "author_may_approve: no",
        "gates: secrets",
        "accept_methods: human",
    ]
    day1("policy", "set", "task/*", "--no-gates", "--author-may-approve", "true")
    entry = BranchPolicy.objects.get()
    assert (entry.gates, entry.author_may_approve, entry.approvals) == ([], True, 2)
    listed = json.loads(day1("policy", "--format", "json")[1])["results"]
    assert [(row["pattern"], row["direct_writes"]) for row in listed] == [("task/*", "refuse")]
    assert day1("policy", "delete", "task/*") == (0, "task/*\tpolicy deleted\n", "")
    assert "set for: no pattern: these are the defaults" in day1("policy", "show", "task/a")[1]


def test_what_a_policy_command_does_not_understand_changes_nothing(day1: Day1) -> None:
    for words, status in (
        (("set", "main", "--direct-writes", "deny"), 2),
        (("set", "main", "--gate", "secrets", "--no-gates"), 2),
        (("set", "main", "--gate", "vibes"), 1),
        (("set", "Main"), 1),
        (("set", "", "--approvals", "1"), 2),
        (("delete", "/"), 2),
        (("delete", "main"), 1),
        (("show", "none"), 1),
    ):
        assert day1("policy", *words)[0] == status, words
    assert BranchPolicy.objects.count() == 0


def test_a_refused_write_says_the_way_and_a_proposal_goes_it(day1: Day1) -> None:
    day1("policy", "set", "main", "--direct-writes", "refuse")
    assert day1("write-fact", "Tea.") == (1, "", REFUSED)
    status, out, _ = day1("write-fact", "Tea.", "--propose")
    assert (status, out.partition("\t")[2]) == (0, "proposed on main\n")
    assert day1("facts", "accept", out.partition("\t")[0])[0] == 0
    assert Fact.objects.all_versions().latest("rid").status == "active"


def test_proposals_are_answered_many_at_once_with_a_line_for_each(
    day1: Day1, proposals: list[Fact], actor: Actor
) -> None:
    one, two = (str(fact.uid) for fact in proposals)
    status, out, err = day1("facts", "accept", one, NOWHERE)
    assert (status, out) == (
        1,
        f"{one}\tAccepted.\n{NOWHERE}\tNothing with this id is visible here.\n",
    )
    commit = Commit.objects.latest("seq")
    assert str(commit.pk) in err
    reason = "Guessed. " + "It was never read in the code. " * 20
    assert day1("facts", "refuse", two, "--reason", reason)[:2] == (0, f"{two}\tRefused.\n")
    answered = {fact.fact_text: fact.status for fact in FactEngine().list_facts(actor=actor).results}
    assert answered == {"Proposal 1.": "active", "Proposal 2.": "archived"}
    trail = AuditEngine().list_entries(actor=actor, action="fact.refuse").results
    assert trail[0].detail["reason"] == reason
    assert Commit.objects.latest("seq").message == reason[:500]
    assert day1("facts", "refuse", one)[0] == 1
    assert day1("facts", "accept")[0] == 2
