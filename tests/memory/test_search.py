"""Search finds, ranks and tells why; whatever the text, it answers."""

import json
import logging
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import numpy as np
import pytest
import time_machine
from django.db import DatabaseError, connection
from django.db.models import F
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from hypothesis import HealthCheck, given
from hypothesis import settings as example_settings
from hypothesis import strategies as st

from memory import ranking
from memory.actors import local_actor
from memory.db.querysets import VersionedQuerySet
from memory.engines.branches import BranchManager
from memory.engines.buffers import buffer
from memory.engines.commits import committing
from memory.engines.embedding import EmbeddingEngine
from memory.engines.facts import FactEngine
from memory.engines.filters import FactFilter
from memory.engines.search import Found, Hit, SearchEngine
from memory.exceptions import BranchNotFound, Invalid, NotFound, QueryTooLong
from memory.models import Fact, FactUse, Project, RecallLog, Vector, VectorClock
from memory.models.hashes import content_hash
from memory.models.vectors import vector_slot
from tests.memory.test_facts import everything, refused, texts

pytestmark = pytest.mark.django_db(transaction=True)  # the index answers for what is committed

ENGINE, SEARCH, BRANCHES = FactEngine(), SearchEngine(), BranchManager()
MONTH = timedelta(days=30)
X, Y = np.eye(3, dtype="f4")[:2]


def only(**values: Any) -> FactFilter:
    return FactFilter.of(values)


def embed(project: Project, **vectors: Sequence[float]) -> None:
    """Vectors of texts, as a model with the name of none would have made them."""
    clock, _ = VectorClock.objects.get_or_create(project=project)
    VectorClock.objects.filter(pk=clock.pk).update(n=F("n") + 1)
    for text, numbers in vectors.items():
        value, vector = content_hash(text), np.array(numbers, dtype="f4")
        Vector.objects.create(
            slot=vector_slot(project.pk, "", value),
            project=project,
            model="",
            content_hash=value,
            n=clock.n + 1,
            state="ready",
            next_try=timezone.now(),
            data=vector / np.linalg.norm(vector),
        )


def recomputed(hit: Hit, weights: dict[str, float]) -> float:
    """The score that the signals say."""
    parts = sum(share * hit.signals[arm] for arm, share in weights.items())
    for factor in ("recency", "verification", "priority", "confidence", "confirmations"):
        parts *= hit.signals[factor]
    return max(parts, hit.signals.get("reply", 0.0))


@pytest.fixture
def write(actor, main):
    def write(text, branch="main", **more):
        return ENGINE.write_fact(fact_text=text, branch_name=branch, actor=actor, **more).fact

    return write


@pytest.fixture
def many(actor, main):
    def many(*texts, branch="main", **more):
        facts = [{"fact_text": text, **more} for text in texts]
        done = ENGINE.write_facts(facts=facts, actor=actor, branch_name=branch, deduplicate=False)
        return [row.fact for row in done.results]

    return many


@pytest.fixture
def look(actor, main):
    def look(query, branch="main", **more) -> Found:
        return SEARCH.search(query=query, branch_name=branch, actor=actor, **more)

    return look


class TestScore:
    def test_every_part_is_told(self, write, look, actor):
        for i in range(7):
            fact = write("Alpha beta.", priority="P1", confidence=0.5, session_id=f"s{i}")
        ENGINE.set_verification(fact_id=fact.uid, verdict="verified", actor=actor)
        with time_machine.travel(fact.created_at + MONTH, tick=False):
            (hit,) = look("alpha").hits
        assert hit.signals.pop("recency") == pytest.approx(0.75, abs=1e-6)
        assert hit.signals == pytest.approx(
            {
                "keyword": 1.0,
                "vector": 0.0,
                "verification": 1.05,
                "priority": 1.05,
                "confidence": 0.95,
                "confirmations": 1.1,
            }
        )
        assert hit.score == pytest.approx(0.75 * 1.05 * 1.05 * 0.95 * 1.1, abs=1e-6)
        assert hit.branches == ("main",)
        assert (hit.fact.confirmation_count, hit.fact.verification_status) == (6, "verified")

    def test_the_score_follows_from_the_signals(self, many, look):
        many(
            "Alpha beta gamma.", "Alpha alpha delta.", "Beta and much more than that, of beta.", priority="P2"
        )
        many("Alpha.", confidence=0.1)
        found = look("alpha beta")
        assert len(found.hits) == 4
        assert found.signals_used == ["keyword"]
        assert (found.recipe, found.branches) == ("default", ("main",))
        for hit in found.hits:
            assert hit.score == pytest.approx(recomputed(hit, {"keyword": 1.0}))
        assert [hit.score for hit in found.hits] == sorted((hit.score for hit in found.hits), reverse=True)
        assert max(hit.signals["keyword"] for hit in found.hits) == 1.0

    def test_equal_scores_by_id(self, many, look):
        with time_machine.travel(timezone.now() + MONTH, tick=False):
            made = many(*["Alpha beta."] * 8)
            found = look("alpha")
        assert len({hit.score for hit in found.hits}) == 1
        assert [hit.fact.uid for hit in found.hits] == sorted(fact.uid for fact in made)

    def test_recency_by_age(self, write, look):
        now = timezone.now() + 10 * MONTH
        for days in (60, 30, 0):
            with time_machine.travel(now - timedelta(days=days), tick=False):
                write(f"Alpha {days}.")
        with time_machine.travel(now, tick=False):
            told = {hit.fact.fact_text: hit.signals["recency"] for hit in look("alpha").hits}
            timeless = [hit.signals["recency"] for hit in look("alpha", recipe="timeless").hits]
        assert told == pytest.approx({"Alpha 0.": 1.0, "Alpha 30.": 0.75, "Alpha 60.": 0.625}, abs=1e-5)
        assert timeless == [1.0, 1.0, 1.0]

    def test_recency_by_cycle(self, write, look):
        for cycle in (0, 60, 99):
            write(f"Alpha {cycle}.", created_cycle=cycle)
        told = {hit.fact.fact_text: hit.signals["recency"] for hit in look("alpha", current_cycle=90).hits}
        assert told == pytest.approx({"Alpha 0.": 0.5 + 0.5 / 8, "Alpha 60.": 0.75, "Alpha 99.": 1.0})

    def test_an_answer_shares_the_score_of_its_question(self, write, look):
        write("Which car did you buy?", session_id="s")
        write("The red one.", session_id="s")
        write("Nothing more.", session_id="s")
        write("An answer to nobody.", session_id="t")
        found = look("which car was bought?")
        assert texts(found) == ["Which car did you buy?", "The red one."]
        question, answer = found.hits[:2]
        assert answer.score == question.score == answer.signals["reply"]
        assert answer.signals["keyword"] == 0.0
        assert texts(look("which car was bought?", recipe="hybrid")) == ["Which car did you buy?"]


class TestWeights:
    @pytest.fixture
    def both(self, many, project):
        many("alpha", "beta", "gamma", "unread")
        embed(project, alpha=(0.6, 0.8, 0), beta=(1, 0, 0), gamma=(-1, 0, 0))

    @pytest.mark.parametrize(
        ("recipe", "shares"), [("seed", (0.3, 0.7)), ("hybrid", (0.4, 0.6)), ("default", (0.4, 0.6))]
    )
    def test_both_arms(self, both, look, recipe, shares):
        found = look("alpha", query_vector=X, recipe=recipe)
        assert found.signals_used == ["keyword", "vector"]
        assert found.recipe == recipe
        parts = {hit.fact.fact_text: (hit.signals["keyword"], hit.signals["vector"]) for hit in found.hits}
        assert parts == {
            "alpha": (1.0, pytest.approx(0.6)),
            "beta": (0.0, pytest.approx(1.0)),
            "gamma": (0.0, 0.0),
        }
        for hit in found.hits:
            assert hit.score == pytest.approx(
                recomputed(hit, dict(zip(("keyword", "vector"), shares, strict=True)))
            )

    def test_no_keyword_hit_leaves_it_to_the_vectors(self, both, look):
        found = look("nothing like it", query_vector=X)
        assert found.signals_used == ["vector"]
        assert texts(found)[0] == "beta"
        for hit in found.hits:
            assert hit.score == pytest.approx(recomputed(hit, {"vector": 1.0}))

    def test_no_vector_leaves_it_to_the_keywords(self, both, look):
        found = look("alpha")
        assert (found.signals_used, texts(found)) == (["keyword"], ["alpha"])
        assert found.hits[0].score == pytest.approx(recomputed(found.hits[0], {"keyword": 1.0}))

    def test_a_row_without_a_vector_has_none_of_it(self, both, look):
        (hit,) = [hit for hit in look("unread", query_vector=X).hits if hit.fact.fact_text == "unread"]
        assert (hit.signals["keyword"], hit.signals["vector"]) == (1.0, 0.0)
        assert hit.score == pytest.approx(recomputed(hit, {"keyword": 0.4, "vector": 0.6}))

    def test_types(self, both, look):
        assert texts(look("gamma", query_vector=X, search_type="keyword")) == ["gamma"]
        assert texts(look("gamma", query_vector=X, search_type="vector")) == ["beta", "alpha", "gamma"]
        assert look("gamma", query_vector=X, search_type="vector").signals_used == ["vector"]
        without = look("gamma", search_type="vector")
        assert (texts(without), list(without.signals_used)) == (["gamma"], ["keyword"])

    def test_a_vector_of_another_length_compares_with_nothing(self, both, look):
        assert texts(look("alpha", query_vector=np.ones(7, dtype="f4"))) == ["alpha"]

    def test_vectors_follow_what_the_branch_shows(self, both, look, actor):
        uid = look("beta").hits[0].fact.uid
        BRANCHES.create_branch(name="a", actor=actor)
        ENGINE.delete_fact(fact_id=uid, actor=actor, branch_name="a")
        shown = [texts(look("q", branch=b, query_vector=X, search_type="vector")) for b in ("main", "a")]
        assert shown == [["beta", "alpha", "gamma"], ["alpha", "gamma"]]


class TestRecipes:
    def test_by_call_then_by_project_then_by_server(self, write, look, project, settings):
        write("Alpha.")
        assert look("alpha").recipe == "default"
        settings.DAY1 = {"embedder": "off", "recipe": "words"}
        assert look("alpha").recipe == "words"
        Project.objects.filter(pk=project.pk).update(recipe="seed")
        assert look("alpha").recipe == "seed"
        assert look("alpha", recipe="timeless").recipe == "timeless"

    def test_an_unknown_one(self, look):
        with pytest.raises(Invalid) as caught:
            look("alpha", recipe="{x}")
        known = "default, hybrid, seed, timeless, words"
        assert str(caught.value) == f"There is no recipe {{x}}; there are {known}."


class TestRefused:
    @pytest.mark.parametrize(
        ("wish", "error", "message"),
        [
            ({"limit": 0}, Invalid, "A page has 1 to 100 results, not 0."),
            ({"limit": -5}, Invalid, "A page has 1 to 100 results, not -5."),
            ({"limit": 101}, Invalid, "A page has 1 to 100 results, not 101."),
            ({"search_type": "magic"}, Invalid, "search_type must be one of hybrid, keyword, vector."),
            (
                {"include": ["archived", "deleted"]},
                Invalid,
                "include knows superseded, archived, created, expired, outdated, invalidated, not deleted.",
            ),
            ({"max_tokens": 0}, Invalid, "max_tokens must be at least 1."),
            ({"query": "x" * 8001}, QueryTooLong, "A query has at most 8000 characters, this one has 8001."),
            ({"query": None}, Invalid, "query must be a text."),
            ({"query": b"x"}, Invalid, "query must be a text."),
            ({"branch": "none"}, BranchNotFound, "There is no branch named none."),
            ({"at": 99}, Invalid, "main has the seqs 0 to 1."),
            ({"at": -1}, Invalid, "main has the seqs 0 to 1."),
        ],
    )
    def test_says_what_is_wrong_and_logs_nothing(self, write, look, wish, error, message):
        write("Alpha.")
        before = everything()
        with refused(error) as caught:
            look(**{"query": "alpha", **wish})
        assert str(caught.value) == message
        buffer.flush()
        assert everything() == before

    def test_a_commit_that_is_not_here(self, write, look):
        with refused(NotFound):
            look("alpha", at=uuid4())


STRANGE = [
    "",
    " ",
    "\n\t\u3000",
    "what is the",
    "the",
    "!?.,;:",
    "§ ± ∞",
    "_",
    "___",
    "_a_",
    "\x00",
    "\x00alpha\x00",
    "\ud800",
    "alpha \udfff",
    '"',
    "'",
    '"alpha',
    "alpha*",
    "*",
    "^alpha",
    "-alpha",
    "+alpha",
    "(alpha",
    "alpha)",
    "()",
    "{alpha}",
    "{0}",
    "alpha:beta",
    "text:alpha",
    "tok:b1oq",
    "NEAR(alpha beta)",
    "alpha AND",
    "OR",
    "NOT",
    "alpha OR beta AND NOT gamma",
    "NEAR/2",
    "%",
    "_%_",
    "100 %",
    "\\",
    "alpha\\",
    "'; DROP TABLE memory_fact; --",
    "😀",
    "👩‍👩‍👧‍👦 🏳️‍🌈",
    "日本語の検索",
    "东京",
    "京",
    "한국어",
    "ภาษาไทย",
    "שלום עולם",
    "مرحبا بالعالم",
    "\u202ealpha\u202c",
    "e\u0301",
    "ﬁle",
    "ß",
    "İ",
    "²",
    "①",
    "Ⅷ",
    "\U0001d400\U0001d401",
    "\U00020000\U00020001",
    "\u0958\ufb2c",
    "a\u200bb",
    "\ufeff",
    "\uffff",
    "\U0010ffff",
]
LONG = [
    "a" * 8000,
    "a " * 4000,
    " ".join(str(i) for i in range(2000))[:8000],
    "京" * 8000,
    "京都" * 4000,
    "_a" * 4000,
    "%" * 8000,
    '"' * 8000,
    "😀" * 8000,
    "\U00020000" * 8000,
    "\U0001d400" * 8000,
    "\ufb2c" * 8000,
    "\u0958" * 8000,
    "İ" * 8000,
    "\x00" * 8000,
    "\ud800" * 8000,
    "(" * 8000,
    "AND " * 2000,
    "\u0301" * 8000,
    "ﷺ" * 8000,
]


class TestAnyText:
    @pytest.fixture
    def stored(self, many):
        many(
            "Alpha beta.",
            "東京は日本の首都です",
            "שלום עולם",
            "100 % of it_all",
            "😀 grin",
            "The what is the",
        )

    def test_of_strange_queries_none_fails(self, stored, look):
        for query in STRANGE + LONG:
            found = look(query)
            assert set(found.signals_used) <= {"keyword", "like"}, query
            assert all(hit.score > 0 for hit in found.hits)
        buffer.flush()
        assert RecallLog.objects.count() == len(STRANGE + LONG)

    def test_what_holds_no_word_finds_nothing(self, stored, look):
        for query in ("", " ", "!?.,;:", "_", "😀", "\x00", "\ud800", "%"):
            assert (texts(look(query)), look(query).signals_used) == ([], [])

    def test_only_stop_words_are_looked_for_all_the_same(self, stored, look):
        assert texts(look("what is the")) == ["The what is the"]

    def test_syntax_is_text(self, stored, look):
        for query in (
            "alpha*",
            '"alpha',
            "NEAR(alpha)",
            "-alpha",
            "alpha AND",
            "\x00alpha",
            "tok:alpha",
            "{alpha}",
        ):
            assert texts(look(query))[0] == "Alpha beta.", query

    def test_scripts_without_spaces_and_from_right_to_left(self, stored, look):
        assert texts(look("日本")) == ["東京は日本の首都です"]
        assert texts(look("首都")) == ["東京は日本の首都です"]
        assert texts(look("עולם")) == ["שלום עולם"]

    def test_exactly_8000_characters(self, stored, look):
        query = "alpha " + "x" * 7994
        assert len(query) == 8000
        assert texts(look(query)) == ["Alpha beta."]

    @example_settings(
        max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
    )
    @given(
        st.one_of(
            st.text(st.characters(), max_size=200),
            st.text(st.characters(categories=["L", "N", "M"]), max_size=60),
            st.lists(st.sampled_from([*STRANGE, "alpha"]), max_size=20).map(" ".join),
            st.text(max_size=20).map(lambda part: (part * 8000)[:8000]),
        )
    )
    def test_no_text_makes_it_fail(self, stored, look, query):
        for search_type in ("hybrid", "keyword", "vector"):
            found = look(query, search_type=search_type, query_vector=X)
            assert len(found.hits) <= 6


class TestFallback:
    def test_parts_of_words(self, many, look):
        many("The authenticator.", "Authentication of auth.", "Nothing.")
        found = look("thentic")
        assert found.signals_used == ["like"]
        assert sorted(texts(found)) == ["Authentication of auth.", "The authenticator."]

    def test_by_the_share_of_the_words(self, many, look):
        many("Xxalphaxx.", "Xxalphaxxbetaxx.")
        found = look("alpha beta")
        assert texts(found) == ["Xxalphaxxbetaxx.", "Xxalphaxx."]
        assert [hit.signals["keyword"] for hit in found.hits] == [1.0, 0.5]

    def test_marks_of_like_are_text(self, many, look):
        many("Quota is 100percent.", "A_b_c is a name.", "Axbxc is none.")
        assert texts(look("x%x")) == ["Axbxc is none."]
        assert "Axbxc is none." not in texts(look("_b_"))

    def test_an_index_that_is_damaged(self, many, look, monkeypatch):
        def broken(*args):
            raise DatabaseError("fts5: corruption found")

        monkeypatch.setattr(VersionedQuerySet, "keyword", broken)
        many("Alpha beta.")
        found = look("alpha")
        assert (texts(found), found.signals_used) == (["Alpha beta."], ["index_error", "like"])

    def test_filters_hold_there_too(self, many, look):
        many("Xalphax.", category="a")
        many("Yalphay.", category="b")
        assert texts(look("alpha", filters=only(category="b"))) == ["Yalphay."]

    @pytest.mark.parametrize("embedder", ["/no/such/model.onnx", "openai"])
    def test_an_embedder_that_cannot_be(self, many, look, settings, embedder, caplog):
        many("Alpha beta.")
        settings.DAY1 = {"embedder": embedder}
        with caplog.at_level(logging.WARNING):
            found = look("alpha")
        assert (texts(found), found.signals_used) == (["Alpha beta."], ["keyword"])


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
        ENGINE.set_verification(fact_id=made[3].uid, verdict="verified", actor=actor)
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
        ENGINE.archive_fact(fact_id=write("alpha archived").uid, actor=actor)
        ENGINE.set_verification(fact_id=write("alpha invalidated").uid, verdict="invalidated", actor=actor)
        ENGINE.supersede_fact(
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
        ENGINE.archive_fact(fact_id=fact.uid, actor=actor)
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
        ENGINE.update_fact(fact_id=uid, updates={"fact_text": "alpha corrected"}, actor=actor)
        assert "alpha corrected" in texts(look("alpha"))


def reflect(actor: Any, *texts: str) -> None:
    """Reflections, as only Day1 itself may write them."""
    with committing(actor, "main", "dream") as commit:
        rows = [Fact(fact_text=text, essence=text, kind="REFLECTION") for text in texts]
        for row in rows:
            row.rehash()
        commit.add(rows)


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

    @pytest.mark.xfail(strict=True, reason="reflections fill the pool of candidates before the page is cut")
    def test_reflections_do_not_keep_others_from_the_page(self, many, look, actor):
        many(*[f"Alpha and many more words that weigh it down {i}." for i in range(10)])
        reflect(actor, *[f"Alpha {i}." for i in range(60)])
        assert len(look("alpha").hits) == 10

    def test_max_tokens_packs_essences(self, write, look):
        write("alpha " + "long " * 100, essence="x" * 117)
        write("alpha b.", essence="Short one")
        write("alpha c.", essence="Two\nlines\r\nof it")
        found = look("alpha", max_tokens=1000)
        lines = {"- Short one", "- Two lines of it", "- " + "x" * 117}
        assert set(found.context.split("\n")) == lines
        assert found.tokens == sum(ranking.tokens(line + "\n") for line in lines) == 3 + 5 + 30
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
            with CaptureQueriesContext(connection) as caught:
                assert len(look("alpha", limit=limit).hits) == limit
            return len(caught)

        queries(5)  # the first search looks how much of the index the branch is, and remembers it
        assert queries(5) == queries(50)


class TestAt:
    def test_a_seq_a_commit_a_time(self, actor, main, look):
        with time_machine.travel(datetime(2036, 1, 1, tzinfo=UTC), tick=False):
            one = ENGINE.write_facts(facts=[{"fact_text": "Alpha one."}], actor=actor)
        uid = one.results[0].fact.uid
        with time_machine.travel(datetime(2036, 1, 2, tzinfo=UTC), tick=False):
            ENGINE.update_fact(fact_id=uid, updates={"fact_text": "Alpha two."}, actor=actor)
        ENGINE.delete_fact(fact_id=uid, actor=actor)
        points = [
            0,
            1,
            2,
            3,
            None,
            one.commit.pk,
            datetime(2036, 1, 1, 12, tzinfo=UTC),
            datetime(2035, 1, 1, tzinfo=UTC),
        ]
        shown = [texts(look("alpha", at=at)) for at in points]
        assert shown == [[], ["Alpha one."], ["Alpha two."], [], [], ["Alpha one."], ["Alpha one."], []]

    def test_with_filters_and_vectors(self, many, look, project, actor):
        first = many("alpha", category="a")[0]
        many("beta", category="b")
        embed(project, alpha=(1, 0, 0), beta=(0, 1, 0))
        ENGINE.update_fact(fact_id=first.uid, updates={"category": "b"}, actor=actor)
        wish = {"query": "nothing", "query_vector": Y}
        assert texts(look(**wish, at=1)) == ["alpha"]
        assert texts(look(**wish, at=2)) == ["beta", "alpha"]
        assert texts(look(**wish, at=2, filters=only(category="a"))) == ["alpha"]
        assert texts(look("alpha", at=2, filters=only(category="b"))) == []

    def test_a_branch_from_a_past_point(self, many, look, actor):
        fact = many("Alpha one.")[0]
        ENGINE.update_fact(fact_id=fact.uid, updates={"fact_text": "Alpha two."}, actor=actor)
        BRANCHES.create_branch(name="past", at=1, actor=actor)
        assert texts(look("alpha", branch="past")) == ["Alpha one."]
        assert texts(look("two", branch="past")) == []


class TestAcross:
    @pytest.fixture
    def across(self, actor, main):
        def across(query, *names, **more):
            return SEARCH.search_cross_branch(query=query, branch_names=names, actor=actor, **more)

        return across

    @pytest.fixture
    def branches(self, actor, write):
        write("Alpha shared.")
        for name in ("task/a", "task/b", "other"):
            BRANCHES.create_branch(name=name, actor=actor)
            write(f"Alpha of {name}.", branch=name)
        write("Alpha twice.", branch="task/a")
        write("ALPHA  twice.", branch="task/b")

    def test_one_text_is_one_hit_with_its_branches(self, branches, across):
        found = across("alpha", "main", "task/*")
        told = {hit.fact.fact_text: hit.branches for hit in found.hits}
        assert set(told) - {"Alpha twice.", "ALPHA  twice."} == {
            "Alpha shared.",
            "Alpha of task/a.",
            "Alpha of task/b.",
        }
        assert told["Alpha shared."] == ("main", "task/a", "task/b")
        assert told["Alpha of task/a."] == ("task/a",)
        (twice,) = [branches for text, branches in told.items() if "twice" in text]
        assert set(twice) == {"task/a", "task/b"}
        assert len(found.hits) == 4
        assert found.branches == ("main", "task/a", "task/b")

    def test_what_is_edited_on_one_is_found_as_each_has_it(self, branches, across, look, actor):
        uid = look("shared").hits[0].fact.uid
        ENGINE.update_fact(
            fact_id=uid, updates={"fact_text": "Alpha edited."}, actor=actor, branch_name="task/a"
        )
        told = {hit.fact.fact_text: hit.branches for hit in across("shared edited", "main", "task/a").hits}
        assert told == {"Alpha shared.": ("main",), "Alpha edited.": ("task/a",)}

    def test_names_and_patterns(self, branches, across):
        assert across("alpha", "*").branches == ("main", "other", "task/a", "task/b")
        assert across("alpha", "other", "*a", "m*", "other").branches == ("other", "task/a", "main")
        assert across("alpha", "none*").hits == []
        for names, error, message in [
            ((), Invalid, "branch_names needs at least one name or pattern."),
            (("main", "none"), BranchNotFound, "There is no branch named none."),
        ]:
            with refused(error) as caught:
                across("alpha", *names)
            assert str(caught.value) == message

    def test_archived_branches_are_not_among_them(self, branches, across, actor):
        BRANCHES.archive_branch(name="task/a", actor=actor)
        assert across("alpha", "task/*").branches == ("task/b",)
        with refused(BranchNotFound):
            across("alpha", "task/a")

    def test_at_most_fifty(self, across, actor):
        for i in range(50):
            BRANCHES.create_branch(name=f"n{i}", actor=actor)
        assert len(across("alpha", "n*").branches) == 50
        with refused(Invalid) as caught:
            across("alpha", "*")
        assert str(caught.value) == "A search covers at most 50 branches."

    def test_a_whole_page(self, across, many, actor):
        BRANCHES.create_branch(name="a", actor=actor)
        many(*[f"Alpha {i}." for i in range(60)])
        many(*[f"Alpha {i + 30}." for i in range(60)], branch="a")
        assert len(across("alpha", "main", "a", limit=90).hits) == 90


class TestProjects:
    def test_nothing_crosses(self, write, look, other_project, actor):
        other = local_actor(other_project.pk)
        ENGINE.write_fact(fact_text="Alpha secret.", actor=other)
        write("Alpha ours.")
        assert texts(look("alpha secret")) == ["Alpha ours."]
        assert texts(SEARCH.search(query="alpha", actor=other)) == ["Alpha secret."]
        found = SEARCH.search_cross_branch(query="alpha", branch_names=["*"], actor=actor)
        assert texts(found) == ["Alpha ours."]

    def test_vectors_of_the_same_text_are_not_shared(self, write, look, other_project, project):
        ENGINE.write_fact(fact_text="alpha", actor=local_actor(other_project.pk))
        write("alpha")
        embed(other_project, alpha=(1, 0, 0))
        assert texts(look("q", query_vector=X, search_type="vector")) == []
        embed(project, alpha=(1, 0, 0))
        assert texts(look("q", query_vector=X, search_type="vector")) == ["alpha"]


class TestRecalls:
    def test_is_logged_and_counted_after_a_while(self, write, look, actor):
        uid = write("Alpha beta.").uid
        write("Gamma.")
        speaking = replace(actor, session_id="s", agent_id="g", surface="mcp")
        SEARCH.search(query="alpha", actor=speaking)
        look("beta alpha")
        look("nothing")
        assert (RecallLog.objects.count(), FactUse.objects.count()) == (0, 0)
        buffer.flush()
        logs = list(RecallLog.objects.order_by("id"))
        assert [(log.query, log.fact_ids) for log in logs] == [
            ("alpha", [str(uid)]),
            ("beta alpha", [str(uid)]),
            ("nothing", []),
        ]
        assert (logs[0].session_id, logs[0].agent_id, logs[0].surface, logs[0].branch) == (
            "s",
            "g",
            "mcp",
            "main",
        )
        use = FactUse.objects.get()
        assert (use.uid, use.access_count, use.project_id) == (uid, 2, actor.project_id)
        fact = ENGINE.get_fact(fact_id=uid, actor=actor)
        assert (fact.access_count, fact.last_accessed_at, fact.version) == (2, use.last_accessed_at, 1)
        look("alpha")
        buffer.flush()
        assert FactUse.objects.get().access_count == 3

    def test_only_what_was_answered_counts(self, many, look):
        many("Alpha a.", "Alpha b.", "Alpha c.")
        look("alpha", limit=2)
        look("alpha", max_tokens=1)
        buffer.flush()
        assert FactUse.objects.count() == 2

    def test_a_query_that_no_database_holds_loses_no_other(self, write, look):
        write("Alpha.")
        for query in ("alpha \ud800", "alpha\x00", "alpha"):
            look(query)
        buffer.flush()
        assert sorted(RecallLog.objects.values_list("query", flat=True)) == ["alpha", "alpha ", "alpha "]
        assert FactUse.objects.get().access_count == 3

    def test_the_ids_are_plain_json(self, write, look):
        uid = write("Alpha.").uid
        look("alpha")
        buffer.flush()
        with connection.cursor() as cursor:
            cursor.execute("SELECT fact_ids FROM memory_recalllog")
            assert json.loads(cursor.fetchone()[0]) == [str(uid)]


class TestWithTheModel:
    @pytest.fixture(autouse=True)
    def embedder(self, settings):
        settings.DAY1 = {"embedder": "minilm"}

    def test_finds_by_meaning(self, project, many, look):
        many(
            "Authentication tokens are valid for a quarter of an hour.",
            "The cat sleeps on the sofa all day.",
            "PostgreSQL needs a vacuum after mass deletions.",
        )
        assert look("kitten nap").signals_used == []
        assert EmbeddingEngine().embed_pending(project.pk) == 3
        found = look("when does my login expire?")
        assert found.signals_used == ["vector", "words"]
        assert texts(found)[0] == "Authentication tokens are valid for a quarter of an hour."
        assert texts(look("kitten nap"))[0] == "The cat sleeps on the sofa all day."
        assert found.hits[0].fact.embedding_state == "ready"
        for hit in found.hits:
            assert set(hit.signals) >= {"keyword", "vector", "words"}
            assert hit.score == pytest.approx(recomputed(hit, {"vector": 0.375, "words": 0.625}))

    def test_three_parts_and_none_for_what_waits(self, project, many, look):
        many("The database runs PostgreSQL.", "A cat.")
        EmbeddingEngine().embed_pending(project.pk)
        many("PostgreSQL is new here.")
        found = look("PostgreSQL database")
        assert found.signals_used == ["keyword", "vector", "words"]
        for hit in found.hits:
            assert hit.score == pytest.approx(recomputed(hit, {"keyword": 0.2, "vector": 0.3, "words": 0.5}))
        (waiting,) = [hit for hit in found.hits if "new" in hit.fact.fact_text]
        assert (waiting.signals["vector"], waiting.signals["words"]) == (0.0, 0.0)
        assert waiting.fact.embedding_state == "pending"
        assert look("PostgreSQL", recipe="hybrid").signals_used == ["keyword", "vector"]
        for query in ("", "!?", "😀", "the", "\ud800", "京" * 100):
            look(query)
