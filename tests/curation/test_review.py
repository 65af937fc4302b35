"""Review items of near duplicates and their answers."""

import pytest

from curation.engines.review.review_queue import ReviewEngine
from curation.models import ReviewItem
from memory.actors import Actor
from memory.engines.branches.manager import BranchManager
from memory.engines.branches.revert import RevertEngine
from memory.engines.facts.bulk_actions import ActionEngine
from memory.engines.facts.engine import FactEngine
from memory.exceptions import (
    BranchArchived,
    Conflict,
    IllegalTransition,
    Invalid,
    NotFound,
    ScopeMissing,
    StaleVersion,
)
from memory.models import AuditEntry
from memory.models.nodes import uuid7
from tests.memory.api.client import nothing_left
from tests.memory.test_actions import shown

pytestmark = pytest.mark.django_db(transaction=True)
review_engine, fact_engine = ReviewEngine(), FactEngine()


@pytest.fixture
def pair(actor, main):
    """Write an older fact and a newer one, from two sessions."""
    older = fact_engine.write_fact(fact_text="older", session_id="s1", category="security", actor=actor).fact
    newer = fact_engine.write_fact(fact_text="newer", session_id="s2", actor=actor).fact
    return older, newer


@pytest.fixture
def ask(main):
    def ask(older, newer, branch=main):
        return ReviewItem.objects.create(
            project=branch.project,
            branch=branch,
            kind="near_duplicate",
            fact_id=newer.uid,
            other_id=older.uid,
            pair=f"{uuid7()}",
            score=0.9,
            details={"versions": {str(fact.uid): fact.version for fact in (older, newer)}},
        )

    return ask


@pytest.fixture
def item(pair, ask):
    return ask(*pair)


def resolve(actor, item, decision, **more):
    return review_engine.resolve_item(item_id=item.pk, decision=decision, actor=actor, **more)


def statuses(main):
    return {text: status for text, (status, _) in shown(main).items()}


class TestAnswers:
    def test_keep_both(self, actor, main, item):
        done = resolve(actor, item, "keep_both", reason="Two caches.")
        item.refresh_from_db()
        assert (item.status, item.resolution, item.resolved_by) == ("resolved", "keep_both", "local")
        assert (done.commit.kind, done.commit.message) == ("review.resolve", "Two caches.")
        assert statuses(main) == {"older": "active", "newer": "active"}
        entry = AuditEntry.objects.first()
        assert (entry.action, entry.target) == ("review.resolve", str(item.pk))

    def test_supersede(self, actor, main, pair, item):
        older, newer = pair
        resolve(actor, item, "supersede", keeper=newer.uid)
        assert statuses(main) == {"older": "superseded", "newer": "active"}
        assert fact_engine.get_fact(fact_id=newer.uid, actor=actor).parent_id == older.uid

    def test_the_same_counts_as_a_confirmation(self, actor, main, pair, item):
        older, _ = pair
        resolve(actor, item, "same", keeper=older.uid)
        assert statuses(main) == {"older": "active", "newer": "superseded"}
        assert fact_engine.get_fact(fact_id=older.uid, actor=actor).confirmation_count == 1

    def test_the_same_from_one_source_confirms_nothing(self, actor, main, pair, ask):
        older, _ = pair
        twin = fact_engine.write_fact(fact_text="twin", session_id="s1", actor=actor).fact
        resolve(actor, ask(older, twin), "same", keeper=older.uid)
        assert fact_engine.get_fact(fact_id=older.uid, actor=actor).confirmation_count == 0

    def test_archive(self, actor, main, pair, item):
        resolve(actor, item, "archive", keeper=pair[0].uid)
        assert statuses(main) == {"older": "active", "newer": "archived"}

    def test_combine(self, actor, main, pair, item):
        done = resolve(actor, item, "combine", new_fact_text="both")
        assert statuses(main) == {"older": "superseded", "newer": "superseded", "both": "active"}
        assert (done.new_fact.category, done.new_fact.parent_id) == ("security", pair[0].uid)

    @pytest.mark.parametrize(
        ("decision", "options"),
        [
            ("keep_both", {}),
            ("same", {"keeper": 0}),
            ("supersede", {"keeper": 1}),
            ("archive", {"keeper": 1}),
            ("combine", {"new_fact_text": "both"}),
            ("dismiss", {}),
        ],
    )
    def test_undone_it_is_open_again_and_the_facts_are_as_before(
        self, actor, main, pair, item, decision, options
    ):
        if "keeper" in options:
            options = {"keeper": pair[options["keeper"]].uid}
        before = shown(main)
        done = resolve(actor, item, decision, **options)
        undone = RevertEngine().revert_commit(commit_id=done.commit.pk, actor=actor)
        item.refresh_from_db()
        assert (item.status, item.resolution, item.resolved_at) == ("open", decision, None)
        assert shown(main) == before
        assert fact_engine.get_fact(fact_id=pair[0].uid, actor=actor).confirmation_count == 0
        RevertEngine().revert_commit(commit_id=undone.pk, actor=actor)
        item.refresh_from_db()
        assert (item.status, item.resolution) == ("resolved", decision)


class TestRefused:
    def test_answered_already(self, actor, main, item):
        resolve(actor, item, "keep_both")
        with nothing_left(), pytest.raises(Conflict, match="Already answered: keep_both, by local"):
            resolve(actor, item, "dismiss")

    def test_a_fact_that_changed_since_it_was_asked_about(self, actor, main, pair, item):
        fact_engine.update_fact(fact_id=pair[0].uid, updates={"fact_text": "other"}, actor=actor)
        with nothing_left(), pytest.raises(StaleVersion, match="fact_text") as refused:
            resolve(actor, item, "supersede", keeper=pair[1].uid)
        assert refused.value.data["changed"] == ["essence", "fact_text"]
        seen = {pair[0].uid: 2, pair[1].uid: 1}
        resolve(actor, item, "supersede", keeper=pair[1].uid, expected_versions=seen)
        assert statuses(main) == {"other": "superseded", "newer": "active"}

    def test_a_fact_that_changed_since_the_caller_read_it(self, actor, main, pair, item):
        with nothing_left(), pytest.raises(StaleVersion):
            resolve(actor, item, "supersede", keeper=pair[0].uid, expected_versions={pair[1].uid: 7})

    def test_a_pointless_question_can_only_be_dismissed(self, actor, main, pair, item):
        fact_engine.delete_fact(fact_id=pair[0].uid, actor=actor)
        with nothing_left(), pytest.raises(NotFound):
            resolve(actor, item, "same", keeper=pair[1].uid)
        assert review_engine.get_item(item_id=item.pk, actor=actor).other is None
        resolve(actor, item, "dismiss")

    def test_a_fact_that_is_archived_by_now(self, actor, main, pair, item):
        ActionEngine().apply_action(action="archive", fact_ids=[pair[0].uid], actor=actor)
        seen = {pair[0].uid: 2}
        with nothing_left():
            for decision in ("supersede", "same", "archive"):
                with pytest.raises(IllegalTransition):
                    resolve(actor, item, decision, keeper=pair[1].uid, expected_versions=seen)
            with pytest.raises(IllegalTransition):
                resolve(actor, item, "supersede", keeper=pair[0].uid, expected_versions=seen)

    @pytest.mark.parametrize(
        ("options", "field"),
        [
            ({"decision": "burn"}, "decision"),
            ({"decision": "supersede"}, "keep"),
            ({"decision": "keep_both", "keeper": uuid7()}, "keep"),
            ({"decision": "archive", "keeper": uuid7()}, "keep"),
            ({"decision": "combine"}, "new_fact_text"),
            ({"decision": "same", "keeper": uuid7(), "new_fact_text": "x"}, "new_fact_text"),
            ({"decision": "keep_both", "reason": "x" * 2001}, "reason"),
        ],
    )
    def test_what_makes_no_sense(self, actor, main, item, options, field):
        with nothing_left(), pytest.raises(Invalid) as refused:
            review_engine.resolve_item(item_id=item.pk, actor=actor, **options)
        assert refused.value.data["field"] == field

    def test_scopes_projects_and_branches(self, project, other_project, main, item):
        writer = Actor(project.pk, "key", "k", "k", frozenset({"write"}))
        stranger = Actor(other_project.pk, "key", "k", "k", frozenset({"admin"}))
        elsewhere = Actor(project.pk, "key", "k", "k", frozenset({"admin"}), branch_patterns=("task/*",))
        with nothing_left():
            with pytest.raises(ScopeMissing):
                resolve(writer, item, "keep_both")
            for who in (stranger, elsewhere):
                with pytest.raises(NotFound):
                    resolve(who, item, "keep_both")
                with pytest.raises(NotFound):
                    review_engine.get_item(item_id=item.pk, actor=who)

    def test_an_archived_branch(self, actor, main, pair, ask):
        branch = BranchManager().create_branch(name="task/x", actor=actor)
        item = ask(*pair, branch=branch)
        BranchManager().archive_branch(name="task/x", actor=actor)
        with nothing_left(), pytest.raises(BranchArchived):
            resolve(actor, item, "keep_both")


class TestLists:
    def test_each_question_has_its_facts_as_they_are_now(self, actor, main, pair, item):
        ActionEngine().apply_action(action="verify", fact_ids=[pair[0].uid], actor=actor)
        (listed,) = review_engine.list_items(actor=actor).results
        assert (listed.fact.fact_text, listed.other.fact_text) == ("newer", "older")
        assert listed.other.verification_status == "verified"

    def test_those_of_an_archived_branch_wait_for_nobody(self, actor, main, pair, item, ask):
        branch = BranchManager().create_branch(name="task/x", actor=actor)
        other = ask(*pair, branch=branch)

        def waiting(**of):
            listed = review_engine.list_items(actor=actor, status="open", **of).results
            return [one.pk for one in listed], review_engine.count_open(actor=actor, maximum=9)

        assert waiting() == ([other.pk, item.pk], 2)
        BranchManager().archive_branch(name="task/x", actor=actor)
        assert waiting() == ([item.pk], 1)
        assert waiting(branch_name="task/x") == ([other.pk], 1)
        BranchManager().restore_branch(name="task/x", actor=actor)
        assert waiting() == ([other.pk, item.pk], 2)

    def test_the_one_that_is_proposed_to_stay(self, actor, main, pair, item):
        older, newer = pair

        def proposed():
            return review_engine.get_item(item_id=item.pk, actor=actor).best.uid

        assert proposed() == newer.uid
        fact_engine.write_fact(fact_text="older", session_id="s3", actor=actor)  # another session confirms it
        assert proposed() == older.uid
        fact_engine.set_verification(fact_id=newer.uid, verdict="verified", actor=actor)
        assert proposed() == newer.uid
        fact_engine.archive_fact(fact_id=newer.uid, actor=actor)
        assert proposed() == older.uid
        fact_engine.delete_fact(fact_id=older.uid, actor=actor)
        assert proposed() == newer.uid

    def test_questions_about_one_fact(self, actor, main, pair, ask):
        older, newer = pair
        third = fact_engine.write_fact(fact_text="third", actor=actor).fact
        ask(older, newer), ask(older, third)
        found = review_engine.list_items(actor=actor, fact_id=third.uid).results
        assert [item.fact_id for item in found] == [third.uid]
        assert len(review_engine.list_items(actor=actor, fact_id=older.uid).results) == 2

    def test_the_queries_do_not_grow_with_the_questions(
        self, actor, main, pair, ask, django_assert_num_queries
    ):
        def queries(n):
            for _ in range(n):
                ask(*pair)
            with django_assert_num_queries(6):
                review_engine.list_items(actor=actor, limit=100)

        queries(10), queries(80)
