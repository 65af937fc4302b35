"""Shared helpers of the fact tests."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest
from django.apps import apps
from django.db import connection, transaction

from memory.engines.branches.manager import BranchManager
from memory.engines.facts.engine import FactEngine
from memory.engines.search.engine import SearchEngine
from memory.exceptions import (
    Day1Error,
)
from memory.models import Branch, Fact
from tests.databases import ON_SQLITE
from tests.memory.api.client import count_rows

fact_engine, search_engine, branch_manager = FactEngine(), SearchEngine(), BranchManager()
SOON = timedelta(hours=1)
KIB = 1024
FULL = "a" * 64 * KIB
NO_REFLECTION = "kind may not be set to REFLECTION: it is reserved for Day1 itself."
WHOLE = f"must be a whole number from 0 to {2**53}."

lasting = pytest.mark.django_db(transaction=True)  # commits and rolls back as in production


@contextmanager
def refused(error: type[Day1Error]) -> Iterator[Any]:
    """Expect a refusal, inside a savepoint, since it ends the transaction."""
    with pytest.raises(error) as caught, transaction.atomic():
        yield caught


def everything() -> dict[str, Any]:
    """Count the rows of everything that a write can leave, with the state of every branch."""
    # Without the leases of processes, and what is counted a second later.
    models = apps.get_app_config("memory").get_models()
    models = [model for model in models if model.__name__ not in ("Node", "ProjectUsage")]
    found: dict[str, Any] = count_rows(models)
    found["branches"] = list(
        Branch.objects.order_by("pk").values_list("name", "head", "head_at", "archived_at")
    )
    found["open"] = list(Fact._base_manager.order_by("rid").values_list("rid", "seq_to", "status", "slot"))
    if ON_SQLITE:  # elsewhere the text index is the table's own
        with connection.cursor() as cursor:
            cursor.execute('SELECT count(*) FROM "memory_fact_fts"')
            found["indexed"] = cursor.fetchone()[0]
    return found


def texts(found: Any) -> list[str]:
    return [hit.fact.fact_text for hit in found.hits]
