"""What a search's preference of the caller's own repository gains, and what it costs.

.venv/bin/python -m bench.repositories [--bonus 0.05] [--recipe default]

Two made-up repositories, a shop and a till, whose facts resemble: 24 questions that each answers in its own
way, and eight of each that the other one knows nothing of. Every question is asked from both, without and
with the preference.
"""

import argparse
import json
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bench.store_clients import EngineStore

DATA = Path(__file__).with_name("data") / "repositories.json"
NAMES = ("shop", "till")
ADDRESS = "git.example.org/team/{}"
FIRST = 3  # hits that are looked at


@dataclass(frozen=True)
class Question:
    """A question, the repository that it is asked from, and the fact that answers it."""

    kind: str
    text: str
    asked_in: str
    answer: str


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument(
        "--bonus", type=float, action="append", help="instead of the engine's own; may be repeated"
    )
    options.add_argument("--recipe", default="")
    chosen = options.parse_args()
    data = json.loads(DATA.read_text())
    questions = list(read_questions(data))
    with tempfile.TemporaryDirectory(prefix="day1-bench-", ignore_cleanup_errors=True) as folder:
        store = EngineStore(Path(folder) / "data")
        load(store, data)
        for bonus in (0.0, *(chosen.bonus or [own_bonus()])):
            report(bonus, questions, ask_all(store, questions, bonus, chosen.recipe))


def own_bonus() -> float:
    from memory.engines.search import ranked

    return ranked.OWN_REPOSITORY


def read_questions(data: dict[str, Any]) -> Iterator[Question]:
    for text, *answers in data["pairs"]:
        for name, answer in zip(NAMES, answers, strict=True):
            yield Question("both answer, the own is right", text, name, answer)
        for name, other, answer in zip(NAMES, NAMES[::-1], answers[::-1], strict=True):
            named = f"{text.removesuffix('?')} in the {other}?"
            yield Question("both answer, the other is named and right", named, name, answer)
    for name, other in (NAMES, NAMES[::-1]):
        for text, answer in data[f"{name}_only"]:
            yield Question("only the own answers", text, name, answer)
            yield Question("only the other answers", text, other, answer)


def load(store: EngineStore, data: dict[str, Any]) -> None:
    from memory.engines.facts.engine import FactEngine

    for at, name in enumerate(NAMES):
        texts = [row[1 + at] for row in data["pairs"]] + [row[1] for row in data[f"{name}_only"]]
        facts = [{"fact_text": text, "repository": ADDRESS.format(name)} for text in texts]
        FactEngine().write_facts(facts=facts, actor=store.actor)
    while store.pending():
        pass


def ask_all(store: EngineStore, questions: Sequence[Question], bonus: float, recipe: str) -> list[int]:
    """Return the rank of each question's answer, from 1; 0 where it is not among the first hits."""
    from memory.engines.search import ranked
    from memory.engines.search.engine import SearchEngine

    ranked.OWN_REPOSITORY = bonus
    ranks = []
    for question in questions:
        actor = replace(store.actor, repository=ADDRESS.format(question.asked_in))
        hits = SearchEngine().search(query=question.text, actor=actor, limit=FIRST, recipe=recipe).hits
        texts = [hit.fact.fact_text for hit in hits]
        ranks.append(texts.index(question.answer) + 1 if question.answer in texts else 0)
    return ranks


def report(bonus: float, questions: Sequence[Question], ranks: Sequence[int]) -> None:
    print(f"\nbonus {bonus:g}")
    for kind in dict.fromkeys(question.kind for question in questions):
        own = [rank for question, rank in zip(questions, ranks, strict=True) if question.kind == kind]
        first, among = sum(rank == 1 for rank in own), sum(rank > 0 for rank in own)
        print(f"  {kind}: {first} of {len(own)} first ({first / len(own):.0%}), {among} among {FIRST}")


if __name__ == "__main__":
    main()
