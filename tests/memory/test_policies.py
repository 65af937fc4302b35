"""Branch policies: which one is in force, who may change it, and what is left of a change."""

from dataclasses import replace

import pytest

from memory.actors import local_actor
from memory.engines.access.policies import PolicyEngine
from memory.engines.activity.events import EventEngine
from memory.engines.audit.trail import AuditEngine
from memory.engines.branches.manager import BranchManager
from memory.engines.versions.policies import MAX_POLICIES, find_policy
from memory.exceptions import (
    BranchForbidden,
    BranchNotFound,
    Invalid,
    NotFound,
    ScopeMissing,
    TooLarge,
    UnknownField,
)
from memory.models import BranchPolicy

pytestmark = pytest.mark.django_db(transaction=True)
ENGINE = PolicyEngine()
EVERY_METHOD = ("human", "judge")


def with_scope(actor, *scopes):
    return replace(actor, scopes=frozenset(scopes))


def rules_of(policy):
    names = ("gates", "approvals", "author_may_approve", "accept_methods", "direct_writes")
    return tuple(tuple(v) if isinstance(v, list) else v for v in (getattr(policy, n) for n in names))


def test_without_an_entry_main_wants_verified_facts_and_other_branches_do_not(actor, main):
    gates = ("conflicts", "require_verified", "secrets", "recall")
    assert rules_of(find_policy(actor.project_id, "main")) == (gates, 0, True, EVERY_METHOD, "allow")
    others = (("conflicts", "secrets"), 0, True, EVERY_METHOD, "allow")
    assert rules_of(find_policy(actor.project_id, "task/a")) == others
    assert (find_policy(actor.project_id, "main").pattern, BranchPolicy.objects.count()) == ("", 0)


def test_the_exact_name_goes_before_the_longest_pattern_and_that_before_shorter_ones(actor, main):
    for pattern in ("*", "task/*", "task/fix-*", "task/fix-a"):
        ENGINE.set_policy(pattern=pattern, actor=actor, approvals=2)
    in_force = {
        name: find_policy(actor.project_id, name).pattern
        for name in ("main", "task/b", "task/fix-b", "task/fix-a", "task")
    }
    assert in_force == {
        "main": "*",
        "task/b": "task/*",
        "task/fix-b": "task/fix-*",
        "task/fix-a": "task/fix-a",
        "task": "*",
    }


def test_of_two_patterns_of_one_length_the_first_by_name_is_in_force(actor, main):
    for pattern in ("tas*", "tas?"):
        ENGINE.set_policy(pattern=pattern, actor=actor)
    assert find_policy(actor.project_id, "task").pattern == "tas*"


def test_what_is_not_given_stays_as_it_is_and_a_new_entry_begins_with_the_defaults(actor, main):
    entry, created = ENGINE.set_policy(pattern="main", actor=actor, direct_writes="propose")
    assert created
    gates = ("conflicts", "require_verified", "secrets", "recall")
    assert rules_of(entry) == (gates, 0, True, EVERY_METHOD, "propose")
    entry, created = ENGINE.set_policy(pattern="main", actor=actor, approvals=1, accept_methods=["human"])
    assert not created
    assert rules_of(entry) == (gates, 1, False, ("human",), "propose")
    entry, _ = ENGINE.set_policy(pattern="main", actor=actor, author_may_approve=True, gates=["secrets"] * 2)
    assert rules_of(entry) == (("secrets",), 1, True, ("human",), "propose")
    assert rules_of(find_policy(actor.project_id, "main")) == rules_of(entry)
    assert entry.updated_by == actor.label


def test_setting_the_same_again_leaves_no_trace(actor, main):
    entry, _ = ENGINE.set_policy(pattern="main", actor=actor, approvals=1)
    again, created = ENGINE.set_policy(pattern="main", actor=actor, approvals=1)
    assert (again.updated_at, created) == (entry.updated_at, False)
    assert [row.action for row in AuditEngine().list_entries(actor=actor).results] == ["policy.set"]


def test_the_heuristic_counts_for_nothing_whatever_a_policy_says(actor, main):
    entry, _ = ENGINE.set_policy(pattern="main", actor=actor, accept_methods=["human", "heuristic"])
    assert (entry.accept_methods, find_policy(actor.project_id, "main").accept_methods) == (
        ["human"],
        ("human",),
    )
    for stored, read in ((["judge", "heuristic"], ["judge"]), (["heuristic"], ["human", "judge"])):
        BranchPolicy.objects.update(accept_methods=stored)
        assert ENGINE.get_entry(pattern="main", actor=actor).accept_methods == read
        assert find_policy(actor.project_id, "main").accept_methods == tuple(read)


def test_a_deleted_entry_gives_way_to_the_next(actor, main):
    ENGINE.set_policy(pattern="*", actor=actor, approvals=3)
    ENGINE.set_policy(pattern="main", actor=actor, approvals=1)
    ENGINE.delete_policy(pattern="main", actor=actor)
    assert find_policy(actor.project_id, "main").approvals == 3
    ENGINE.delete_policy(pattern="*", actor=actor)
    assert find_policy(actor.project_id, "main").is_default
    with pytest.raises(NotFound):
        ENGINE.delete_policy(pattern="*", actor=actor)


def test_changes_are_in_the_audit_trail_and_among_the_events(actor, main):
    ENGINE.set_policy(pattern="task/*", actor=actor, direct_writes="refuse")
    ENGINE.set_policy(pattern="task/*", actor=actor, direct_writes="allow")
    ENGINE.delete_policy(pattern="task/*", actor=actor)
    trail = AuditEngine().list_entries(actor=actor).results
    assert [(row.action, row.target) for row in trail] == [
        ("policy.delete", "task/*"),
        ("policy.set", "task/*"),
        ("policy.set", "task/*"),
    ]
    assert trail[1].detail["direct_writes"] == "allow"
    assert trail[1].detail["before"]["direct_writes"] == "refuse"
    assert "before" not in trail[2].detail
    events, _ = EventEngine().read_events(project_id=actor.project_id, after=0)
    assert [(event.kind, event.branch) for event in events] == [
        ("policy.set", "task/*"),
        ("policy.set", "task/*"),
        ("policy.delete", "task/*"),
    ]


@pytest.mark.parametrize(
    ("rules", "error", "field"),
    [
        ({"approvals": 6}, Invalid, "approvals"),
        ({"approvals": -1}, Invalid, "approvals"),
        ({"approvals": "1"}, Invalid, "approvals"),
        ({"direct_writes": "deny"}, Invalid, "direct_writes"),
        ({"author_may_approve": 1}, Invalid, "author_may_approve"),
        ({"gates": ["vibes"]}, Invalid, "gates"),
        ({"gates": "secrets"}, Invalid, "gates"),
        ({"accept_methods": []}, Invalid, "accept_methods"),
        ({"accept_methods": ["coin"]}, Invalid, "accept_methods"),
        ({"accept_methods": ["heuristic"]}, Invalid, "accept_methods"),
        ({"accept_methods": None}, Invalid, "accept_methods"),
        ({"colour": "red"}, UnknownField, "colour"),
    ],
)
def test_a_bad_rule_is_refused_and_changes_nothing(actor, main, rules, error, field):
    with pytest.raises(error) as caught:
        ENGINE.set_policy(pattern="main", actor=actor, **rules)
    assert caught.value.data["field"] == field
    assert BranchPolicy.objects.count() == 0


@pytest.mark.parametrize("pattern", ["", "Main", "a b", "task/", "x" * 201, "é", "[ab]", 5])
def test_a_bad_pattern_is_refused(actor, main, pattern):
    with pytest.raises(Invalid) as caught:
        ENGINE.set_policy(pattern=pattern, actor=actor)
    assert caught.value.data["field"] == "pattern"
    assert BranchPolicy.objects.count() == 0


def test_a_project_has_a_limited_number_of_entries(actor, main):
    for number in range(MAX_POLICIES):
        ENGINE.set_policy(pattern=f"b{number}", actor=actor)
    with pytest.raises(TooLarge):
        ENGINE.set_policy(pattern="one-more", actor=actor)
    ENGINE.set_policy(pattern="b0", actor=actor, approvals=1)
    assert BranchPolicy.objects.count() == MAX_POLICIES


@pytest.mark.parametrize("scope", ["read", "propose", "write", "curate", "merge"])
def test_only_admins_change_policies_and_readers_read_them(actor, main, scope):
    ENGINE.set_policy(pattern="main", actor=actor, approvals=1)
    reader = with_scope(actor, scope)
    for change in (
        lambda: ENGINE.set_policy(pattern="main", actor=reader, approvals=0),
        lambda: ENGINE.delete_policy(pattern="main", actor=reader),
    ):
        with pytest.raises(ScopeMissing):
            change()
    assert ENGINE.get_policy(name="main", actor=reader).approvals == 1
    assert [row.pattern for row in ENGINE.list_policies(actor=reader).results] == ["main"]


def test_a_key_of_some_branches_neither_changes_nor_reads_those_of_others(actor, main):
    for pattern in ("main", "task/*", "*"):
        ENGINE.set_policy(pattern=pattern, actor=actor, approvals=1)
    bound = replace(actor, branch_patterns=("task/*",))
    for pattern in ("main", "*", "tas?/*", "other"):
        with pytest.raises(BranchForbidden):
            ENGINE.set_policy(pattern=pattern, actor=bound, approvals=0)
    with pytest.raises(BranchForbidden):
        ENGINE.delete_policy(pattern="*", actor=bound)
    with pytest.raises(BranchForbidden):
        ENGINE.get_policy(name="main", actor=bound)
    with pytest.raises(NotFound):
        ENGINE.get_entry(pattern="main", actor=bound)
    assert [row.pattern for row in ENGINE.list_policies(actor=bound).results] == ["*", "task/*"]
    ENGINE.set_policy(pattern="task/a", actor=bound, approvals=0)
    BranchManager().create_branch(name="task/a", actor=actor)
    assert ENGINE.get_policy(name="task/a", actor=bound).pattern == "task/a"


def test_policies_of_another_project_are_none(actor, main, other_project):
    ENGINE.set_policy(pattern="main", actor=actor, direct_writes="refuse")
    stranger = local_actor(other_project.pk)
    assert ENGINE.get_policy(name="main", actor=stranger).is_default
    assert ENGINE.list_policies(actor=stranger).results == []
    with pytest.raises(NotFound):
        ENGINE.delete_policy(pattern="main", actor=stranger)
    with pytest.raises(BranchNotFound):
        ENGINE.get_policy(name="none", actor=stranger)
    assert BranchPolicy.objects.get().direct_writes == "refuse"
