"""The vector caches of a process, one for each project and model."""

import threading
from collections import OrderedDict
from typing import Any

from django.db import models

from memory.conf import conf
from memory.db.querysets import Lineage
from memory.db.sqlite.vector_cache import VectorCache
from memory.processes import after_fork

_residents: OrderedDict[tuple, VectorCache] = OrderedDict()
_registry = threading.Lock()


def forget_vector_caches() -> None:
    """Begin as a new process does: with nothing in memory."""
    global _registry
    _registry = threading.Lock()
    _residents.clear()


def drop_project(project_id: Any) -> None:
    """Forget the rows of a project that is gone."""
    with _registry:
        for key in [key for key in _residents if key[2] == str(project_id)]:
            del _residents[key]


after_fork(forget_vector_caches)


def find_vector_cache(connection: Any, model: type[models.Model], lineage: Lineage) -> VectorCache | None:
    """Return a cache that knows the rows of a lineage, by whatever embedder; None where none was loaded."""
    name = str(connection.settings_dict["NAME"])
    with _registry:
        caches = [cache for key, cache in _residents.items() if key[:2] == (name, model._meta.label)]
    return next((cache for cache in reversed(caches) if cache.has_branches(lineage)), None)


def get_vector_cache(
    connection: Any, model: type[models.Model], project_id: Any, embedder: str
) -> VectorCache:
    """Return the cache of a model's rows; the least recently used ones are dropped beyond the limit."""
    key = (str(connection.settings_dict["NAME"]), model._meta.label, str(project_id), embedder)
    with _registry:
        if not (found := _residents.get(key)):
            found = _residents[key] = VectorCache(key[0], model, project_id, embedder)
        _residents.move_to_end(key)
        while len(_residents) > conf().resident_projects:
            _residents.popitem(last=False)
    return found
