"""Writes of single rows that wait for one another within a transaction."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils.timezone import now

from memory.db.backend import get_backend, get_features
from memory.db.bulk_sql import insert_all, update_one
from memory.db.raw_select import fetch_one
from memory.models import IngestedEvent, Project

pytestmark = pytest.mark.django_db(transaction=True)


class TakenBack(Exception):
    """The end of a transaction, or a part of one, that leaves nothing."""


def insert(project: Project, *keys: str) -> None:
    for key in keys:
        insert_all([IngestedEvent(pk=key, project_id=project.pk, at=now())])


def list_keys() -> list[str]:
    return sorted(IngestedEvent.objects.values_list("pk", flat=True))


def rename(project: Project, name: str) -> None:
    project.name = name
    update_one(project, "name")


def test_they_are_one_statement(project: Project) -> None:
    name = "Ünï 100 % of %s; 'quoted' \"twice\" ?"
    for number in range(2):  # the second time the database knows the set
        with CaptureQueriesContext(connection) as queries, transaction.atomic(), get_backend().join_writes():
            insert(project, f"a{number}", f"b{number}")
            rename(project, name)
    assert len(queries) == (3 if get_features().keeps_notes else 5)  # with begin and end of the transaction
    assert list_keys() == ["a0", "a1", "b0", "b1"]
    assert Project.objects.get(pk=project.pk).name == name


def test_whoever_reads_sees_them(project: Project) -> None:
    with transaction.atomic(), get_backend().join_writes():
        insert(project, "a", "b")
        assert list_keys() == ["a", "b"]
        rename(project, "Other")
        found = fetch_one(Project, id=project.pk)
        assert found is not None
        assert found.name == "Other"
        insert(project, "c")
    assert list_keys() == ["a", "b", "c"]


def test_an_error_takes_all_of_them_back(project: Project) -> None:
    with suppress(TakenBack), transaction.atomic(), get_backend().join_writes():
        insert(project, "a", "b")
        raise TakenBack
    assert list_keys() == []
    with pytest.raises(IntegrityError), transaction.atomic(), get_backend().join_writes():
        insert(project, "a", "b", "a")
    assert list_keys() == []


def test_they_are_joined_again_after_a_part_was_taken_back(project: Project) -> None:
    with transaction.atomic():
        with suppress(TakenBack), transaction.atomic():
            with get_backend().join_writes():
                insert(project, "a", "b")
            raise TakenBack
        with get_backend().join_writes():
            insert(project, "c", "d")
    with suppress(TakenBack), transaction.atomic():
        with get_backend().join_writes():
            insert(project, "e", "f", "g")
        raise TakenBack
    with transaction.atomic(), get_backend().join_writes():
        insert(project, "h", "i", "j")
    assert list_keys() == ["c", "d", "h", "i", "j"]


def test_a_savepoint_has_what_was_written_before_it(project: Project) -> None:
    with transaction.atomic(), get_backend().join_writes():
        insert(project, "a")
        with suppress(TakenBack), transaction.atomic():
            insert(project, "b")
            assert list_keys() == ["a", "b"]
            raise TakenBack
        insert(project, "c")
    assert list_keys() == ["a", "c"]


def insert_refused(project: Project, read: Callable[[], Any]) -> None:
    """Insert a key a second time, and expect no error but from what is read behind it."""
    insert(project, "b", "a")
    with suppress(IntegrityError):
        read()
    insert(project, "c")


@pytest.mark.parametrize("read", [list_keys, lambda: fetch_one(Project, name=""), transaction.savepoint])
def test_their_error_is_not_that_of_what_follows(project: Project, read: Callable[[], Any]) -> None:
    insert(project, "a")
    with pytest.raises(IntegrityError), transaction.atomic(), get_backend().join_writes():
        insert_refused(project, read)
    assert list_keys() == ["a"]


def test_an_error_ends_a_savepoint_alone_that_has_all_of_them(project: Project) -> None:
    insert(project, "a")
    with transaction.atomic(), get_backend().join_writes():
        insert(project, "b")
        with suppress(IntegrityError), transaction.atomic():
            insert(project, "c", "a")
        insert(project, "d")
    assert list_keys() == ["a", "b", "d"]
