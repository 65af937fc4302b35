"""Lists of facts: pages, filters, past points."""

from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
import time_machine
from django.db import connection
from django.test.utils import CaptureQueriesContext

from memory.engines.facts.filters import FactFilter
from memory.engines.facts.links import LinkEngine
from memory.engines.support.pagination import OTHER_LIST
from memory.engines.versions.lookup import find_branch
from memory.exceptions import (
    Invalid,
    NotFound,
)
from memory.models import Fact
from tests.memory.facts.helpers import branch_manager, fact_engine, refused


@pytest.mark.django_db
class TestLists:
    def test_newest_first_in_pages(self, write, actor, main):
        made = [write(f"Fact {i}.").fact.uid for i in range(5)]
        first = fact_engine.list_facts(actor=actor, limit=2)
        write("Written meanwhile.")
        second = fact_engine.list_facts(actor=actor, limit=2, cursor=first.next)
        third = fact_engine.list_facts(actor=actor, limit=2, cursor=second.next)
        pages = [[fact.uid for fact in page.results] for page in (first, second, third)]
        assert pages == [made[4:2:-1], made[2:0:-1], made[:1]]
        assert (first.previous, third.next) == (None, None)
        back = fact_engine.list_facts(actor=actor, limit=2, cursor=third.previous)
        assert [fact.uid for fact in back.results] == made[2:0:-1]

    def test_a_bulk_is_listed_in_the_order_of_its_facts(self, actor, main):
        done = fact_engine.write_facts(facts=[{"fact_text": f"Turn {i}."} for i in range(100)], actor=actor)
        made = [row.fact.uid for row in done.results]
        listed = [fact.uid for fact in fact_engine.list_facts(actor=actor, limit=100).results]
        assert listed == made[::-1]

    @pytest.mark.parametrize(
        "place",
        [
            {"seq": 99, "key": "0" * 32},
            {"seq": -1, "key": "0" * 32},
            {"seq": "1", "key": "0" * 32},
            {"seq": 1.5, "key": "0" * 32},
            {"seq": True, "key": "0" * 32},
            {"seq": [1], "key": "0" * 32},
            {"seq": None, "key": "0" * 32},
            {"seq": {}, "key": "0" * 32},
            {"seq": 2**70, "key": "0" * 32},
            {"seq": 1, "key": "nonsense"},
            {"seq": 1, "key": 5},
            {"seq": 1},
            [],
            5,
            None,
        ],
    )
    def test_a_cursor_that_was_made_up(self, write, actor, main, place):
        from memory.engines.support.pagination import write_cursor

        uid = write().fact.uid
        for reading in (
            lambda cursor: fact_engine.list_facts(actor=actor, cursor=cursor),
            lambda cursor: LinkEngine().list_links(fact_id=uid, actor=actor, cursor=cursor),
        ):
            with refused(Invalid):
                reading(write_cursor(place))

    @pytest.mark.parametrize("cursor", ["?", "abc", "====", "\ud800", "é", "e30", "a" * 5000])
    def test_a_cursor_that_is_none(self, actor, main, cursor):
        with refused(Invalid) as caught:
            fact_engine.list_facts(actor=actor, cursor=cursor)
        assert str(caught.value) == "This cursor is not one that Day1 gave."

    def test_a_cursor_without_a_bottom(self, actor, main):
        import base64

        with refused(Invalid):
            fact_engine.list_facts(actor=actor, cursor=base64.urlsafe_b64encode(b"[" * 6000).decode())

    def test_a_cursor_of_another_branch_shows_only_this_one(self, write, actor, child, main):
        write("On main.")
        child()
        write("On a.", branch="task/a")
        write("On a too.", branch="task/a")
        cursor = fact_engine.list_facts(actor=actor, branch_name="task/a", limit=1).next
        with refused(Invalid) as caught:
            fact_engine.list_facts(actor=actor, cursor=cursor)
        assert str(caught.value) == OTHER_LIST

    @pytest.mark.parametrize("limit", [0, -1, 101])
    def test_a_page_has_1_to_100(self, actor, main, limit):
        with refused(Invalid) as caught:
            fact_engine.list_facts(actor=actor, limit=limit)
        assert str(caught.value) == f"A page has 1 to 100 results, not {limit}."

    def test_on_an_archived_branch_every_fact_is_archived(self, write, actor, child, main):
        child()
        made = {
            write("Kept.", branch="task/a").fact.uid,
            write("Proposed.", branch="task/a", propose=True).fact.uid,
        }
        branch_manager.archive_branch(name="task/a", actor=actor)

        def listed(**values):
            page = fact_engine.list_facts(
                actor=actor, branch_name="task/a", filters=FactFilter.from_values(values), limit=1
            )
            rest = page.next and fact_engine.list_facts(
                actor=actor, branch_name="task/a", filters=FactFilter.from_values(values), cursor=page.next
            )
            return {(fact.uid, fact.status) for fact in [*page, *(rest or ())]}

        every = {(uid, "archived") for uid in made}
        assert listed() == listed(status="archived") == listed(status=["active", "archived"]) == every
        assert listed(status="active") == listed(status="created") == set()

    def test_at_a_seq_a_commit_and_a_time(self, actor, main, project):
        with time_machine.travel(datetime(2036, 1, 1, tzinfo=UTC), tick=False):
            one = fact_engine.write_facts(facts=[{"fact_text": "One."}], actor=actor)
        with time_machine.travel(datetime(2036, 1, 2, tzinfo=UTC), tick=False):
            fact_engine.update_fact(
                fact_id=one.results[0].fact.uid, updates={"fact_text": "Two."}, actor=actor
            )

        def at(point):
            return [fact.fact_text for fact in fact_engine.list_facts(actor=actor, at=point).results]

        assert [at(p) for p in (None, 0, 1, 2)] == [["Two."], [], ["One."], ["Two."]]
        assert at(one.commit.pk) == ["One."]
        noon = datetime(2036, 1, 1, 12, tzinfo=UTC)
        assert [at(noon + timedelta(days=d)) for d in (-1, 0, 1)] == [[], ["One."], ["Two."]]
        assert at(one.commit.at) == ["One."]
        with refused(Invalid):
            at(3)
        with refused(NotFound):
            at(uuid4())

    def test_the_number_of_queries_does_not_grow_with_the_page(self, write, actor, main):
        fact_engine.write_facts(facts=[{"fact_text": f"Fact {i}."} for i in range(60)], actor=actor)

        def queries(limit):
            with CaptureQueriesContext(connection) as caught:
                assert len(fact_engine.list_facts(actor=actor, limit=limit).results) == limit
            return len(caught)

        queries(4)  # reads the branch, too
        assert queries(5) == queries(50)

    def test_on_a_deep_branch(self, write, actor, child, search, main):
        names = ["main"]
        for depth in range(6):
            write(f"Alpha {depth}.", branch=names[-1])
            names.append(child(f"d{depth}", parent=names[-1]).name)
        first = fact_engine.list_facts(actor=actor).results[0]
        fact_engine.delete_fact(fact_id=first.uid, actor=actor, branch_name="d3")
        found = fact_engine.list_facts(actor=actor, branch_name="d5", limit=100).results
        assert [fact.fact_text for fact in found] == [f"Alpha {i}." for i in range(5, -1, -1)]
        assert len(search("alpha", branch="d5")) == 6
        # its deletion is gone, the later facts were never visible
        assert len(search("alpha", branch="d3")) == 4
        judge = {"fact_id": first.uid, "verdict": "verified", "actor": actor}
        assert fact_engine.set_verification(**judge, branch_name="d5").verification_status == "verified"
        assert find_branch(actor, "d5").depth == 6

    def test_a_condition_grows_in_step_with_the_depth(self):
        rows = Fact.objects.in_lineage([(branch, 1) for branch in range(17)]).rows()
        assert str(rows.query).count("EXISTS") <= 17
