"""What the source says of a fact that an earlier merge absorbed: the target's fact takes it over."""

from collections.abc import Callable
from typing import Any

import pytest

from memory.actors import Actor, local_actor
from memory.engines.branches.manager import BranchManager
from memory.engines.branches.revert import RevertEngine
from memory.engines.facts.bulk_actions import ActionEngine
from memory.engines.facts.engine import FactEngine
from memory.engines.facts.links import LinkEngine
from memory.engines.merging.engine import MergeEngine
from memory.engines.merging.plan import Decision
from memory.models import Branch, Commit, Confirmation, Fact, FactAssessment, FactLink, Project
from tests.memory.merging.conftest import TASK

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("without_gates")]
FACTS, MERGES = FactEngine(), MergeEngine()
TEXT = "The build needs make."
SHOP, TILL = "github.com/acme/shop", "github.com/acme/till"


@pytest.fixture
def link(actor: Actor) -> Callable[..., FactLink]:
    def link(one: Fact, two: Fact, **more: Any) -> FactLink:
        ends = {"from_id": one.uid, "to_id": two.uid, "link_type": "DEPENDS_ON"}
        return LinkEngine().write_link(**ends, branch_name=TASK, actor=actor, **more)

    return link


@pytest.fixture
def end(main: Branch, write: Any) -> Fact:
    return write("Make is from apt.", "main")


@pytest.fixture
def kept(actor: Actor, end: Fact, write: Any) -> Fact:
    """Write a fact of main, from which the task branch has parted before."""
    BranchManager().create_branch(name=TASK, actor=actor)
    return write(TEXT, "main", session_id="s0")


@pytest.fixture
def absorbed(kept: Fact, write: Any, merge: Any) -> Fact:
    """Return the branch's fact of the same text, which a merge has absorbed."""
    fact = write(TEXT, session_id="s1")
    assert merge().counts["fact"] == {"identical": 1}
    return fact


def show(model: Any, project: Project) -> list[Any]:
    return list(model.objects.on(Branch.objects.get(project=project, name="main")).fetch_all())


def show_links(project: Project) -> list[tuple[Any, Any, float]]:
    return [(row.from_id, row.to_id, row.weight) for row in show(FactLink, project)]


class TestOneFact:
    def test_brings_its_links(self, project, end, kept, absorbed, link, merge):
        link(absorbed, end)
        link(end, absorbed)
        assert merge().counts["link"] == {"applied": 2}
        assert sorted(show_links(project)) == sorted([(kept.uid, end.uid, 1.0), (end.uid, kept.uid, 1.0)])
        assert merge().commit is None

    def test_brings_its_verdict(self, actor, project, kept, absorbed, merge):
        ActionEngine().apply_action(
            action="invalidate", fact_ids=[absorbed.uid], branch_name=TASK, actor=actor, reason="wrong"
        )
        assert merge().counts["verdict"] == {"identical": 1}
        assert [(one.uid, one.status) for one in show(FactAssessment, project)] == [(kept.uid, "invalidated")]
        assert merge().commit is None

    def test_brings_its_verdict_beside_one_that_arrives(self, actor, project, kept, absorbed, merge):
        for fact, action in ((absorbed, "invalidate"), (kept, "verify")):
            ActionEngine().apply_action(
                action=action, fact_ids=[fact.uid], branch_name=TASK, actor=actor, reason="r"
            )
            MERGES.merge_branch(source="main", target=TASK, strategy="theirs", actor=actor)
        assert merge().counts["verdict"] == {"applied": 1, "identical": 1}
        assert [(one.uid, one.status) for one in show(FactAssessment, project)] == [(kept.uid, "invalidated")]
        assert merge().commit is None

    def test_that_the_merge_itself_closes_brings_its_links(self, actor, project, end, write, link, merge):
        BranchManager().create_branch(name="task/other", actor=actor)
        standing, fact = write(TEXT, "task/other"), write(TEXT, "main")
        MERGES.merge_branch(source="main", target="task/other", actor=actor)
        BranchManager().create_branch(name=TASK, actor=actor)
        link(fact, end)
        MERGES.merge_branch(source="task/other", target=TASK, strategy="theirs", actor=actor)
        assert merge().counts == {"fact": {"applied": 2}, "link": {"applied": 1}}
        assert show_links(project) == [(standing.uid, end.uid, 1.0)]
        assert merge().commit is None

    def test_brings_its_confirmations(self, project, main, kept, absorbed, write, merge):
        write(TEXT, session_id="s2")
        assert merge().counts["confirmation"] == {"applied": 1}
        found = Confirmation.objects.filter(branch_id=main.pk, uid=kept.uid).values_list("source", flat=True)
        assert sorted(found) == ["session:s1", "session:s2"]
        assert merge().commit is None

    def test_that_is_picked_brings_its_confirmations_alone(self, main, end, kept, write, merge):
        one, other = write(TEXT, session_id="s1"), write("Builds run at night.", session_id="s1")
        write(TEXT, session_id="s2")
        write("Builds run at night.", session_id="s2")
        merge(strategy="cherry_pick", ids=[one.uid])
        assert other.uid not in {row.uid for row in Confirmation.objects.filter(branch_id=main.pk)}
        found = Confirmation.objects.filter(branch_id=main.pk, uid=kept.uid).values_list("source", flat=True)
        assert sorted(found) == ["session:s1", "session:s2"]

    def test_brings_a_link_that_waited_for_its_other_end(self, actor, project, end, kept, write, link, merge):
        fact = write(TEXT)
        FACTS.update_fact(
            fact_id=end.uid, updates={"fact_text": "Make is from brew."}, branch_name=TASK, actor=actor
        )
        link(fact, end)
        FACTS.delete_fact(fact_id=end.uid, actor=actor)
        assert merge().counts == {"fact": {"identical": 1, "conflict": 1}, "link": {"rejected": 1}}
        merge(decisions=[Decision(end.uid, "source")])
        assert show_links(project) == [(kept.uid, end.uid, 1.0)]
        assert merge().commit is None

    def test_is_stood_for_by_what_its_text_has_become(self, actor, project, end, kept, absorbed, link, merge):
        FACTS.update_fact(fact_id=kept.uid, updates={"fact_text": "The build needs ninja."}, actor=actor)
        link(absorbed, end)
        assert merge().counts == {"link": {"applied": 1}}
        assert show_links(project) == [(kept.uid, end.uid, 1.0)]

    def test_is_not_stood_for_by_what_was_deleted(self, actor, project, end, kept, absorbed, link, merge):
        FACTS.delete_fact(fact_id=kept.uid, actor=actor)
        link(absorbed, end)
        assert merge().counts == {"link": {"rejected": 1}}
        (item,) = MERGES.preview_merge(source=TASK, actor=actor).plan.page.results
        assert (item.reason, show_links(project)) == ("owner_removed", [])

    def test_is_stood_for_again_once_a_revert_was_reverted(
        self, actor, project, end, kept, write, link, merge
    ):
        fact = write(TEXT)
        commit = merge().commit
        undone = RevertEngine().revert_commit(commit_id=commit.pk, actor=actor)
        RevertEngine().revert_commit(commit_id=undone.pk, actor=actor)
        link(fact, end)
        assert merge().counts == {"link": {"applied": 1}}
        assert show_links(project) == [(kept.uid, end.uid, 1.0)]

    def test_is_stood_for_after_the_branch_left_it_as_it_was(
        self, actor, project, end, kept, absorbed, link, merge
    ):
        """Changed and put back is found to be the same: the target's fact goes on to stand for it."""
        for category in ("decision", "general", "security", "general"):
            FACTS.update_fact(
                fact_id=absorbed.uid, updates={"category": category}, branch_name=TASK, actor=actor
            )
            if category == "general":
                assert merge().counts["fact"] == {"identical": 1}
        link(absorbed, end)
        merge()
        assert show_links(project) == [(kept.uid, end.uid, 1.0)]

    def test_is_stood_for_by_what_absorbed_the_fact_that_stood_for_it(
        self, actor, project, end, kept, write, link, merge
    ):
        """From a branch of the task's branch into that, and from there into main."""
        part = f"{TASK}/part"
        BranchManager().create_branch(name=part, parent=TASK, actor=actor)
        fact = write(TEXT, part)
        write(TEXT)
        MERGES.merge_branch(source=part, target=TASK, actor=actor)
        merge()
        ends = {"from_id": fact.uid, "to_id": end.uid, "link_type": "DEPENDS_ON"}
        LinkEngine().write_link(**ends, branch_name=part, actor=actor)
        MERGES.merge_branch(source=part, target="main", actor=actor)
        assert show_links(project) == [(kept.uid, end.uid, 1.0)]

    def test_is_stood_for_by_another_one_once_the_merge_closes_what_did(
        self, actor, project, main, end, write, link, merge
    ):
        BranchManager().create_branch(name=TASK, actor=actor)
        standing, fact = write(TEXT, "main"), write(TEXT)
        BranchManager().create_branch(name="task/other", parent=TASK, actor=actor)
        MERGES.merge_branch(source="main", target=TASK, actor=actor)
        MERGES.merge_branch(source="task/other", target="main", actor=actor)
        ActionEngine().apply_action(
            action="invalidate", fact_ids=[standing.uid], branch_name="main", actor=actor, reason="wrong"
        )
        anew = write(TEXT, "main", session_id="s1")
        link(fact, end)
        write(TEXT, session_id="s2")
        assert merge(decisions=[Decision(standing.uid, "source")]).counts["link"] == {"applied": 1}
        assert show_links(project) == [(anew.uid, end.uid, 1.0)]
        found = Confirmation.objects.filter(branch_id=main.pk).values_list("uid", "source")
        assert (anew.uid, "session:s2") in found
        assert merge().commit is None


class TestAnAbsorbedLink:
    @pytest.fixture
    def changed(
        self, project: Project, kept: Fact, end: Fact, absorbed: Fact, link: Any, merge: Any
    ) -> FactLink:
        """Return a link that a merge absorbed, until that was reverted.

        The one that the target had for it is gone.
        """
        own = {"from_id": kept.uid, "to_id": end.uid, "link_type": "DEPENDS_ON"}
        LinkEngine().write_link(**own, actor=local_actor(project.pk))
        found = link(absorbed, end, weight=0.9)
        done = merge()
        assert done.counts["link"] == {"identical": 1}
        RevertEngine().revert_commit(commit_id=done.commit.pk, actor=local_actor(project.pk))
        self.delete(project, kept, "main")
        return found

    @staticmethod
    def delete(project: Project, fact: Fact, branch: str) -> None:
        rows = FactLink.objects.on(Branch.objects.get(project=project, name=branch))
        (row,) = rows.filter(from_id=fact.uid).fetch_all()
        named = {"from_id": fact.uid, "link_id": row.uid, "branch_name": branch}
        LinkEngine().delete_link(**named, actor=local_actor(project.pk))

    def test_that_was_deleted_and_put_back_is_no_question(
        self, project, actor, kept, end, absorbed, link, merge
    ):
        """The branch changed nothing of it, and the target deleted the one that it had for it."""
        own = {"from_id": kept.uid, "to_id": end.uid, "link_type": "DEPENDS_ON"}
        LinkEngine().write_link(**own, actor=actor)
        link(absorbed, end)
        merge()
        self.delete(project, kept, "main")
        self.delete(project, absorbed, TASK)
        newest = Commit.objects.filter(branch__name=TASK).latest("seq")
        RevertEngine().revert_commit(commit_id=newest.pk, actor=actor)
        assert merge().counts == {"link": {"identical": 1}}
        assert (merge().commit, show_links(project)) == (None, [])

    def test_that_was_reverted_is_asked_about(self, project, changed, merge):
        assert merge().counts == {"link": {"conflict": 1}}
        assert show_links(project) == []

    def test_arrives_by_a_decision(self, project, changed, kept, end, merge):
        merge(decisions=[Decision(changed.uid, "source", kind="link")])
        assert show_links(project) == [(kept.uid, end.uid, 0.9)]
        assert merge().commit is None

    def test_gives_its_weight_to_another_one_by_a_decision(self, actor, project, changed, kept, end, merge):
        own = {"from_id": kept.uid, "to_id": end.uid, "link_type": "DEPENDS_ON", "weight": 0.2}
        LinkEngine().write_link(**own, actor=actor)
        done = merge(decisions=[Decision(changed.uid, "source", kind="link")])
        assert (done.open_conflicts, show_links(project)) == (0, [(kept.uid, end.uid, 0.9)])
        assert merge().commit is None


def test_one_of_two_links_waits_with_the_other(actor, project, end, kept, write, link, merge):
    """Two links meet in one place: neither is settled while what they point at is in conflict."""
    one, two = (write(TEXT, repository=name) for name in (SHOP, TILL))
    FACTS.update_fact(
        fact_id=end.uid, updates={"fact_text": "Make is from brew."}, branch_name=TASK, actor=actor
    )
    link(one, end, weight=0.4)
    link(two, end, weight=0.9)
    FACTS.delete_fact(fact_id=end.uid, actor=actor)
    assert merge().counts["link"] == {"rejected": 2}
    merge(decisions=[Decision(end.uid, "source")])
    assert show_links(project) == [(kept.uid, end.uid, 0.9)]
    assert merge().commit is None
