"""Filters mean the same in lists and in search, for any value."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
import time_machine

from memory.engines.facts.engine import FactEngine
from memory.engines.facts.filters import FactFilter
from memory.engines.search.engine import SearchEngine
from memory.exceptions import Invalid, UnknownField

fact_engine, search_engine = FactEngine(), SearchEngine()
DAY = timedelta(days=1)
START = datetime(2036, 1, 1, tzinfo=UTC)


@pytest.fixture
def write(actor, main):
    def write(text, **more):
        return fact_engine.write_fact(fact_text=f"alpha {text}", actor=actor, deduplicate=False, **more).fact

    return write


@pytest.fixture
def passing(actor, main):
    """Return a function for the texts that pass a filter in list and search, which must agree."""

    def passing(**values):
        filters = FactFilter.from_values(values)
        listed = {
            f.fact_text[6:] for f in fact_engine.list_facts(actor=actor, filters=filters, limit=100).results
        }
        found = search_engine.search(query="alpha", actor=actor, filters=filters, limit=100)
        assert {hit.fact.fact_text[6:] for hit in found.hits} == listed
        return listed

    return passing


NASTY = [
    "plain",
    'quo"te',
    'te"',
    '"',
    "back\\slash",
    "back\\",
    "per%cent",
    "under_score",
    "[",
    "]",
    "{}",
    "é",
    "东",
    "😀",
    "'",
    "a b",
    "\\u0041",
    "A",
    "a",
    "null",
    "x'; --",
    "a\u2028b",
]


@pytest.mark.django_db(transaction=True)
class TestValues:
    def test_tags_whatever_is_in_them(self, write, passing):
        for tag in NASTY:
            write(f"<{tag}>", tags=["first", tag])
        for tag in NASTY:
            assert passing(tags=[tag]) == {f"<{tag}>"}
            assert passing(tags=["first", tag]) == {f"<{tag}>"}
        assert passing(tags=["FIRST"]) == set()

    def test_a_tag_is_found_whole(self, write, passing):
        write("one", tags=["database indexes", 'say "x" now', "y\\z"])
        for part in ("database", "indexes", "x", " now", "y", "z", "y\\", 'say "x', "say "):
            assert passing(tags=[part]) == set()
        assert passing(tags=["y\\z", "database indexes"]) == {"one"}

    def test_all_of_the_tags(self, write, passing):
        write("ab", tags=["a", "b"])
        write("a", tags=["a"])
        write("none")
        assert passing(tags=["a"]) == {"ab", "a"}
        assert passing(tags=["b", "a"]) == {"ab"}
        assert passing(tags="a,b") == {"ab"}

    def test_a_tag_with_a_comma_is_refused(self, write):
        with pytest.raises(Invalid, match=r"A tag in tags may not hold a comma\."):
            write("comma", tags=["x", "a,b"])

    def test_categories_whatever_is_in_them(self, write, passing):
        for name in NASTY:
            write(f"<{name}>", category=name)
        for name in NASTY:
            assert passing(category=[name]) == {f"<{name}>"}
        assert passing(category="com,ma") == set()
        assert passing(category="plain,é") == {"<plain>", "<é>"}

    @pytest.mark.parametrize("name", ["session_id", "agent_id", "task_id"])
    def test_who_said_it(self, write, passing, name):
        for value in ("s 1", "s,2", 'quo"te', "%"):
            write(f"<{value}>", **{name: value})
        write("nobody")
        for value in ("s 1", "s,2", 'quo"te', "%"):
            assert passing(**{name: [value]}) == {f"<{value}>"}

    def test_one_of_several_values(self, write, passing):
        for kind in ("NOTE", "BELIEF", "TASK"):
            write(kind, kind=kind, priority="P1" if kind == "TASK" else "P4")
        assert passing(kind=["NOTE", "TASK"]) == passing(kind="NOTE,TASK") == {"NOTE", "TASK"}
        assert passing(kind="NOTE,TASK", priority="P1") == {"TASK"}

    def test_plain_fields(self, write, passing):
        write("a", visibility="private", source_type="import", origin="SEEDED_LLM", pinned=True)
        first = write("b")
        assert passing(pinned=False) == passing(pinned="false") == {"b"}
        write("c", parent_id=first.uid)
        assert passing(visibility="private") == passing(source_type="import") == {"a"}
        assert passing(origin="SEEDED_LLM") == passing(pinned=True) == passing(pinned="true") == {"a"}
        assert passing(parent_id=str(first.uid)) == {"c"}

    def test_confidence(self, write, passing):
        for value in (0, 0.3, 0.7, 1):
            write(str(value), confidence=value)
        assert passing(min_confidence=0.3) == passing(min_confidence="0.3") == {"0.3", "0.7", "1"}
        assert passing(max_confidence=0.3) == {"0", "0.3"}
        assert passing(max_confidence=0) == {"0"}
        assert passing(min_confidence=0.31, max_confidence=0.69) == set()

    def test_verification(self, write, passing, actor):
        for verdict in ("verified", "unverified"):
            fact_engine.set_verification(fact_id=write(verdict).uid, verdict=verdict, actor=actor)
        edited = write("edited")
        fact_engine.set_verification(fact_id=edited.uid, verdict="verified", actor=actor)
        fact_engine.update_fact(fact_id=edited.uid, updates={"category": "error"}, actor=actor)
        write("never")
        assert passing(verification_status="verified") == {"verified"}
        assert passing(verification_status="unverified") == {"unverified", "edited", "never"}

    def test_when_it_was_written(self, write, passing):
        for day in range(3):
            with time_machine.travel(START + day * DAY, tick=False):
                write(str(day))
        assert passing(created_after=START + DAY) == {"1", "2"}
        assert passing(created_before=START + DAY) == {"0"}
        assert passing(created_after=START + DAY, created_before="2036-01-03") == {"1"}
        assert passing(created_after="2036-01-02T01:00:00+01:00") == {"1", "2"}

    def test_when_it_is_true(self, write, passing):
        write("always")
        write("from", valid_from=START)
        write("until", valid_until=START)
        write("span", valid_from=START, valid_until=START + DAY)
        assert passing(valid_at=START - DAY) == {"always", "until"}
        assert passing(valid_at=START) == {"always", "from", "span"}
        assert passing(valid_at=START + DAY) == {"always", "from"}
        assert passing(valid_after=START) == {"always", "from", "span"}
        assert passing(valid_before=START) == {"always", "until"}
        assert passing(valid_after=START - DAY, valid_before=START + DAY) == {
            "always",
            "from",
            "until",
            "span",
        }

    def test_all_at_once(self, write, passing):
        write("it", category="a", tags=["x"], session_id="s", kind="NOTE", priority="P1")
        write("other", category="a", tags=["x"], session_id="s", kind="NOTE")
        assert passing(category="a", tags=["x"], session_id="s", kind="NOTE", priority="P1") == {"it"}


class TestGiven:
    @pytest.mark.parametrize("empty", [None, "", [], ()])
    def test_what_is_empty_is_not_asked_for(self, empty):
        assert FactFilter.from_values(dict.fromkeys(FactFilter.CHECKS, empty)) == FactFilter()
        assert FactFilter().as_dict() == FactFilter().split_filters() == {}

    def test_what_is_false_or_nothing_is_asked_for(self):
        filters = FactFilter.from_values({"pinned": False, "min_confidence": 0})
        assert filters.as_dict() == {"pinned": False, "min_confidence": 0.0}

    def test_each_by_itself(self):
        filters = FactFilter.from_values({"category": "a,b", "pinned": True, "parent_id": "0" * 32})
        assert filters.split_filters() == {
            "category": FactFilter(category=("a", "b")),
            "pinned": FactFilter(pinned=True),
            "parent_id": FactFilter(parent_id=UUID(int=0)),
        }

    @pytest.mark.parametrize(
        ("values", "error", "message"),
        [
            ({"colour": "red"}, UnknownField, "There is no field named colour."),
            ({"category": ","}, Invalid, "category may not be empty."),
            ({"category": ["a", ""]}, Invalid, "category may not be empty."),
            ({"category": ["c"] * 51}, Invalid, "category must be a value or a list of 1 to 50."),
            ({"category": {"a": 1}}, Invalid, "category must be a value or a list of 1 to 50."),
            ({"category": 5}, Invalid, "category must be a value or a list of 1 to 50."),
            ({"category": "c" * 101}, Invalid, "category has at most 100 characters."),
            ({"category": "\x00"}, Invalid, "category holds a NUL character, which no text may."),
            (
                {"session_id": ["\ud800"]},
                Invalid,
                "session_id is not valid Unicode: it holds half a surrogate pair.",
            ),
            (
                {"status": "gone"},
                Invalid,
                "status must be one of active, archived, created, done, superseded.",
            ),
            (
                {"verification_status": "verified,unverified"},
                Invalid,
                "verification_status must be one of invalidated, plausible, unverified, verified.",
            ),
            ({"min_confidence": 1.2}, Invalid, "min_confidence must be a number from 0 to 1."),
            ({"min_confidence": "much"}, Invalid, "min_confidence must be a number from 0 to 1."),
            ({"min_confidence": "nan"}, Invalid, "min_confidence must be a number from 0 to 1."),
            ({"min_confidence": True}, Invalid, "min_confidence must be a number from 0 to 1."),
            ({"pinned": "yes"}, Invalid, "pinned must be true or false."),
            ({"pinned": 1}, Invalid, "pinned must be true or false."),
            (
                {"created_after": "soon"},
                Invalid,
                "created_after must be a time in ISO 8601, such as 2026-05-01T12:00:00Z.",
            ),
            (
                {"valid_at": "0001-01-01T00:00:00+01:00"},
                Invalid,
                "valid_at is a time outside of the years 1 to 9999 in UTC.",
            ),
            ({"parent_id": "x"}, Invalid, "parent_id must be a UUID."),
        ],
    )
    def test_refused(self, values, error, message):
        with pytest.raises(error) as caught:
            FactFilter.from_values(values)
        assert (type(caught.value), str(caught.value)) == (error, message)
