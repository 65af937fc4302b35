"""The tree of branches, what people keep about them, and the archiving of those that are done with."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from conversations.engines.conversations import ConversationEngine
from memory.actors import Actor
from memory.engines.branches.branch_states import load_branches
from memory.engines.branches.manager import BranchManager
from memory.engines.branches.revert import RevertEngine
from memory.engines.branches.topology import MAX_NODES, BranchTopologyEngine, BranchTree
from memory.engines.facts.engine import FactEngine
from memory.engines.merging.engine import MergeEngine
from memory.engines.merging.requests import MergeRequestEngine
from memory.engines.sessions.observations import ObservationEngine
from memory.engines.versions.commits import open_commit
from memory.exceptions import (
    BranchArchived,
    BranchForbidden,
    BranchNotFound,
    Invalid,
    ScopeMissing,
    UnknownField,
)
from memory.extensions import load_extensions
from memory.models import AuditEntry, Branch, Commit, Fact, Project

pytestmark = pytest.mark.django_db(transaction=True)
BRANCHES, FACTS, TOPOLOGY = BranchManager(), FactEngine(), BranchTopologyEngine()


def make(actor: Actor, *names: str, parent: str = "main", **details: Any) -> None:
    for name in names:
        BRANCHES.create_branch(name=name, parent=parent, actor=actor, **details)


def write(actor: Actor, text: str, branch: str = "main", **more: Any) -> Fact:
    return FACTS.write_fact(fact_text=text, branch_name=branch, actor=actor, **more).fact


def merge(actor: Actor, source: str, target: str) -> Commit:
    """Bring a branch's facts to another by a commit that names where they are from, as a merge does."""
    origin = Branch.objects.get(project=actor.project_id, name=source)
    with open_commit(actor, target, "branch.merge") as commit:
        for row in Fact.objects.on(origin).filter(branch=origin.pk).fetch_all():
            commit.merge_versions([(None, row)])
    assert commit.commit is not None
    Commit.objects.filter(pk=commit.commit.pk).update(source_branch=origin, source_seq=origin.head)
    return commit.commit


def age(actor: Actor, name: str, days: float) -> None:
    """Move the last change of a branch into the past."""
    rows = Branch.objects.filter(project=actor.project_id, name=name)
    assert rows.update(head_at=timezone.now() - timedelta(days=days)) == 1


def told(tree: BranchTree) -> list[tuple[str, int, str]]:
    return [(node.branch.name, node.level, node.state.value) for node in tree.results]


def distance(actor: Actor, name: str) -> tuple[int, int]:
    branch = BRANCHES.get_branch(name=name, actor=actor)
    return branch.ahead, branch.behind


def refuse_all(tree: BranchTree) -> None:
    assert not tree.results


# ---- ahead and behind ----------------------------------------------------------------------------


def test_a_branch_is_ahead_by_its_own_commits_and_behind_by_those_of_its_parent(actor: Actor) -> None:
    write(actor, "before")
    make(actor, "task/a")
    write(actor, "one", "task/a")
    write(actor, "two", "task/a")
    write(actor, "later on main")
    assert distance(actor, "task/a") == (2, 1)
    assert distance(actor, "main") == (2, 0)
    rows = BRANCHES.list_branches(actor=actor).results
    assert [(row.name, row.ahead, row.behind) for row in rows] == [("main", 2, 0), ("task/a", 2, 1)]


def test_a_merge_leaves_the_branch_not_ahead_and_its_difference_empty(actor: Actor) -> None:
    make(actor, "task/a")
    write(actor, "one", "task/a")
    commit = merge(actor, "task/a", "main")
    assert distance(actor, "task/a") == (0, 1)
    diff = BRANCHES.compare_branch(name="task/a", actor=actor)
    assert (diff.ahead, diff.behind, diff.page.results) == (0, 1, [])
    new = write(actor, "two", "task/a")
    assert distance(actor, "task/a") == (1, 1)
    diff = BRANCHES.compare_branch(name="task/a", actor=actor)
    assert (diff.ahead, diff.behind) == (1, 1)
    assert [(one.uid, one.change) for one in diff.page.results] == [(new.uid, "added")]
    assert diff.since_merge
    RevertEngine().revert_commit(commit_id=commit.pk, actor=actor)
    revert = Branch.objects.get(project=actor.project_id, name="main").commits.first()
    Commit.objects.filter(pk=revert.pk).update(reverts=commit.pk)
    assert distance(actor, "task/a") == (2, 2)
    assert len(BRANCHES.compare_branch(name="task/a", actor=actor).page.results) == 2


def test_what_an_update_from_the_parent_brought_is_no_change_of_the_branch(actor: Actor) -> None:
    make(actor, "task/a")
    own = write(actor, "one", "task/a")
    write(actor, "later on main")
    assert distance(actor, "task/a") == (1, 1)
    merge(actor, "main", "task/a")
    assert distance(actor, "task/a") == (2, 0)
    diff = BRANCHES.compare_branch(name="task/a", actor=actor)
    assert [(one.uid, one.change) for one in diff.page.results] == [(own.uid, "added")]
    assert (diff.ahead, diff.behind) == (2, 0)
    past = BRANCHES.compare_branch(name="task/a", at=1, actor=actor)
    assert (past.ahead, past.behind) == (1, 1)


def test_later_pages_of_a_difference_do_not_see_a_merge_that_came_between(actor: Actor) -> None:
    make(actor, "task/a")
    for n in range(3):
        write(actor, f"fact {n}", "task/a")
    first = BRANCHES.compare_branch(name="task/a", actor=actor, limit=2)
    merge(actor, "task/a", "main")
    second = BRANCHES.compare_branch(name="task/a", actor=actor, limit=2, cursor=first.page.next)
    assert [one.after.fact_text for one in (*first.page.results, *second.page.results)] == [
        "fact 2",
        "fact 1",
        "fact 0",
    ]


# ---- the tree ------------------------------------------------------------------------------------


def test_the_tree_tells_what_each_branch_holds_of_its_own(actor: Actor) -> None:
    write(actor, "on main", agent_id="ledger")
    make(actor, "task/b", "task/a")
    make(actor, "task/a/ada", parent="task/a")
    one = write(actor, "one", "task/a", agent_id="ada")
    write(actor, "two", "task/a", agent_id="bo")
    FACTS.delete_fact(fact_id=one.uid, branch_name="task/a", actor=actor)
    ObservationEngine().write_observation(summary="seen", branch_name="task/a", actor=actor)
    ConversationEngine().create_conversation(branch_name="task/a/ada", actor=actor)
    tree = TOPOLOGY.get_topology(actor=actor)
    assert told(tree) == [
        ("main", 0, "live"),
        ("task/a", 1, "live"),
        ("task/a/ada", 2, "live"),
        ("task/b", 1, "live"),
    ]
    held = {node.branch.name: node for node in tree.results}
    counts = [(n.facts, n.conversations, n.observations, n.agents, n.children) for n in tree.results]
    assert counts == [(1, 0, 0, 1, 2), (1, 0, 1, 2, 1), (0, 1, 0, 0, 0), (0, 0, 0, 0, 0)]
    assert (held["task/a"].branch.ahead, held["task/a/ada"].branch.behind) == (4, 4)
    assert held["task/a"].last_activity == Branch.objects.get(name="task/a").head_at
    assert tree.counts == {"live": 4, "expired": 0, "merged": 0, "archived": 0}
    assert (tree.matching, tree.next, tree.previous) == (4, None, None)


def test_states_are_told_and_filtered_and_ancestors_stay_in_sight(actor: Actor) -> None:
    make(actor, "task/live", owner="Ada", tags=["slow"])
    make(actor, "task/old", ttl_days=7)
    make(actor, "task/done", "task/gone")
    make(actor, "task/gone/child", parent="task/gone")
    write(actor, "one", "task/done")
    merge(actor, "task/done", "main")
    age(actor, "task/old", 8)
    BRANCHES.archive_branch(name="task/gone", actor=actor)
    states = {node.branch.name: node.state.value for node in TOPOLOGY.get_topology(actor=actor).results}
    assert states == {
        "main": "live",
        "task/done": "merged",
        "task/gone": "archived",  # shown for its child alone
        "task/gone/child": "live",
        "task/live": "live",
        "task/old": "expired",
    }
    expired = TOPOLOGY.get_topology(actor=actor, states=["expired"])
    assert [(node.branch.name, node.matches) for node in expired.results] == [
        ("main", False),
        ("task/old", True),
    ]
    assert expired.counts == {"live": 3, "expired": 1, "merged": 1, "archived": 1}
    assert expired.matching == 1
    named = [{"name": "GONE"}, {"owner": "ada"}, {"tag": "slow"}, {"states": ["archived", "merged"]}]
    assert [
        [node.branch.name for node in TOPOLOGY.get_topology(actor=actor, **one).results if node.matches]
        for one in named
    ] == [["task/gone/child"], ["task/live"], ["task/live"], ["task/done", "task/gone"]]
    refuse_all(TOPOLOGY.get_topology(actor=actor, name="nowhere"))
    with pytest.raises(Invalid):
        TOPOLOGY.get_topology(actor=actor, states=["dead"])


def test_pages_of_the_tree_have_every_branch_once(actor: Actor) -> None:
    make(actor, *(f"task/{n:02}" for n in range(7)))
    make(actor, "task/03/x", parent="task/03")
    whole = [node.branch.name for node in TOPOLOGY.get_topology(actor=actor).results]
    seen, page = [], TOPOLOGY.get_topology(actor=actor, limit=4)
    while True:
        seen += [node.branch.name for node in page.results]
        if page.next is None:
            break
        make(actor, f"task/00-{len(seen)}")  # before the place that is read: it moves nothing
        page = TOPOLOGY.get_topology(actor=actor, limit=4, cursor=page.next)
        assert page.counts is None
    assert seen == whole
    back = TOPOLOGY.get_topology(actor=actor, limit=4, cursor=page.previous)
    assert back.results[-1].level == 1
    for limit, cursor in ((0, ""), (MAX_NODES + 1, ""), (4, "nonsense")):
        with pytest.raises(Invalid):
            TOPOLOGY.get_topology(actor=actor, limit=limit, cursor=cursor)
    with pytest.raises(Invalid):  # of another list
        TOPOLOGY.get_topology(actor=actor, name="task", cursor=page.previous)


def test_a_key_sees_the_branches_that_it_may_use(actor: Actor, other_project: Project) -> None:
    make(actor, "task/a", "experiment/b", ttl_days=1)
    key = Actor(actor.project_id, "key", scopes=frozenset({"write"}), branch_patterns=("task/*",))
    tree = TOPOLOGY.get_topology(actor=key)
    assert told(tree) == [("task/a", 1, "live")]
    assert tree.counts == {"live": 1, "expired": 0, "merged": 0, "archived": 0}
    for name in ("task/a", "experiment/b"):
        age(actor, name, 2)
    assert [one.branch.name for one in TOPOLOGY.auto_archive(actor=key, dry_run=False).results] == ["task/a"]
    assert Branch.objects.get(name="experiment/b").archived_at is None
    foreign = Actor(other_project.pk, "key", scopes=frozenset({"read"}))
    assert told(TOPOLOGY.get_topology(actor=foreign)) == [("main", 0, "live")]


def test_a_thousand_branches_take_as_many_queries_as_ten(actor: Actor, project: Project) -> None:
    main = Branch.objects.get(project=project)
    make(actor, *(f"task/{n}" for n in range(5)))

    def count() -> int:
        with CaptureQueriesContext(
            connection,
        ) as queries:
            TOPOLOGY.get_topology(actor=actor)
        return len(queries)

    few = count()
    traits = {"project": project, "head_at": main.head_at, "created_at": main.created_at, "depth": 1}
    Branch.objects.bulk_create(Branch(name=f"many/{n}", parent=main, **traits) for n in range(400))
    assert count() == few


# ---- what people keep about a branch -------------------------------------------------------------


def test_purpose_owner_days_and_tags_can_be_changed(actor: Actor) -> None:
    make(actor, "task/a", purpose="try", owner="Ada", ttl_days=7, tags=["auth"])
    branch = TOPOLOGY.enrich_branch(name="task/a", owner="Bo", ttl_days=None, actor=actor)
    kept = Branch.objects.get(name="task/a")
    for row in (branch, kept):
        assert (row.purpose, row.owner, row.ttl_days, row.tags) == ("try", "Bo", None, ["auth"])
    assert kept.head == 0
    entry = AuditEntry.objects.order_by("-at").first()
    assert (entry.action, entry.target, entry.detail) == (
        "branch.enrich",
        "task/a",
        {"changed": ["owner", "ttl_days"]},
    )
    TOPOLOGY.enrich_branch(name="task/a", owner="Bo", actor=actor)  # nothing changes, nothing is audited
    assert AuditEntry.objects.filter(action="branch.enrich").count() == 1


@pytest.mark.parametrize(
    ("details", "error"),
    [
        ({"ttl_days": 0}, Invalid),
        ({"ttl_days": 3651}, Invalid),
        ({"owner": "x" * 201}, Invalid),
        ({"tags": "auth"}, Invalid),
        ({"head": 7}, UnknownField),
    ],
)
def test_wrong_details_are_refused(actor: Actor, details: dict[str, Any], error: type[Exception]) -> None:
    make(actor, "task/a")
    with pytest.raises(error):
        TOPOLOGY.enrich_branch(name="task/a", actor=actor, **{"purpose": "new", **details})
    with pytest.raises(error):
        make(actor, "task/c", **details)
    assert not Branch.objects.filter(name="task/c").exists()
    assert Branch.objects.get(name="task/a").purpose == ""


def test_who_may_not_write_changes_no_detail(actor: Actor) -> None:
    make(actor, "task/a")
    reader = Actor(actor.project_id, "key", scopes=frozenset({"propose"}))
    elsewhere = Actor(actor.project_id, "key", scopes=frozenset({"write"}), branch_patterns=("x/*",))
    for who, error in ((reader, ScopeMissing), (elsewhere, BranchForbidden)):
        with pytest.raises(error):
            TOPOLOGY.enrich_branch(name="task/a", owner="Eve", actor=who)
    with pytest.raises(BranchNotFound):
        TOPOLOGY.enrich_branch(name="task/none", owner="Eve", actor=actor)
    BRANCHES.archive_branch(name="task/a", actor=actor)
    with pytest.raises(BranchArchived):
        TOPOLOGY.enrich_branch(name="task/a", owner="Eve", actor=actor)
    assert Branch.objects.get(name="task/a").owner == ""


# ---- expired and archived ------------------------------------------------------------------------


@pytest.fixture
def needed(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Return the names of branches that something else needs, such as an open merge request."""
    names: set[str] = set()

    def load(branches: Any) -> Any:
        return {
            one.pk: ("merge_request", "A merge request is open.") for one in branches if one.name in names
        }

    monkeypatch.setitem(load_extensions("kept_branches"), "test", load)
    return names


def archived(actor: Actor) -> set[str]:
    rows = Branch.objects.filter(project=actor.project_id).exclude(archived_at=None)
    return set(rows.values_list("name", flat=True))


def test_what_is_done_with_is_archived_and_the_rest_left_with_its_reason(
    actor: Actor, needed: set[str]
) -> None:
    make(actor, "task/old", "task/new", "task/wanted", "task/parent", ttl_days=7)
    make(actor, "task/parent/child", parent="task/parent")
    make(actor, "task/old/child", parent="task/old", ttl_days=1)
    make(actor, "task/done")
    TOPOLOGY.enrich_branch(name="main", ttl_days=1, actor=actor)
    write(actor, "one", "task/done")
    merge(actor, "task/done", "main")
    for name in ("main", "task/old", "task/old/child", "task/wanted", "task/parent"):
        age(actor, name, 8)
    age(actor, "task/new", 6.9)
    needed.add("task/wanted")
    page = TOPOLOGY.list_expired(actor=actor)
    listed = [(one.branch.name, one.state.value, one.kept) for one in page.results]
    assert listed == [
        ("task/done", "merged", ""),
        ("task/old", "expired", ""),
        ("task/old/child", "expired", ""),
        ("task/parent", "expired", "children"),
        ("task/wanted", "expired", "merge_request"),
    ]
    plan = TOPOLOGY.auto_archive(actor=actor)
    assert (plan.dry_run, plan.count, archived(actor)) == (True, 3, set())
    assert [(one.branch.name, one.kept) for one in plan.results] == [(name, kept) for name, _, kept in listed]
    done = TOPOLOGY.auto_archive(actor=actor, dry_run=False)
    assert (done.dry_run, done.count, done.more) == (False, 3, False)
    assert [one.archived for one in done.results] == [True, True, True, False, False]
    assert archived(actor) == {"task/done", "task/old", "task/old/child"}
    assert [str(one.reason) for one in done.results if one.kept] == [
        "1 branch that was made from it is in use.",
        "A merge request is open.",
    ]
    entries = AuditEntry.objects.filter(action="branch.archive").values_list("target", "detail")
    assert dict(entries)["task/done"] == {"reason": "merged"}
    assert TOPOLOGY.auto_archive(actor=actor, dry_run=False).count == 0
    restored = BRANCHES.restore_branch(name="task/old", actor=actor)
    assert restored.archived_at is None


def test_a_branch_that_goes_on_after_its_merge_is_not_done_with(actor: Actor) -> None:
    make(actor, "task/a")
    write(actor, "one", "task/a")
    merge(actor, "task/a", "main")
    write(actor, "two", "task/a")
    assert TOPOLOGY.list_expired(actor=actor).results == []
    assert load_branches(actor.project_id).find_state(Branch.objects.get(name="task/a"))[0] == "live"


def test_the_expired_come_in_pages(actor: Actor) -> None:
    make(actor, *(f"task/{n}" for n in range(5)), ttl_days=1)
    for n in range(5):
        age(actor, f"task/{n}", 2)
    first = TOPOLOGY.list_expired(actor=actor, limit=2)
    second = TOPOLOGY.list_expired(actor=actor, limit=2, cursor=first.next)
    assert [one.branch.name for one in second.results] == ["task/2", "task/3"]
    again = TOPOLOGY.list_expired(actor=actor, limit=2, cursor=second.previous)
    assert [one.branch.name for one in again.results] == ["task/0", "task/1"]
    with pytest.raises(Invalid):
        TOPOLOGY.list_expired(actor=actor, limit=101)


def test_a_real_merge_takes_all_or_leaves_the_rest_ahead(actor: Actor, without_gates: None) -> None:
    make(actor, "task/a")
    one, two = (write(actor, text, "task/a") for text in ("Tokens live an hour.", "Builds run at night."))
    engine = MergeEngine()
    engine.merge_branch(source="task/a", strategy="cherry_pick", ids=[one.uid], actor=actor)
    assert distance(actor, "task/a") == (2, 1)
    assert TOPOLOGY.list_expired(actor=actor).results == []
    left = BRANCHES.compare_branch(name="task/a", actor=actor)
    assert two.uid in {row.uid for row in left.page.results}
    engine.merge_branch(source="task/a", actor=actor)
    assert distance(actor, "task/a") == (0, 2)
    assert [row.state.value for row in TOPOLOGY.list_expired(actor=actor).results] == ["merged"]
    assert BRANCHES.compare_branch(name="task/a", actor=actor).page.results == []
    titles = [commit.title for commit in BRANCHES.list_commits(name="main", actor=actor)]
    assert titles == ["Merged task/a: 1 fact", "Merged task/a: 1 fact"]


def test_a_branch_with_an_open_merge_request_is_left(actor: Actor) -> None:
    make(actor, "task/a", ttl_days=1)
    write(actor, "Tokens live an hour.", "task/a")
    MergeRequestEngine().create_request(source="task/a", actor=actor)
    age(actor, "task/a", 2)
    (one,) = TOPOLOGY.auto_archive(actor=actor, dry_run=False).results
    assert (one.kept, one.reason, one.archived) == ("merge_request", "Merge request 1 is open.", False)
    assert archived(actor) == set()
