"""kill -9 during writes, as bench/crash_durability.py does it: shorter, and with fewer clients."""

from pathlib import Path
from typing import Any

import pytest

from bench import crash_durability, durability_checks
from bench.write_load import Request, Written, word
from tests import databases
from tests.amounts import is_thorough

MOMENT = (0.4, 0.8)


@pytest.mark.nightly
def test_what_was_acknowledged_is_there_after_a_kill(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, address in databases.of(tmp_path / "data").items():
        monkeypatch.setenv(name, address)
    rounds = 5 if is_thorough() else 1
    proof = crash_durability.prove(tmp_path, rounds=rounds, clients=8, moment=MOMENT, seed=11)
    assert proof.trouble == []
    assert proof.written
    assert len(proof.cut) == rounds * 8  # every client had a request in progress


def row(number: int, text: str) -> dict[str, Any]:
    return {"id": str(number), "fact_text": text, "embedding_state": "ready"}


def test_the_proof_would_notice_a_loss() -> None:
    one, two = word(1), word(2)
    facts = {"main": [row(1, f"Asked for {one}, twice.")], "task/left": [row(2, f"Against {two}: no.")]}
    there = [Written("1", "main", one), Written("2", "task/left", two)]
    assert durability_checks.lost(facts, there) == []
    for gone in (
        Written("3", "main", one),
        Written("1", "task/left", one),
        Written("1", "main", two),
    ):
        assert len(durability_checks.lost(facts, [*there, gone])) == 1


def test_the_proof_would_notice_a_bulk_of_which_a_part_is_there_and_a_fact_that_is_doubled() -> None:
    words = [word(number) for number in range(3)]
    bulk = Request("/facts/bulk", "main", (words[0], words[1]), {})
    keyed = Request("/facts", "main", (words[2],), {}, "a key")
    facts = {"main": [row(1, words[0]), row(2, words[1]), row(3, words[2])]}
    assert durability_checks.halves(facts, [bulk, keyed]) == []
    assert len(durability_checks.halves({"main": facts["main"][1:2]}, [bulk])) == 1
    assert len(durability_checks.halves({"main": facts["main"][:2]}, [keyed])) == 1
    assert len(durability_checks.halves({"main": facts["main"], "task/left": [row(4, words[2])]}, [])) == 1
    assert (
        durability_checks.without_vector({"main": [row(1, words[0]) | {"embedding_state": "pending"}]}) != []
    )
