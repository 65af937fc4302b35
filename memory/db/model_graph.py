"""Which tables hang together: parents before their children, and whose project a row belongs to."""

from collections.abc import Iterable
from typing import Any

from django.db import models

DEEPEST = 3  # foreign keys between a row and its project


def in_order(kinds: Iterable[type[models.Model]]) -> list[type[models.Model]]:
    """Each model after those that it points to; a key to the same table counts as none."""
    left = sorted(kinds, key=lambda kind: kind._meta.label)
    done: list[type[models.Model]] = []
    while left:
        ready = [kind for kind in left if not (_parents(kind) & set(left)) - {kind}]
        ready = ready or left[:1]  # a circle: constraints are checked at the end of the transaction
        done += ready
        left = [kind for kind in left if kind not in ready]
    return done


def _parents(kind: type[models.Model]) -> set[Any]:
    return {field.related_model for field in kind._meta.concrete_fields if field.is_relation}


def path_to(target: type[models.Model], kind: type[models.Model], depth: int = 0) -> str:
    """The look-up from a row to the row of ``target`` that it belongs to; "" where there is none."""
    keys: list[Any] = [field for field in kind._meta.concrete_fields if field.is_relation]
    for field in keys:
        if field.related_model is target:
            return field.name
    for field in keys if depth < DEEPEST else []:
        if field.related_model is not kind and (more := path_to(target, field.related_model, depth + 1)):
            return f"{field.name}__{more}"
    return ""
