"""A second database next to the default one, open for as long as it is needed."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import uuid4

from django.db import connections

_changing = threading.Lock()


@contextmanager
def temporary_alias(settings: dict[str, Any]) -> Iterator[str]:
    """Open another database under an alias for this thread. The settings are entries of DATABASES."""
    alias = f"copy-{uuid4().hex}"
    set_alias(alias, settings)
    try:
        yield alias
    finally:
        connections[alias].close()
        del connections[alias]
        _take_out(alias)


def set_alias(alias: str, settings: dict[str, Any]) -> None:
    test = {"CHARSET": None, "COLLATION": None, "MIGRATE": True, "MIRROR": None, "NAME": None}
    with _changing:
        # A new dict each time: other threads may be iterating over the old one.
        _set_databases(
            {**connections.settings, alias: {**connections.settings["default"], **settings, "TEST": test}}
        )


def _take_out(alias: str) -> None:
    with _changing:
        _set_databases({name: entry for name, entry in connections.settings.items() if name != alias})


def _set_databases(databases: dict[str, Any]) -> None:
    connections.__dict__["settings"] = databases  # a cached property of Django's
