"""Templates on the command line: on the local store, in the shapes of the REST API."""

import json

import pytest

from memory.actors import Actor
from memory.engines.facts.engine import FactEngine
from tests.command_line import Day1

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_template_from_its_start_to_its_end(day1: Day1, actor: Actor) -> None:
    FactEngine().write_fact(fact_text="Clocks differ.", actor=actor)
    assert day1("template") == (0, "", "No template here.\n")
    made = day1("template", "create", "bug-fix", "--type", "bug_fix", "--description", "Faults of clocks.")
    assert made == (0, "bug-fix\tversion 1, on template/bug-fix/v1\n", "")
    status, out, _ = day1("template", "list", "--type", "bug_fix")
    assert (status, out.splitlines()[1].split("\t")[:5]) == (0, ["bug-fix", "1", "active", "bug_fix", "0"])
    assert day1("template", "find", "faults of clocks")[1].splitlines()[1].startswith("bug-fix\t1\tno\t1")
    assert day1("template", "find", "soup")[2] == "No template fits.\n"
    begun = day1("template", "instantiate", "bug-fix", "task/a")
    assert begun == (0, "task/a\tbegan from bug-fix, version 1\n", "")
    assert day1("template", "outcome", "bug-fix", "task/a", "success") == (0, "task/a\tsuccess\n", "")
    day1("write-fact", "Batteries are old.", "--branch", "task/a")
    assert (
        day1("template", "update", "bug-fix", "task/a")[1] == "bug-fix\tversion 2, on template/bug-fix/v2\n"
    )
    assert "added" in day1("template", "diff", "bug-fix", "1", "2")[1]
    assert "template/bug-fix/v2" in day1("template", "show", "bug-fix")[1]
    row = json.loads(day1("--format", "json", "template", "show", "bug-fix")[1])
    assert [one["version"] for one in row["versions"]] == [2, 1]
    assert day1("template", "deprecate", "bug-fix", "--reason", "Old.")[1] == "bug-fix\tdeprecated\n"
    status, _, err = day1("template", "instantiate", "bug-fix", "task/b")
    assert (status, "deprecated" in err) == (1, True)
