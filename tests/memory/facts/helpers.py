"""What the tests of facts share."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest
from django.apps import apps
from django.db import connection, transaction

from memory.engines.branches import BranchManager
from memory.engines.facts import FactEngine
from memory.engines.search import SearchEngine
from memory.exceptions import (
    Day1Error,
)
from memory.models import Branch, Fact
from tests.databases import ON_SQLITE

ENGINE, SEARCH, BRANCHES = FactEngine(), SearchEngine(), BranchManager()
SOON = timedelta(hours=1)
KIB = 1024
FULL = "a" * 64 * KIB
NO_REFLECTION = "kind may not be set to REFLECTION: it is reserved for Day1 itself."
WHOLE = f"must be a whole number from 0 to {2**53}."

lasting = pytest.mark.django_db(transaction=True)  # commits and rolls back as in production


@contextmanager
def refused(error: type[Day1Error]) -> Iterator[Any]:
    """A refusal ends the transaction that it happens in; here, a savepoint of the test's own."""
    with pytest.raises(error) as caught, transaction.atomic():
        yield caught


def everything() -> dict[str, Any]:
    """How much there is of all that a write can leave, and every branch as it stands."""
    models = [model for model in apps.get_app_config("memory").get_models() if model.__name__ != "Node"]
    found: dict[str, Any] = {model.__name__: model._base_manager.count() for model in models}
    found["branches"] = list(
        Branch.objects.order_by("pk").values_list("name", "head", "head_at", "archived_at")
    )
    found["open"] = list(Fact._base_manager.order_by("rid").values_list("rid", "seq_to", "status", "slot"))
    if ON_SQLITE:  # elsewhere the index of texts is the table's own
        with connection.cursor() as cursor:
            cursor.execute('SELECT count(*) FROM "memory_fact_fts"')
            found["indexed"] = cursor.fetchone()[0]
    return found


def texts(found: Any) -> list[str]:
    return [hit.fact.fact_text for hit in found.hits]
