"""The commands on items, and files of facts with items."""

import json
from pathlib import Path

import pytest

from memory.models import Fact
from tests.command_line import Day1, anywhere

pytestmark = pytest.mark.django_db(transaction=True)


@anywhere
def test_items_leave_and_arrive_as_items(day1: Day1, tmp_path: Path) -> None:
    put = day1("items", "put", "users/ada", "theme", '{"n": 1}', "--text", "Ada likes it dark.", "--no-embed")
    assert put[0] == 0, put
    day1("write-fact", "A plain fact.")
    file = tmp_path / "facts.jsonl"
    file.write_text(day1("export")[1])
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    assert [(line.get("namespace"), line.get("key"), line.get("value")) for line in lines] == [
        ("users/ada", "theme", {"n": 1}),
        (None, None, None),
    ]
    day1("items", "delete", "users/ada", "theme")
    day1("write-fact", "Ada likes it dark.")  # another thing, though it says the same
    assert day1("import", str(file), "--dry-run")[1] == "1 new, 1 known, 0 broken; nothing was written.\n"
    assert day1("import", str(file))[0] == 0
    assert day1("items", "get", "users/ada", "theme")[1] == '{"n": 1}\n'
    rows = Fact._base_manager.filter(path__isnull=False, seq_to=2**62)
    assert [(row.embed, row.fact_text, row.deleted) for row in rows] == [(False, "Ada likes it dark.", False)]
    assert day1("import", str(file), "--dry-run")[1] == "0 new, 2 known, 0 broken; nothing was written.\n"
    assert day1("import", str(file))[0] == 0
    assert Fact._base_manager.filter(seq_to=2**62, deleted=False).count() == 3


@anywhere
def test_what_is_an_end_users_leaves_and_arrives_as_theirs(day1: Day1, tmp_path: Path) -> None:
    for user, value in (("ada", "1"), ("bob", "2")):
        day1("items", "put", "n", "k", value, "--user", user)
        day1("write-fact", "Tea, please.", "--user", user)
    file = tmp_path / "facts.jsonl"
    assert len(day1("export")[1].splitlines()) == 4
    file.write_text(day1("export", "--user", "ada")[1])
    assert len(file.read_text().splitlines()) == 2
    assert day1("import", str(file), "--dry-run")[1] == "0 new, 2 known, 0 broken; nothing was written.\n"
    day1("items", "delete", "n", "k", "--user", "ada")
    assert day1("import", str(file), "--dry-run")[1] == "1 new, 1 known, 0 broken; nothing was written.\n"
    assert day1("import", str(file))[1].startswith("1 new, 1 known")
    assert day1("items", "get", "n", "k", "--user", "ada")[1] == "1\n"
    assert day1("items", "get", "n", "k", "--user", "bob")[1] == "2\n"
