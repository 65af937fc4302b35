"""A batch of facts: each row is what it is when its fact is written alone."""

import json
from datetime import UTC
from hashlib import blake2b
from typing import Any

import pytest
from django.db import models
from hypothesis import given
from hypothesis import strategies as st

from memory.actors import Actor
from memory.db.fields import JSONTextField
from memory.engines.support.usage import measure_rows
from memory.engines.support.validation import secrets_found
from memory.exceptions import Day1Error
from memory.models import Fact
from tests.memory.facts.helpers import fact_engine
from tests.memory.test_branches import some_actor
from tests.memory.test_versions import random_histories

pytestmark = pytest.mark.django_db(transaction=True)
MADE = {"rid", "vid", "uid", "slot", "branch_id", "seq_from", "created_at", "updated_at", "checksum"}
SECRET = "password: hunter2xK9"

texts = st.sampled_from(
    ["Deploys run at night.", "deploys  run at NIGHT.", "Größe ist 5 µm。", SECRET, "b", "c", "d"]
)
others: dict[str, st.SearchStrategy[Any]] = {
    "category": st.sampled_from(["pattern", "decision", SECRET]),
    "tags": st.lists(st.sampled_from(["one", "two", "drei"]), max_size=2),
    "metadata": st.sampled_from([{}, {"n": 1}, {"n": 1.0}, {"n": True}, {"a": {"b": [1]}, "c": None}]),
    "confidence": st.sampled_from([1, 1.0, 0.5, 0]),
    "pinned": st.booleans(),
    "session_id": st.sampled_from(["", "s", "t"]),
    "agent_id": st.sampled_from(["", "g"]),
    "user_id": st.just("ada"),
    "valid_until": st.sampled_from(["2020-05-01T12:00:00Z", "2100-05-01T12:00:00+02:00"]),
    "essence": st.just("In short."),
    "source": st.sampled_from(["a file", ""]),
    "updated_cycle": st.integers(0, 2),
    "deduplicate": st.booleans(),
}
wrong = {
    "kind": st.just("REFLECTION"),
    "confidence": st.just(True),
    "colour": st.just("red"),
    "fact_text": st.sampled_from(["", None]),
    "created_cycle": st.just(3),
    "tags": st.just(["a,b"]),
}
facts = st.fixed_dictionaries({"fact_text": texts}, optional=others)
patterns = st.fixed_dictionaries({}, optional=others)


twins = st.sampled_from([{}, {}, {"metadata": {"n": 1}}, {"metadata": {"n": 1.0}}, {"metadata": {"n": True}}])


@st.composite
def batches(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Draw facts, of which most have all but their text, or nearly all, from one or two others."""
    shared = st.sampled_from(draw(st.lists(patterns, min_size=1, max_size=2)))
    alike = st.tuples(texts, shared, twins).map(lambda one: {"fact_text": one[0], **one[1], **one[2]})
    return draw(st.lists(st.one_of(alike, alike, facts), min_size=2, max_size=8))


def read_facts(actor: Actor) -> list[str]:
    """Return what the rows of a project say, in their order; as texts, in which 1 is not true."""
    rows = Fact._base_manager.filter(branch__project=actor.project_id).order_by("uid")
    return [repr({name: value for name, value in row.items() if name not in MADE}) for row in rows.values()]


def write(actor: Actor, *facts: dict[str, Any]) -> tuple[list[str], list[str], int]:
    """Write facts in one batch; return what became of each, the fields that held secrets, and how many."""
    secrets_found.start(actor.project_id)
    done = fact_engine.write_facts(facts=list(facts), actor=actor).results
    told = [repr((row.created, row.fact.fact_text, row.fact.tags, row.fact.metadata)) for row in done]
    return told, secrets_found.list_fields(), secrets_found.take()


def encode(field: models.Field, value: Any) -> str:
    match field:
        case JSONTextField():
            return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
        case models.DateTimeField():
            return str(value.astimezone(UTC).isoformat(timespec="microseconds"))
        case models.UUIDField():
            return str(value.hex)
        case models.FloatField():
            return repr(float(value))
        case models.IntegerField() | models.BooleanField():
            return str(int(value))
    return str(value)


def define_checksum(row: Any) -> int:
    """Return the checksum by its definition: each column that is not at its default, one after the other."""
    told = ""
    for field in map(row._meta.get_field, row.content_fields()):
        value = getattr(row, field.attname)
        if value is None and field.get_default() is not None:
            told += f"{field.attname}!"
        elif value != field.get_default():
            text = encode(field, value)
            told += f"{field.attname}{len(text)}:{text}"
    return int.from_bytes(blake2b(told.encode(), digest_size=8).digest(), "big", signed=True)


@given(batch=batches())
@random_histories(1200)
def test_a_batch_is_its_facts_one_by_one(batch: list[dict[str, Any]]) -> None:
    together, alone = some_actor(), some_actor()
    done, fields, count = write(together, *batch)
    each = [write(alone, fact) for fact in batch]
    assert done == [result for (result,), _, _ in each]
    assert fields == [f"facts[{at}].{name}" for at, (_, names, _) in enumerate(each) for name in names]
    assert count == sum(count for *_, count in each)
    assert read_facts(together) == read_facts(alone)
    projects = (together.project_id, alone.project_id)
    every = list(Fact._base_manager.filter(branch__project__in=projects).order_by("rid"))
    assert [row.checksum for row in every] == [define_checksum(row) for row in every]
    rows = [row for row in every if row.branch.project_id == together.project_id]
    assert [row.slot for row in rows] == [f"{row.branch_id}:{row.uid.hex}" for row in rows]
    assert [row.uid for row in rows] == sorted(row.uid for row in rows)
    assert measure_rows(rows) == sum(measure_rows([row]) for row in rows)


@given(batch=batches(), broken=st.fixed_dictionaries({}, optional=wrong), place=st.integers(0, 8))
@random_histories(600)
def test_what_is_wrong_with_a_fact_is_so_in_a_batch(
    batch: list[dict[str, Any]], broken: dict[str, Any], place: int
) -> None:
    actor, at = some_actor(), place % (len(batch) + 1)
    batch.insert(at, {**batch[0], **broken})

    def find_error(facts: list[dict[str, Any]]) -> tuple[Any, ...] | None:
        try:
            write(actor, *facts)
        except Day1Error as error:
            return type(error), error.text
        return None

    error = find_error(batch)
    single = find_error([batch[at]])
    assert (error is None) == (single is None)
    if error and single:
        assert error == (single[0], f"Fact {at}: {single[1]}")
    if error:
        assert Fact._base_manager.filter(branch__project=actor.project_id).count() == 0
