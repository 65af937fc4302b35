"""The kinds of memory that are versioned on branches, of all apps."""

from collections.abc import Iterable
from typing import Any

from django.apps import apps

from memory.models import BranchedModel
from memory.models.base import SealedModel


def versioned_models() -> list[type[BranchedModel]]:
    """Return every versioned model, of all apps."""
    models = [model for model in apps.get_models() if issubclass(model, BranchedModel)]
    return sorted(models, key=lambda model: model._meta.label)


def sealed_models() -> list[Any]:
    """Return every model whose rows have a checksum: the versioned ones, and those with sealed columns."""
    others = [model for model in apps.get_models() if issubclass(model, SealedModel)]
    return [*versioned_models(), *others]


def models_by_kind() -> dict[str, type[BranchedModel]]:
    """Return the versioned models by the name of their kind, owners before their parts."""
    models = sorted(versioned_models(), key=lambda model: model.KIND.rank)
    return {model.KIND.name: model for model in models}


def compared_fields(model: type[BranchedModel]) -> tuple[str, ...]:
    """Return the fields that a comparison of two versions shows."""
    hidden = model.KIND.derived | model.KIND.unseen
    return tuple(name for name in model.content_fields() if name not in hidden)


def group_by_model(rows: Iterable[BranchedModel]) -> list[list[BranchedModel]]:
    """Return rows in lists, one for each model."""
    grouped: dict[type, list[BranchedModel]] = {}
    for row in rows:
        grouped.setdefault(type(row), []).append(row)
    return list(grouped.values())
