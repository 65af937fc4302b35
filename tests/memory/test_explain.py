"""Explanations of search results: each reason, with its message."""

from dataclasses import replace
from datetime import timedelta
from uuid import uuid4

import pytest
from django.utils import timezone

from memory.actors import local_actor
from memory.engines.branches.manager import BranchManager
from memory.engines.facts.engine import FactEngine
from memory.engines.search.engine import REASONS, SearchEngine
from memory.engines.support.write_buffer import buffer
from memory.exceptions import BranchForbidden, BranchNotFound, Invalid, QueryTooLong, ScopeMissing
from memory.models import RecallLog
from tests.memory.facts.helpers import everything, refused
from tests.memory.search.helpers import X, embed, only, reflect

pytestmark = pytest.mark.django_db(transaction=True)

fact_engine, search_engine, branch_manager = FactEngine(), SearchEngine(), BranchManager()
PAST = timedelta(hours=-1)


@pytest.fixture
def write(actor, main):
    def write(text="Alpha beta.", branch="main", **more):
        return fact_engine.write_fact(
            fact_text=text, branch_name=branch, actor=actor, deduplicate=False, **more
        ).fact

    return write


@pytest.fixture
def why(actor, main):
    def why(uid, query="alpha", branch="main", **more):
        return SearchEngine().explain(
            query=query, fact_id=uid, branch_name=branch, **{"actor": actor, **more}
        )

    return why


def told(answer):
    return answer.found, answer.reason, answer.message


class TestReasons:
    def test_found(self, write, why, actor):
        fact = write("Alpha.")
        write("Alpha and many more words that lower the rank of it.")
        answer = why(fact.uid)
        assert told(answer) == (True, "found", "It is hit 1 of this search.")
        hit = search_engine.search(query="alpha", actor=actor).hits[0]
        assert (answer.position, answer.fact.uid) == (1, fact.uid)
        assert answer.signals.keys() == hit.signals.keys()
        assert answer.score == pytest.approx(hit.score)

    def test_out_ranked(self, write, why):
        last = write("Alpha " + "and other words " * 5)
        for _ in range(3):
            write("Alpha.")
        answer = why(last.uid, limit=3)
        assert told(answer) == (False, "out_ranked", "It is at position 4; the search returns 3.")
        assert (answer.position, why(last.uid, limit=4).reason) == (4, "found")

    def test_out_ranked_by_very_many(self, write, why, actor):
        facts = [{"fact_text": "Alpha."}] * 120
        fact_engine.write_facts(facts=facts, actor=actor, deduplicate=False)
        last = write("Alpha " + "and other words " * 5)
        answer = why(last.uid)
        assert told(answer) == (
            False,
            "out_ranked",
            "At least 100 facts rank before it by their words or their vector; the search returns 10.",
        )
        assert answer.signals["keyword"] > 0
        assert why(last.uid, limit=100).reason == "out_ranked"
        assert why(last.uid, limit=100, recipe="answers").reason == "out_ranked"

    def test_no_signal(self, write, why):
        write("Alpha.")
        answer = why(write("Gamma.").uid)
        assert told(answer) == (
            False,
            "no_signal",
            "It shares no word with the query and has no vector to compare.",
        )
        assert why(write("Delta.").uid, query="").reason == "no_signal"

    def test_absent(self, why):
        assert told(why(uuid4())) == (False, "absent", "No fact with this id is known here.")

    def test_deleted(self, write, why, actor):
        uid = write().uid
        fact_engine.delete_fact(fact_id=uid, actor=actor)
        assert told(why(uid)) == (False, "deleted", "It was deleted on this branch.")
        assert why(uid, at=1).reason == "found"
        assert why(uid, at=0).reason == "not_yet"

    def test_not_yet(self, write, why, actor):
        uid = write().uid
        branch_manager.create_branch(name="a", actor=actor)
        late = write(branch="a").uid
        message = "It came to this branch later than the point that is read."
        assert told(why(uid, at=0)) == told(why(late, branch="a", at=0)) == (False, "not_yet", message)
        assert why(uid, branch="a", at=0).reason == "found"

    def test_deleted_on_the_parent_after_the_fork(self, write, why, actor):
        branch_manager.create_branch(name="a", actor=actor)
        uid = write().uid
        fact_engine.delete_fact(fact_id=uid, actor=actor)
        assert told(why(uid, branch="a")) == (False, "absent", "No fact with this id is known here.")

    def test_other_branch(self, write, why, actor):
        for name in ("a", "b"):
            branch_manager.create_branch(name=name, actor=actor)
        uid = write(branch="a").uid
        answer = why(uid)
        assert told(answer) == (False, "other_branch", "It is not visible on this branch, but on: a.")
        assert answer.details == {"branches": ["a"]}
        assert why(uid, branch="b").reason == "other_branch"
        only_b = replace(actor, branch_patterns=("b",))
        assert why(uid, branch="b", actor=only_b).reason == "absent"
        fact_engine.delete_fact(fact_id=uid, actor=actor, branch_name="a")
        assert (why(uid).reason, why(uid, branch="a").reason) == ("absent", "deleted")

    def test_a_branch_that_only_began_with_it(self, write, why, actor):
        for name in ("a", "none"):
            branch_manager.create_branch(name=name, actor=actor)
        uid = write(branch="a").uid
        branch_manager.create_branch(name="a/kid", parent="a", actor=actor)
        branch_manager.create_branch(name="a/kid/kid", parent="a/kid", actor=actor)
        assert why(uid).details == {"branches": ["a"]}
        kids = replace(actor, branch_patterns=("main", "a/kid*"))
        assert why(uid, actor=kids).details == {"branches": ["a/kid", "a/kid/kid"]}
        fact_engine.delete_fact(fact_id=uid, actor=actor, branch_name="a")
        assert why(uid).message == "It is not visible on this branch, but on: a/kid, a/kid/kid."
        branch_manager.create_branch(name="a/late", parent="a", actor=actor)
        fact_engine.delete_fact(fact_id=uid, actor=actor, branch_name="a/kid")
        assert why(uid).details == {"branches": ["a/kid/kid"]}

    def test_at_most_twenty_branches_are_named(self, write, why, actor):
        uid = write().uid
        for i in range(21):
            branch_manager.create_branch(name=f"b/{i:02}", actor=actor)
        fact_engine.delete_fact(fact_id=uid, actor=actor)
        branch_manager.create_branch(name="late", actor=actor)
        assert why(uid, branch="late").reason == "deleted"
        branch_manager.create_branch(name="early", at=0, actor=actor)
        assert why(uid, branch="early").details == {"branches": [f"b/{i:02}" for i in range(20)]}

    def test_on_an_archived_branch(self, write, why, actor):
        branch_manager.create_branch(name="a", actor=actor)
        uid, old = write(branch="a").uid, write("Alpha was here.", branch="a").uid
        fact_engine.supersede_fact(
            old_fact_id=old, new_fact_text="Alpha is here.", actor=actor, branch_name="a"
        )
        branch_manager.archive_branch(name="a", actor=actor)
        assert why(uid).reason == "absent"
        answer = why(uid, branch="a")
        assert told(answer) == (False, "archived", "It is archived.")
        assert answer.fact.status == "archived"
        assert why(uid, branch="a", include=["archived"]).found
        assert why(uid, branch="a", filters=only(status="archived")).found
        assert why(uid, branch="a", filters=only(status="active")).reason == "archived"
        both = {"include": ["archived"], "filters": only(status="active")}
        assert told(why(uid, branch="a", **both)) == (False, "filtered", "The filter status leaves it out.")
        assert why(old, branch="a").reason == "archived"
        assert why(old, branch="a", include=["archived"]).reason == "superseded"
        assert why(old, branch="a", filters=only(status="archived")).found

    def test_filtered(self, write, why):
        uid = write(category="a", tags=["x"]).uid
        answer = why(uid, filters=only(category="b", kind="OBSERVATION", tags=["y"], min_confidence=0.9))
        assert told(answer) == (
            False,
            "filtered",
            "The filters category, tags and min_confidence leave it out.",
        )
        assert answer.details == {"filters": ["category", "tags", "min_confidence"]}
        assert why(uid, filters=only(category="a", tags=["x"])).found

    @pytest.mark.parametrize(
        ("flag", "message"),
        [
            ("created", "It is a proposal that nobody has activated."),
            ("archived", "It is archived."),
            ("superseded", "Another fact has superseded it."),
            ("expired", "It has expired."),
            ("outdated", "It is no longer valid."),
            ("invalidated", "It was judged to be wrong."),
        ],
    )
    def test_left_out(self, write, why, actor, flag, message):
        fields = {
            "expired": {"expires_at": timezone.now() + PAST},
            "outdated": {"valid_until": timezone.now() + PAST},
        }
        uid = write(propose=flag == "created", **fields.get(flag, {})).uid
        if flag == "archived":
            fact_engine.archive_fact(fact_id=uid, actor=actor)
        if flag == "superseded":
            fact_engine.supersede_fact(old_fact_id=uid, new_fact_text="x", actor=actor)
        if flag == "invalidated":
            fact_engine.set_verification(fact_id=uid, verdict="invalidated", actor=actor)
        assert told(why(uid)) == (False, flag, message)
        assert told(why(uid, include=[flag])) == (True, "found", "It is hit 1 of this search.")

    def test_a_status_that_the_filter_asks_for(self, write, why, actor):
        uid = write().uid
        assert told(why(uid, filters=only(status="archived"))) == (
            False,
            "filtered",
            "The filter status leaves it out.",
        )
        fact_engine.archive_fact(fact_id=uid, actor=actor)
        assert why(uid, filters=only(status="archived")).found
        assert why(uid, filters=only(status="active")).reason == "archived"

    def test_every_reason_has_a_test(self):
        assert set(REASONS) == {
            "found",
            "out_ranked",
            "no_signal",
            "absent",
            "deleted",
            "not_yet",
            "other_branch",
            "filtered",
            "created",
            "archived",
            "superseded",
            "expired",
            "outdated",
            "invalidated",
        }


class TestAgreesWithTheSearch:
    def agree(self, why, actor, uids, branch="main", **wish):
        found = search_engine.search(query="alpha", actor=actor, branch_name=branch, **wish)
        hits = [hit.fact.uid for hit in found.hits]
        for uid in uids:
            answer = why(uid, branch=branch, **wish)
            assert (answer.found, answer.position if answer.found else None) == (
                uid in hits,
                hits.index(uid) + 1 if uid in hits else None,
            )

    def test_about_answers_to_questions(self, write, why, actor):
        asked, answered = write("Is alpha here?", session_id="s"), write("The red one.", session_id="s")
        answer = why(answered.uid)
        assert told(answer) == (True, "found", "It is hit 2 of this search.")
        assert answer.signals["reply"] == answer.score
        self.agree(why, actor, [asked.uid, answered.uid])

    def test_about_reflections(self, write, why, actor):
        reflect(actor, *["Alpha."] * 5)
        facts = [write(f"Alpha and other words that lower the rank {i}.").uid for i in range(8)]
        uids = facts + [fact.uid for fact in fact_engine.list_facts(actor=actor).results]
        self.agree(why, actor, uids)
        assert sum(why(uid).found for uid in set(uids)) == 10
        left = [a.message for uid in uids if not (a := why(uid)).found]
        assert (
            "It is at position 4 of all, but reflections take at most 30% of a page; the search returns 10."
            in left
        )

    def test_about_opposite_vectors(self, write, why, actor, project, monkeypatch):
        uids = [write(text).uid for text in ("beta", "gamma")]
        embed(project, beta=(1, 0, 0), gamma=(-1, 0, 0))
        from memory.engines.search import engine

        ask = engine.build_query
        monkeypatch.setattr(engine, "build_query", lambda query, own, _, kind: ask(query, own, X, kind))
        hits = search_engine.search(query="nothing", actor=actor, query_vector=X).hits
        assert [hit.fact.uid for hit in hits] == uids
        assert [why(uid, query="nothing").position for uid in uids] == [1, 2]

    def test_under_every_wish(self, write, why, actor):
        uids = [
            write(f"Alpha {'and more ' * i}.", category="ab"[i % 2], priority=f"P{1 + i % 4}").uid
            for i in range(9)
        ]
        self.agree(why, actor, uids)
        self.agree(why, actor, uids, limit=3)
        self.agree(why, actor, uids, recipe="timeless", search_type="keyword")
        self.agree(why, actor, uids, filters=only(category="a"), limit=2)
        self.agree(why, actor, uids, at=4)
        self.agree(why, actor, uids, search_type="vector")

    def test_on_an_archived_branch(self, write, why, actor):
        branch_manager.create_branch(name="a", actor=actor)
        uids = [write(f"Alpha {i}.", branch="a", propose=i == 2).uid for i in range(4)]
        fact_engine.archive_fact(fact_id=uids[1], actor=actor, branch_name="a")
        branch_manager.archive_branch(name="a", actor=actor)
        for include in ([], ["archived"], ["archived", "created"], ["created"]):
            for status in ({}, {"status": "active"}, {"status": "archived"}, {"status": "created"}):
                self.agree(why, actor, uids, branch="a", include=include, filters=only(**status))


class TestRefused:
    def test_as_a_search_is(self, why, actor):
        for wish, error in [
            ({"query": "x" * 8001}, QueryTooLong),
            ({"limit": 0}, Invalid),
            ({"search_type": "x"}, Invalid),
            ({"include": ["x"]}, Invalid),
            ({"recipe": "x"}, Invalid),
            ({"branch": "none"}, BranchNotFound),
            ({"at": 9}, Invalid),
            ({"actor": replace(actor, scopes=frozenset())}, ScopeMissing),
            ({"actor": replace(actor, branch_patterns=("task/*",))}, BranchForbidden),
        ]:
            with refused(error):
                why(uuid4(), **wish)

    def test_a_foreign_fact_is_like_none(self, write, why, other_project, actor):
        other = local_actor(other_project.pk)
        foreign = fact_engine.write_fact(fact_text="Alpha.", actor=other).fact.uid
        gone = fact_engine.write_fact(fact_text="Beta.", actor=other).fact.uid
        fact_engine.delete_fact(fact_id=gone, actor=other)
        for uid in (foreign, gone, uuid4()):
            answer = why(uid)
            assert told(answer) == (False, "absent", "No fact with this id is known here.")
            assert (answer.fact, answer.details, answer.signals, answer.score) == (None, {}, {}, None)

    def test_leaves_no_trace(self, write, why):
        uid = write().uid
        before = everything()
        assert why(uid).found
        buffer.flush()
        assert everything() == before
        assert RecallLog.objects.count() == 0

    def test_is_a_method_of_the_search_too(self, write, actor):
        uid = write().uid
        assert search_engine.explain(query="alpha", fact_id=uid, actor=actor, limit=3).found
