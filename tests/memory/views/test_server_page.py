"""The page of the server: its parts with their states, for those who keep it."""

import re
from pathlib import Path

import pytest
from django.test import Client

from memory.engines.store.check.results import find_file
from tests.memory.views.test_fact_pages import text

pytestmark = pytest.mark.django_db(transaction=True)
PATH = "/p/test/server"


def read_parts(client: Client) -> dict[str, str]:
    page = text(client.get(PATH)).split('aria-labelledby="parts"')[1].split("</section>")[0]
    return dict(re.findall(r"<dt>([^<]*)</dt><dd>(?:<time[^>]*>)?([^<]*)<", page))


def test_it_says_of_each_part_whether_it_works(maintainer: Client, viewer: Client) -> None:
    parts = read_parts(maintainer)
    assert [parts["Database"], parts["Disk"], parts["Queue"]] == ["works"] * 3
    assert parts["Last check of the whole store"] == "never"
    assert parts["Stored"].startswith("The project stores ")
    assert "day1 check" in text(maintainer.get(PATH))
    assert viewer.get(PATH).status_code == 403


def test_it_tells_of_the_last_check(maintainer: Client) -> None:
    file: Path = find_file()
    file.write_text(
        '{"at": "2026-05-01T12:00:00+00:00", "problems": {"missing_vectors": 3}}', encoding="utf-8"
    )
    try:
        assert read_parts(maintainer)["Last check of the whole store"] == "2026-05-01 12:00"
        assert "The last check of the store found missing_vectors." in text(maintainer.get(PATH))
    finally:
        file.unlink()
