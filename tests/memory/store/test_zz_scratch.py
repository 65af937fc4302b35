# ruff: noqa
import pytest
from tests.memory.store.test_check import KINDS, whole, kept, original
from tests.memory.store import damaging
from memory.engines.store.check.engine import CheckEngine

pytestmark = [pytest.mark.django_db(transaction=True)]


def test_one(whole, tmp_path):
    damage, checks, _, _ = KINDS["values that are none"]
    file = damaging.use_copy(whole, tmp_path / "a.sqlite3")
    damage(file)
    with damaging.used_store(file):
        r = CheckEngine().check_store(checks.split())
    for p in r.problems:
        print(p.kind.name, p.check, p.count, p.examples)
    assert 0
