"""Any query text gets a result or a refusal with a reason."""

import logging
from uuid import uuid4

import pytest
from django.db import DatabaseError
from hypothesis import HealthCheck, given
from hypothesis import settings as example_settings
from hypothesis import strategies as st

from memory.db.querysets import VersionedQuerySet
from memory.engines.support.write_buffer import buffer
from memory.exceptions import BranchNotFound, Invalid, NotFound, QueryTooLong
from memory.models import RecallLog
from tests.memory.facts.helpers import everything, refused, texts
from tests.memory.search.helpers import X, only

pytestmark = pytest.mark.django_db(transaction=True)  # the index covers committed rows only


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
        for query in ("", " ", "!?.,;:", "_", "🚀", "\x00", "\ud800", "%"):
            assert (texts(look(query)), look(query).signals_used) == ([], [])
        assert texts(look("😀")) == ["😀 grin"]

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

    @pytest.mark.slow
    @example_settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
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

        monkeypatch.setattr(VersionedQuerySet, "match_words", broken)
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
