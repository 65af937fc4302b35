"""What a connection has noted of its reads, within transactions that write and are taken back."""

from contextlib import suppress

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from memory.db.backend import get_features
from memory.db.raw_select import fetch_one
from memory.models import Project

pytestmark = pytest.mark.django_db(transaction=True)


class TakenBack(Exception):
    """The end of a transaction, or a part of one, that leaves nothing."""


def rename(project: Project, name: str) -> None:
    Project.objects.filter(pk=project.pk).update(name=name)
    assert read_name(project) == name


def read_name(project: Project) -> str:
    found = fetch_one(Project, id=project.pk)
    assert found is not None
    return found.name


def test_it_ends_with_a_transaction_that_is_taken_back(project: Project) -> None:
    before = read_name(project)
    with suppress(TakenBack), transaction.atomic():
        rename(project, "Other")
        raise TakenBack
    assert read_name(project) == before


def test_it_ends_with_a_savepoint_that_is_taken_back(project: Project) -> None:
    with transaction.atomic():
        rename(project, "One")
        with suppress(TakenBack), transaction.atomic():
            rename(project, "Two")
            raise TakenBack
        assert read_name(project) == "One"
    assert read_name(project) == "One"


def test_a_transaction_reads_a_row_again_once_it_has_written(project: Project) -> None:
    with transaction.atomic():
        rename(project, "One")
        with CaptureQueriesContext(connection) as queries:
            assert [read_name(project) for _ in range(2)] == ["One", "One"]
        assert len(queries) == (0 if get_features(connection.alias).keeps_notes else 2)
        rename(project, "Two")
