"""Filters of querysets of versions, which are recorded beside the query."""

import pickle
from copy import deepcopy

import pytest
from django.core.exceptions import FieldError
from django.db import NotSupportedError
from django.db.models import Q, Value

from memory.engines.facts.engine import FactEngine
from memory.models import Fact

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def rows(actor, main):
    facts = [{"fact_text": f"fact {n}", "category": "ab"[n % 2], "tags": [f"t{n}"]} for n in range(6)]
    FactEngine().write_facts(facts=facts, actor=actor)
    main.refresh_from_db()
    return Fact.objects.on(main)


def texts(rows):
    return sorted(row.fact_text for row in rows)


def test_a_queryset_has_its_own_filters_before_and_after_it_is_read(rows):
    even = rows.filter(category="a")
    last = even.exclude(fact_text="fact 0").filter(fact_text__gt="fact 2")
    assert (texts(even), texts(last), rows.count()) == (["fact 0", "fact 2", "fact 4"], ["fact 4"], 6)
    assert texts(even.filter(fact_text="fact 2")) == ["fact 2"]
    assert texts(pickle.loads(pickle.dumps(last))) == ["fact 4"]


def test_filters_follow_what_they_name(rows):
    named = rows.filter(category="b").annotate(one=Value(1)).filter(one=1, fact_text="fact 3")
    assert texts(named) == ["fact 3"]
    assert named.exists()
    assert not named.filter(category="a").exists()


def test_what_a_filter_may_not_be_is_still_refused(rows):
    with pytest.raises(TypeError, match="slice"):
        rows[:2].filter(category="a")
    with pytest.raises(NotSupportedError, match="filter"):
        rows.union(rows).filter(category="a")
    with pytest.raises(TypeError, match="_connector"):
        rows.filter(_connector="OR", category="a", fact_text="fact 3")
    with pytest.raises(FieldError):
        rows.filter(no_such_field=1)


def read_each_way(rows):
    """Return the texts of a queryset as the ORM reads them, and as each statement of ours does."""
    fetched, walked = rows.fetch_all(), rows.newest(9)
    keyed = rows.fetch_by_key("category", ["a", "b"])
    return [texts(found) for found in (rows, rows.rows(), fetched, walked, keyed)]


def test_what_no_row_has_excludes_none(rows):
    every = [f"fact {number}" for number in range(6)]
    assert read_each_way(rows.exclude(category__in=[])) == [every] * 5
    assert read_each_way(rows.exclude(Q(category="a"), Q(fact_text__in=[]))) == [every] * 5
    assert read_each_way(rows.filter(category__in=[])) == [[]] * 5


def test_the_values_of_a_filter_are_those_of_the_time_when_it_was_said(rows):
    values = ["fact 1"]
    listed, either = rows.filter(fact_text__in=values), Q(fact_text__in=iter(["fact 1"])) | Q(category="")
    values.append("fact 2")
    for found in (listed, rows.filter(fact_text__in=iter(["fact 1"])), rows.filter(either)):
        assert read_each_way(found) == [["fact 1"]] * 5


@pytest.mark.parametrize("copied", [deepcopy, lambda rows: pickle.loads(pickle.dumps(rows))])
def test_a_copy_knows_none_of_the_filters_that_came_to_its_original(rows, copied):
    for number in range(50):  # ids of objects that are gone are given again
        rows = rows.all()
        assert texts(rows.filter(fact_text__gt="fact 3").rows()) == ["fact 4", "fact 5"]
        rows = copied(rows)
        assert texts(rows.filter(fact_text__gt="fact 4").rows()) == ["fact 5"], number
