"""The checksum of each version: the same for the same content, and right after every kind of write."""

from datetime import UTC, datetime, timedelta, timezone
from typing import Any
from uuid import UUID

import pytest
from django.db import models

from memory.db.fields import JSONTextField
from memory.engines.branches.manager import BranchManager
from memory.engines.branches.revert import RevertEngine
from memory.engines.facts.engine import FactEngine
from memory.engines.merging.engine import MergeEngine
from memory.engines.versions.kinds import versioned_models
from memory.models import Commit, Fact, Observation
from memory.models.checksums import compute_checksum
from tests.memory.erasure.helpers import ERASURES, SESSION, prepare_traces, write_everything

AT = datetime(2026, 3, 4, 5, 6, 7, 89, UTC)
SAMPLES: dict[type[models.Field], Any] = {
    JSONTextField: {"b": [1, 2.5, None], "ä": True},
    models.DateTimeField: AT,
    models.UUIDField: UUID(int=7),
    models.FloatField: 0.25,
    models.IntegerField: 12,
    models.BooleanField: True,
}

FORM = {
    "Conversation": 7_241_135_750_771_679_218,
    "Fact": 8_325_558_975_039_737_858,
    "FactAssessment": -4_711_916_559_258_523_993,
    "FactLink": 7_109_102_359_694_000_057,
    "Message": 1_934_223_858_857_645_826,
    "Observation": 5_890_408_170_299_360_360,
    "Relation": 8_064_885_500_190_223_928,
}


def make_sample(model: Any) -> Any:
    row = model(rid=1)
    for name in model.content_fields():
        field = model._meta.get_field(name)
        kinds = [kind for kind in SAMPLES if isinstance(field, kind)]
        setattr(row, name, SAMPLES[kinds[0]] if kinds else f"{name} ‑ ü")
    return row


def find_wrong() -> list[Any]:
    """Return the versions whose checksum is not that of what the database has."""
    rows = [row for model in versioned_models() for row in model._base_manager.all()]
    assert rows
    return [row for row in rows if row.checksum != compute_checksum(row)]


def test_the_form_never_changes() -> None:
    """Where this fails, stored checksums are wrong: a migration must compute them anew for the model."""
    assert {model.__name__: compute_checksum(make_sample(model)) for model in versioned_models()} == FORM
    # What is nobody's has the checksum that it had before memory could be an end user's.
    old = {model: make_sample(model) for model in (Fact, Observation)}
    for row in old.values():
        row.user_id = row.app_id = ""
    assert [compute_checksum(row) for row in old.values()] == [
        1_147_210_698_938_821_079,
        3_676_094_075_919_053_786,
    ]
    assert {compute_checksum(model(rid=1)) for model in versioned_models()} == {compute_checksum(Fact(rid=1))}


def test_equal_values_have_one_checksum() -> None:
    row, same = make_sample(Fact), make_sample(Fact)
    same.created_at = AT.astimezone(timezone(timedelta(hours=5, minutes=30)))
    same.parent_id, same.created_cycle, same.metadata = (
        str(UUID(int=7)),
        12.0,
        {"ä": True, "b": [1, 2.5, None]},
    )
    assert compute_checksum(same) == compute_checksum(row)
    same.session_id, same.task_id = "", same.session_id + same.task_id
    assert compute_checksum(same) != compute_checksum(row)


@pytest.mark.django_db(transaction=True)
def test_right_after_every_write(actor, main, without_gates):
    made = write_everything(actor)
    facts = FactEngine()
    BranchManager().create_branch(name="side", actor=actor)
    facts.update_fact(fact_id=made["fact"].uid, branch_name="side", actor=actor, updates={"priority": "P1"})
    merged = MergeEngine().merge_branch(source="side", actor=actor)
    assert merged.commit is not None
    main_row, side_row = Fact.objects.all_versions().filter(priority="P1").order_by("rid")
    assert main_row.checksum == side_row.checksum
    facts.delete_fact(fact_id=made["fact"].uid, actor=actor)
    RevertEngine().revert_commit(commit_id=Commit.objects.filter(branch=main).latest("seq").pk, actor=actor)
    prepare_traces(actor)
    assert find_wrong() == []
    ERASURES.erase(actor=actor, scope="session", target=SESSION, confirm=SESSION)
    assert find_wrong() == []
