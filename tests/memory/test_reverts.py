"""Reverts: exactly the commit's changes, as a new commit, unless something has changed since."""

from uuid import UUID

import pytest

from memory.actors import Actor
from memory.engines.branches.manager import BranchManager
from memory.engines.branches.revert import RevertEngine
from memory.engines.facts.bulk_actions import ActionEngine
from memory.engines.facts.engine import FactEngine
from memory.engines.facts.links import LinkEngine
from memory.exceptions import BranchArchived, BranchForbidden, Conflict, NotFound, ScopeMissing
from memory.models import AuditEntry, Commit, FactLink
from memory.models.nodes import uuid7
from tests.memory.api.client import nothing_left
from tests.memory.test_actions import act, ids, shown

pytestmark = pytest.mark.django_db(transaction=True)
FACTS, LINKS = FactEngine(), LinkEngine()


@pytest.fixture
def facts(actor, main):
    done = FACTS.write_facts(facts=[{"fact_text": text} for text in "abc"], actor=actor)
    return [written.fact for written in done.results]


def revert(actor, commit):
    return RevertEngine().revert_commit(commit_id=commit.pk, actor=actor)


def last(project):
    return Commit.objects.filter(branch__project=project).latest("at")


@pytest.fixture
def key(project):
    def key(scope, name="k", **more):
        return Actor(project.pk, "key", name, name, frozenset({scope}), **more)

    return key


class TestUndone:
    @pytest.mark.parametrize(
        ("action", "options"),
        [
            ("verify", {}),
            ("invalidate", {}),
            ("archive", {}),
            ("set_category", {"category": "x"}),
            ("supersede", {"new_fact_text": "new"}),
        ],
    )
    def test_an_action_and_its_undoing(self, actor, main, facts, action, options):
        act(actor, "verify", facts[:1], reason="Before.")
        before = shown(main)
        report = act(actor, action, facts, **options)
        assert shown(main) != before
        undone = revert(actor, report.commit)
        assert shown(main) == before
        assert (undone.kind, undone.seq) == ("commit.revert", report.commit.seq + 1)
        redone = revert(actor, undone)
        assert shown(main).keys() >= before.keys()
        assert shown(main) != before
        revert(actor, redone)
        assert shown(main) == before

    def test_one_after_another_back_to_the_first(self, actor, main, facts):
        """The last is undone, then the one before it, of the same facts."""
        states, commits = [shown(main)], []
        for action in ("verify", "invalidate", "archive", "restore"):
            commits.append(act(actor, action, facts).commit)
            states.append(shown(main))
        for commit, before in zip(commits[::-1], states[-2::-1], strict=True):
            revert(actor, commit)
            assert shown(main) == before
        for commit in commits:
            with pytest.raises(Conflict):
                revert(actor, commit)
        assert shown(main) == states[0]

    def test_what_was_written_again_by_a_person_is_not_taken_back(self, actor, main, facts):
        first = act(actor, "verify", facts).commit
        act(actor, "invalidate", facts)
        act(actor, "verify", facts)
        now = shown(main)
        with pytest.raises(Conflict):
            revert(actor, first)
        assert shown(main) == now

    def test_it_is_audited_and_named(self, actor, main, facts):
        report = act(actor, "archive", facts)
        undone = revert(actor, report.commit)
        entry = AuditEntry.objects.first()
        assert (entry.action, entry.target) == ("commit.revert", str(report.commit.pk))
        assert undone.message == f"Undo of commit {report.commit.seq}."

    def test_a_restored_fact_is_archived_again(self, actor, main, facts):
        act(actor, "archive", facts)
        report = act(actor, "restore", facts[:1])
        revert(actor, report.commit)
        assert shown(main)["a"][0] == "archived"
        assert FACTS.restore_fact(fact_id=facts[0].uid, actor=actor).status == "active"

    def test_superseding_by_one_that_was_there(self, actor, main, facts):
        report = act(actor, "supersede", facts[:2], replaced_by=facts[2].uid)
        revert(actor, report.commit)
        assert {status for status, _ in shown(main).values()} == {"active"}
        assert FACTS.get_fact(fact_id=facts[2].uid, actor=actor).parent_id is None
        assert LINKS.list_links(fact_id=facts[2].uid, actor=actor).results == []

    @pytest.mark.parametrize("text", ["Other words.", "别的话。", "<b>‮x</b>"])
    def test_a_correction(self, actor, main, facts, text):
        FACTS.update_fact(fact_id=facts[0].uid, updates={"fact_text": text, "tags": ["t"]}, actor=actor)
        revert(actor, last(main.project))
        fact = FACTS.get_fact(fact_id=facts[0].uid, actor=actor)
        assert (fact.fact_text, fact.tags, fact.version) == ("a", [], 3)
        texts = [version.fact_text for version in FACTS.list_versions(fact_id=fact.uid, actor=actor)]
        assert texts == ["a", text, "a"]

    def test_a_deletion(self, actor, main, facts):
        FACTS.delete_fact(fact_id=facts[0].uid, actor=actor)
        revert(actor, last(main.project))
        assert shown(main).keys() == {"a", "b", "c"}

    def test_what_was_written_is_gone_from_the_branch_and_stays_in_the_past(self, actor, main, facts):
        seq = last(main.project).seq
        revert(actor, last(main.project))
        assert shown(main) == {}
        assert FACTS.get_fact(fact_id=facts[0].uid, actor=actor, at=seq).fact_text == "a"

    def test_links(self, actor, main, facts):
        a, b, _ = facts
        link = LINKS.write_link(from_id=a.uid, to_id=b.uid, link_type="BRIDGE", actor=actor)
        revert(actor, last(main.project))
        assert LINKS.list_links(fact_id=a.uid, actor=actor).results == []
        revert(actor, last(main.project))
        assert ids(LINKS.list_links(fact_id=a.uid, actor=actor).results) == [link.uid]

    def test_a_confirmation_is_taken_back_and_given_again(self, actor, main, facts):
        def count(at=None):
            return FACTS.get_fact(fact_id=facts[0].uid, actor=actor, at=at).confirmation_count

        FACTS.write_fact(fact_text="a", session_id="other", actor=actor)
        confirmed = last(main.project)
        assert count() == 1
        undone = revert(actor, confirmed)
        assert (count(), count(confirmed.seq)) == (0, 1)
        revert(actor, undone)
        assert (count(), count(undone.seq)) == (1, 0)

    def test_a_child_that_was_forked_before_the_undoing_keeps_what_it_saw(self, actor, main, facts):
        report = act(actor, "archive", facts)
        BranchManager().create_branch(name="task/x", actor=actor)
        revert(actor, report.commit)
        assert {status for status, _ in shown(main, "task/x").values()} == {"archived"}
        assert {status for status, _ in shown(main).values()} == {"active"}

    def test_on_a_branch_what_it_inherited_comes_back(self, actor, main, facts):
        BranchManager().create_branch(name="task/x", actor=actor)
        report = act(actor, "archive", facts, branch_name="task/x")
        revert(actor, report.commit)
        assert {status for status, _ in shown(main, "task/x").values()} == {"active"}

    def test_a_thousand_rows(self, actor, main):
        texts = [{"fact_text": f"fact {n}"} for n in range(1000)]
        facts = [one.fact for one in FACTS.write_facts(facts=texts, actor=actor).results]
        report = act(actor, "archive", facts)
        assert revert(actor, report.commit).changed == 1000


class TestRefused:
    def test_what_changed_since_is_named_and_nothing_is_undone(self, actor, main, facts):
        report = act(actor, "archive", facts)
        act(actor, "restore", facts[:1])
        with nothing_left(), pytest.raises(Conflict, match="1 of the memories that it touched") as refused:
            revert(actor, report.commit)
        assert refused.value.data["changed"] == [str(facts[0].uid)]

    def test_twice(self, actor, main, facts):
        report = act(actor, "archive", facts)
        revert(actor, report.commit)
        with nothing_left(), pytest.raises(Conflict) as refused:
            revert(actor, report.commit)
        assert {UUID(uid) for uid in refused.value.data["changed"]} == set(ids(facts))

    def test_a_verdict_that_was_given_anew(self, actor, main, facts):
        report = act(actor, "verify", facts)
        act(actor, "invalidate", facts[:1])
        with nothing_left(), pytest.raises(Conflict):
            revert(actor, report.commit)

    def test_a_change_beside_it_is_no_hindrance(self, actor, main, facts):
        report = act(actor, "verify", facts[:1])
        act(actor, "archive", facts[1:])
        revert(actor, report.commit)
        assert shown(main)["a"] == ("active", "unverified")

    @pytest.mark.parametrize("built", ["verdict", "link", "confirmation"])
    def test_a_new_fact_that_others_have_built_on(self, actor, main, facts, built):
        report = act(actor, "supersede", facts[:1], new_fact_text="new")
        new = report.new_fact
        if built == "verdict":
            act(actor, "verify", [new])
        elif built == "link":
            LINKS.write_link(from_id=facts[1].uid, to_id=new.uid, link_type="BRIDGE", actor=actor)
        else:
            FACTS.write_fact(fact_text="new", session_id="other", actor=actor)
        with nothing_left(), pytest.raises(Conflict) as refused:
            revert(actor, report.commit)
        assert refused.value.data["changed"] == [str(new.uid)]

    def test_a_link_that_was_made_anew(self, actor, main, facts):
        a, b, _ = facts
        edge = {"from_id": a.uid, "to_id": b.uid, "link_type": "BRIDGE", "actor": actor}
        link = LINKS.write_link(**edge)
        LINKS.delete_link(from_id=a.uid, link_id=link.uid, actor=actor)
        gone = last(main.project)
        LINKS.write_link(**edge)
        with nothing_left(), pytest.raises(Conflict):
            revert(actor, gone)
        assert FactLink._base_manager.exclude(slot=None).count() == 1

    def test_an_archived_branch(self, actor, main, facts):
        BranchManager().create_branch(name="task/x", actor=actor)
        report = act(actor, "archive", facts, branch_name="task/x")
        BranchManager().archive_branch(name="task/x", actor=actor)
        with nothing_left(), pytest.raises(BranchArchived):
            revert(actor, report.commit)

    def test_unknown_and_foreign_commits(self, actor, main, facts, other_project):
        stranger = Actor(other_project.pk, "key", "k", "k", frozenset({"admin"}))
        with nothing_left():
            with pytest.raises(NotFound):
                revert(stranger, last(main.project))
            with pytest.raises(NotFound):
                RevertEngine().revert_commit(commit_id=uuid7(), actor=actor)
            with pytest.raises(NotFound):
                RevertEngine().get_commit(commit_id=last(main.project).pk, actor=stranger)


class TestScopes:
    def test_ones_own_commit_needs_what_made_it(self, main, key):
        writer = key("write")
        FACTS.write_fact(fact_text="mine", actor=writer)
        revert(writer, last(main.project))
        assert shown(main) == {}

    def test_somebody_elses_needs_merge(self, main, facts, key):
        curator = key("curate")
        report = act(curator, "archive", facts)
        with nothing_left(), pytest.raises(ScopeMissing, match="merge"):
            revert(key("curate", "another"), report.commit)
        revert(key("merge", "third"), report.commit)
        assert {status for status, _ in shown(main).values()} == {"active"}

    @pytest.mark.parametrize("action", ["verify", "archive"])
    def test_a_writer_undoes_no_curation(self, main, facts, key, action):
        report = act(key("curate"), action, facts)
        with nothing_left(), pytest.raises(ScopeMissing, match="curate"):
            revert(key("write"), report.commit)

    def test_branch_patterns(self, actor, main, facts, key):
        report = act(actor, "archive", facts)
        narrow = key("admin", branch_patterns=("task/*",))
        with nothing_left(), pytest.raises(BranchForbidden):
            revert(narrow, report.commit)


def test_the_engines_method_takes_each_id_once(actor, main, facts):
    report = ActionEngine().apply_action(action="verify", fact_ids=[facts[0].uid] * 3, actor=actor)
    assert len(report.results) == 1
