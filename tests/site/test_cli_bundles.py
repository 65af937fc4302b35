"""Bundles on the command line: on the local store, in the shapes of the REST API."""

import json
from pathlib import Path

import pytest

from curation.engines.bundles.document import compute_sha256
from curation.models import Bundle
from memory.actors import Actor
from memory.engines.facts.engine import FactEngine
from tests.command_line import Day1

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_bundle_goes_out_and_comes_in(day1: Day1, actor: Actor, tmp_path: Path) -> None:
    FactEngine().write_fact(fact_text="Clocks differ.", actor=actor)
    assert day1("bundle") == (0, "", "No bundle here.\n")
    status, out, _ = day1("bundle", "create", "clocks", "--include-unverified", "--dry-run")
    assert (status, out.split("\t")[0], Bundle.objects.count()) == (0, "would be made:", 0)
    status, out, _ = day1("bundle", "create", "clocks", "--include-unverified", "--no-relations")
    row = Bundle.objects.get()
    assert (status, out.split("\t")[0]) == (0, str(row.pk))
    assert "clocks v1, facts: 1" in out
    assert (
        day1("bundle", "list", "--name", "clocks")[1]
        .splitlines()[1]
        .startswith(f"{row.pk}\tclocks\t1\tcreated")
    )
    assert "sha256: " in day1("bundle", "show", str(row.pk))[1]
    file = tmp_path / "clocks.json"
    status, out, err = day1("bundle", "export", str(row.pk), str(file))
    assert (status, out, row.sha256 in err) == (0, "", True)
    assert json.loads(file.read_text()) == json.loads(row.bundle_data)
    assert json.loads(day1("bundle", "export", str(row.pk))[1]) == json.loads(row.bundle_data)
    status, out, err = day1("bundle", "upload", str(file), "--dry-run", "--name", "other")
    assert (status, out.splitlines()[0]) == (0, "would import on bundle/other/v1, unsigned")
    assert "facts\t0\t1\t0" in out
    assert "unverified here" in err
    assert Bundle.objects.count() == 1
    status, out, _ = day1("bundle", "upload", str(file), "--branch", "main", "--name", "other")
    assert (status, "other v1, kept" in out) == (0, True)
    assert day1("bundle", "import", str(row.pk), "--branch", "main", "--require-trusted")[0] == 1
    assert day1("bundle", "upload", str(tmp_path / "none.json"))[0] == 2
    odd = {name: value for name, value in json.loads(row.bundle_data).items() if name != "sha256"} | {
        "odd": 1
    }
    file.write_text(json.dumps(odd | {"sha256": compute_sha256(odd)}))
    status, _, err = day1("bundle", "upload", str(file), "--keep-only", "--name", "odd")
    assert (status, err) == (0, "Not known here and dropped: odd\n")
    assert day1("bundle", "delete", str(row.pk)) == (0, f"{row.pk}\tdeleted\n", "")
    assert day1("bundle", "delete", str(row.pk))[0] == 1
    (tmp_path / "list.json").write_text("[1]")
    assert day1("bundle", "upload", str(tmp_path / "list.json"))[0] == 2


def test_keys_are_made_and_trusted(day1: Day1, actor: Actor) -> None:
    assert day1("bundle", "key")[0] == 1
    status, key, _ = day1("bundle", "key", "--new")
    assert (status, len(key.strip())) == (0, 44)
    assert day1("bundle", "key")[1] == key
    assert day1("bundle", "trust", "Acme", key.strip())[1] == f"Acme\t{key}"
    assert "Acme" in day1("bundle", "trusted")[1]
    assert day1("bundle", "distrust", "Acme")[1] == "Acme\ttrusted no more\n"
