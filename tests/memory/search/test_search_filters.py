"""Filters and default exclusions of a search, and the length of its texts."""

from datetime import timedelta

import pytest
import time_machine
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from memory import ranking
from memory.engines.support.write_buffer import buffer
from memory.models.usage import forget_known
from tests.memory.facts.helpers import texts
from tests.memory.search.helpers import MONTH, fact_engine, only, reflect

pytestmark = pytest.mark.django_db(transaction=True)  # the index covers committed rows only


class TestFiltersBeforeRanking:
    def test_the_few_among_many(self, many, look):
        many(*[f"Alpha alpha {i}." for i in range(150)], category="common")
        few = many(
            *[f"Alpha and many other words that lower its rank {i}." for i in range(12)],
            tags=["rare"],
            category="rare",
            confidence=0.2,
            session_id="s",
            agent_id="g",
            task_id="t",
            pinned=True,
            priority="P4",
            visibility="private",
            kind="NOTE",
            source_type="import",
        )
        ids = {fact.uid for fact in few}
        for values in (
            {"category": "rare"},
            {"kind": "NOTE"},
            {"session_id": "s"},
            {"agent_id": "g"},
            {"task_id": "t"},
            {"tags": ["rare"]},
            {"max_confidence": 0.2},
            {"pinned": True},
            {"priority": "P4"},
            {"visibility": "private"},
            {"source_type": "import"},
            {"category": "rare", "tags": ["rare"], "kind": "NOTE"},
        ):
            found = look("alpha", limit=12, filters=only(**values))
            assert {hit.fact.uid for hit in found.hits} == ids, values
        assert len(look("alpha", limit=10, filters=only(category="rare")).hits) == 10
        assert look("alpha", filters=only(category="none")).hits == []

    def test_a_whole_page(self, many, look):
        many(*[f"Alpha {i}." for i in range(120)])
        for limit in (1, 10, 50, 51, 100):
            assert len(look("alpha", limit=limit).hits) == limit

    def test_verified_among_many(self, many, look, actor):
        made = many(*[f"Alpha {i}." for i in range(100)])
        fact_engine.set_verification(fact_id=made[3].uid, verdict="verified", actor=actor)
        assert texts(look("alpha", filters=only(verification_status="verified"))) == ["Alpha 3."]
        assert len(look("alpha", limit=100, filters=only(verification_status="unverified")).hits) == 99


class TestLeftOut:
    @pytest.fixture
    def stored(self, write, actor):
        past = timezone.now() - timedelta(hours=1)
        write("alpha active")
        write("alpha created", propose=True)
        write("alpha expired", expires_at=past)
        write("alpha outdated", valid_until=past)
        write("alpha later", valid_until=timezone.now() + MONTH, expires_at=timezone.now() + MONTH)
        fact_engine.archive_fact(fact_id=write("alpha archived").uid, actor=actor)
        fact_engine.set_verification(
            fact_id=write("alpha invalidated").uid, verdict="invalidated", actor=actor
        )
        fact_engine.supersede_fact(
            old_fact_id=write("alpha superseded").uid, new_fact_text="alpha new", actor=actor
        )

    PLAIN = {"alpha active", "alpha later", "alpha new"}

    def test_unless_asked_for_each_flag_on_its_own(self, stored, look):
        assert set(texts(look("alpha"))) == self.PLAIN
        for flag in ("superseded", "archived", "created", "expired", "outdated", "invalidated"):
            assert set(texts(look("alpha", include=[flag]))) == self.PLAIN | {f"alpha {flag}"}

    def test_all_flags(self, stored, look):
        flags = ("superseded", "archived", "created", "expired", "outdated", "invalidated")
        assert len(look("alpha", include=flags).hits) == 9

    def test_a_status_asked_for(self, stored, look):
        assert texts(look("alpha", filters=only(status="archived"))) == ["alpha archived"]
        both = look("alpha", filters=only(status=["archived", "created"]), include=["superseded"])
        assert set(texts(both)) == {"alpha archived", "alpha created"}

    def test_two_reasons_need_two_flags(self, write, look, actor):
        fact = write("alpha both", expires_at=timezone.now() - MONTH)
        fact_engine.archive_fact(fact_id=fact.uid, actor=actor)
        for include, count in (([], 0), (["archived"], 0), (["expired"], 0), (["archived", "expired"], 1)):
            assert len(look("alpha", include=include).hits) == count

    def test_to_the_moment(self, write, look):
        now = timezone.now() + MONTH
        write("alpha", expires_at=now, valid_until=now)
        with time_machine.travel(now - timedelta(microseconds=1), tick=False):
            assert texts(look("alpha")) == ["alpha"]
        with time_machine.travel(now, tick=False):
            assert texts(look("alpha")) == []
            assert texts(look("alpha", include=["expired", "outdated"])) == ["alpha"]

    def test_what_was_judged_wrong_and_then_edited_is_back(self, stored, look, actor):
        (uid,) = [h.fact.uid for h in look("invalidated", include=["invalidated"]).hits][:1]
        fact_engine.update_fact(fact_id=uid, updates={"fact_text": "alpha corrected"}, actor=actor)
        assert "alpha corrected" in texts(look("alpha"))


class TestPage:
    def test_reflections_take_at_most_three_of_ten(self, many, look, actor):
        many(*[f"Alpha and many more words that weigh it down {i}." for i in range(10)])
        reflect(actor, *[f"Alpha {i}." for i in range(10)])
        kinds = [hit.fact.kind for hit in look("alpha").hits]
        assert (kinds.count("REFLECTION"), len(kinds)) == (3, 10)
        assert kinds[:3] == ["REFLECTION"] * 3
        for limit, most in ((1, 0), (3, 0), (4, 1), (7, 2), (20, 6)):
            kinds = [hit.fact.kind for hit in look("alpha", limit=limit).hits]
            assert kinds.count("REFLECTION") == most

    def test_reflections_that_were_asked_for_fill_the_page(self, look, actor):
        reflect(actor, *[f"Alpha {i}." for i in range(12)])
        assert len(look("alpha", filters=only(kind="REFLECTION")).hits) == 10
        assert len(look("alpha", filters=only(kind=["REFLECTION", "NOTE"])).hits) == 3

    def test_reflections_do_not_keep_others_from_the_page(self, many, look, actor):
        many(*[f"Alpha and many more words that weigh it down {i}." for i in range(10)])
        reflect(actor, *[f"Alpha {i}." for i in range(60)])
        kinds = [hit.fact.kind for hit in look("alpha").hits]
        assert (kinds.count("REFLECTION"), len(kinds)) == (3, 10)
        found = look("alpha", filters=only(kind=["REFLECTION", "NOTE"]))
        assert {hit.fact.kind for hit in found.hits} == {"REFLECTION"}

    def test_max_tokens_packs_essences(self, write, look):
        write("alpha " + "long " * 100, essence="x" * 117)
        write("alpha b.", essence="Short one")
        write("alpha c.", essence="Two\nlines\r\nof it")
        found = look("alpha", max_tokens=1000)
        lines = {"- Short one", "- Two lines of it", "- " + "x" * 117}
        assert set(found.context.split("\n")) == lines
        assert found.tokens == sum(ranking.count_tokens(line + "\n") for line in lines) == 3 + 5 + 30
        small = look("alpha", max_tokens=8)
        assert (set(small.context.split("\n")), small.tokens) == ({"- Short one", "- Two lines of it"}, 8)
        assert {hit.fact.essence for hit in small.hits} == {"Short one", "Two\nlines\r\nof it"}
        none = look("alpha", max_tokens=1)
        assert (none.context, none.tokens, none.hits) == ("", 0, [])
        plain = look("alpha")
        assert (plain.context, plain.tokens) == (None, None)

    def test_the_number_of_queries_does_not_grow_with_the_page(self, many, look):
        many(*[f"Alpha {i}. Is it so?" for i in range(60)], session_id="s")

        def queries(limit):
            buffer.flush()  # a slow server would have what is due written, and counted, in between
            forget_known()  # or the project's use read again
            with CaptureQueriesContext(connection) as caught:
                assert len(look("alpha", limit=limit).hits) == limit
            return len(caught)

        queries(5)  # the first search measures the branch's share of the index, and caches it
        assert queries(5) == queries(50)
