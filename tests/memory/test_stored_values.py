"""Ids, times and lists of values as they come from the database and go to it."""

import copy
import pickle
from uuid import UUID

import pytest

from memory.db.raw_select import select_equal
from memory.engines.facts.engine import FactEngine
from memory.models import Fact

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def fact(actor, main):
    return FactEngine().write_fact(fact_text="The cat is grey.", actor=actor).fact


def test_a_stored_id_is_a_whole_one(fact):
    ((uid,),) = select_equal(Fact, ("uid",), rid=[fact.rid])
    assert type(uid) is UUID
    assert uid == fact.uid
    assert hash(uid) == hash(fact.uid)
    assert (uid.hex, str(uid), uid.version, uid.is_safe) == (
        fact.uid.hex,
        str(fact.uid),
        7,
        UUID(fact.uid.hex).is_safe,
    )
    assert copy.deepcopy(uid) == pickle.loads(pickle.dumps(uid)) == uid


@pytest.mark.parametrize("convert", [int, str, float])
def test_values_of_another_type_are_those_of_the_field(fact, convert):
    rid = fact.rid if convert is float else convert(fact.rid)
    assert select_equal(Fact, ("fact_text",), rid=[rid, convert(3)]) == [("The cat is grey.",)]


def test_values_of_choices_are_texts(fact):
    assert select_equal(Fact, ("rid",), status=[Fact.Status.ACTIVE, "done"]) == [(fact.rid,)]
