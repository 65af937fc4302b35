"""Foreign keys between tables: parents before children, and the project of a row."""

from collections.abc import Iterable
from typing import Any

from django.db import models

MAX_DEPTH = 3  # foreign keys between a row and its project


def in_order(kinds: Iterable[type[models.Model]]) -> list[type[models.Model]]:
    """Order models after those that they refer to; a key to the same table is ignored."""
    left = sorted(kinds, key=lambda kind: kind._meta.label)
    done: list[type[models.Model]] = []
    while left:
        ready = [kind for kind in left if not (parent_models(kind) & set(left)) - {kind}]
        ready = ready or left[:1]  # a cycle: constraints are checked at the end of the transaction
        done += ready
        left = [kind for kind in left if kind not in ready]
    return done


def parent_models(kind: type[models.Model]) -> set[Any]:
    return {field.related_model for field in kind._meta.concrete_fields if field.is_relation}


def path_to(target: type[models.Model], kind: type[models.Model], depth: int = 0) -> str:
    """Return the lookup from a row to the row of ``target`` that it belongs to; "" for none."""
    keys: list[Any] = [field for field in kind._meta.concrete_fields if field.is_relation]
    for field in keys:
        if field.related_model is target:
            return field.name
    for field in keys if depth < MAX_DEPTH else []:
        if field.related_model is not kind and (more := path_to(target, field.related_model, depth + 1)):
            return f"{field.name}__{more}"
    return ""
