"""Rules for every model that the production database needs, and SQLite alone would not reveal."""

from django.apps import apps
from django.db import models

from memory.db.indexes import FullTextIndex
from memory.db.model_graph import path_to
from memory.engines.store.promotion import LOCAL, PROMOTED, carried_models
from memory.models import BranchedModel, Confirmation, Project

APPS = ("memory", "conversations", "curation", "analytics")
OURS = [model for model in apps.get_models() if model.__module__.split(".")[0] in APPS]


def test_no_index_holds_the_primary_key() -> None:
    """Forbid such indexes: on MatrixOne they stay empty, and queries that use them find nothing."""
    for model in OURS:
        for index in model._meta.indexes:
            columns = {name.lstrip("-") for name in index.fields}
            assert model._meta.pk.name not in columns, index.name


def test_a_model_with_full_text_makes_its_keys_itself() -> None:
    """Require own keys: MatrixOne reports wrong ids for rows that it numbered."""
    for model in OURS:
        if any(isinstance(index, FullTextIndex) for index in model._meta.indexes):
            assert not isinstance(model._meta.pk, models.AutoField), model


def test_versions_are_not_referred_to_by_constraints() -> None:
    for model in filter(lambda model: issubclass(model, BranchedModel), OURS):
        inbound = [one for one in model._meta.related_objects if getattr(one.field, "db_constraint", False)]
        assert inbound == [], model


def test_every_model_is_taken_over_by_a_promote_or_stays() -> None:
    """Require each model in one list of memory/engines/store/promotion.py."""
    ours = [
        *OURS,
        *apps.get_app_config("analytics").get_models(),
        *apps.get_app_config("day1site").get_models(),
    ]
    moves, stays = _named(PROMOTED), _named(LOCAL)
    assert not moves & stays
    assert {model._meta.label for model in ours} == moves | stays
    unowned = [kind for kind in carried_models() if kind is not Confirmation and not path_to(Project, kind)]
    assert unowned == []


def _named(models: dict[str, tuple[str, ...]]) -> set[str]:
    return {f"{app}.{name}" for app, names in models.items() for name in names}
