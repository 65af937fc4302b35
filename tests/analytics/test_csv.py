"""Cells of a table that a spreadsheet would work out."""

import csv
import io
from typing import Any

import pytest

from analytics.answers.figures import write_csv
from tests.memory.api.client import Api

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.parametrize("name", ["=1+1", " =1+1", "\n=1+1", "\u00a0@x", "\t x", "\rx", "-2", "+2"])
def test_a_name_is_no_formula(name: str) -> None:
    table = "".join(write_csv({"agents": {name: {"facts": 1}}}))
    _header, (_figure, of, value) = csv.reader(io.StringIO(table, newline=""))
    assert (of, value) == (f"'{name}.facts", "1")


@pytest.mark.parametrize("name", ["x=1", "a b", "Bash"])
def test_other_names_are_as_they_are(name: str) -> None:
    assert list(write_csv({"agents": {name: 1}}))[1] == f"agents,{name},1\r\n"


@pytest.mark.parametrize("more", ["", "&days=2", "&granularity=hour"])
def test_a_range_that_ends_long_ago_is_refused(api: Api, main: Any, more: str) -> None:
    answer = api.get(f"/analytics/trends?until=0001-01-02T00:00:00Z{more}")
    assert answer.status_code == 400
    assert (answer.json()["code"], answer.json()["field"]) == ("invalid", "until")
