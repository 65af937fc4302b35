"""Recall of texts whose vectors are not there yet, beside the same texts with them.

  .venv/bin/python -m bench.waiting_texts --data locomo_dev.json [--conversations 2] [--questions 20]

Of each conversation the answers to some questions are written after everything else has its vector. Asked are
their own texts, those questions, and others.
"""

import argparse
import json
import random
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from bench.locomo import Conversation, Question, Turn, read_sample
from bench.store_clients import EngineStore

FIRST, OTHERS, SEED = 10, 120, 5
Found = Iterator[tuple[str, float]]  # what was asked for, and the share that was found


def main() -> None:
    parser = argparse.ArgumentParser(description="Recall of texts whose vectors are not there yet.")
    parser.add_argument("--data", type=Path, required=True, help="a file of LoCoMo")
    parser.add_argument("--conversations", type=int, default=2)
    parser.add_argument("--questions", type=int, default=20, help="of a conversation, whose answers wait")
    options = parser.parse_args()
    samples = json.loads(options.data.read_text())[: options.conversations]
    shares: dict[str, list[float]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as folder:
        store = EngineStore(Path(folder))
        for sample in samples:
            for name, share in ask_all(store, read_sample(sample), options.questions):
                shares[name].append(share)
    for name, values in sorted(shares.items()):
        print(f"{name:32} {sum(values) / len(values):.3f} of {len(values)}")


def ask_all(store: EngineStore, conversation: Conversation, count: int) -> Found:
    asked = [question for question in conversation.questions if len(question.evidence) == 1]
    random.Random(SEED).shuffle(asked)
    late = {turn for question in asked[:count] for turn in question.evidence}
    others = [question for question in conversation.questions if not question.evidence & late][:OTHERS]
    turns = [turn for turn in conversation.turns if turn.dia_id in late]
    reader = Reader(store, conversation)
    reader.write([turn for turn in conversation.turns if turn.dia_id not in late])
    reader.embed()
    reader.write(turns)
    for state in ("waits", "has its vector"):
        for turn in turns:
            text = turn.fact(conversation.sample)["fact_text"]
            yield f"its own text, {state}", reader.find_share(text, {turn.dia_id})
        for name, questions in (("its question", asked[:count]), ("another question", others)):
            yield from ((f"{name}, {state}", reader.ask(question)) for question in questions)
        reader.embed()


class Reader:
    """A conversation in a store, with the turns by the ids of their facts."""

    def __init__(self, store: EngineStore, conversation: Conversation) -> None:
        from memory.engines.branches.manager import BranchManager

        self.store, self.conversation = store, conversation
        self.turns: dict[str, str] = {}
        BranchManager().create_branch(name=conversation.branch, actor=store.actor)

    def write(self, turns: Sequence[Turn]) -> None:
        from memory.engines.facts.engine import FactEngine

        facts: list[dict[str, Any]] = [turn.fact(self.conversation.sample) for turn in turns]
        for start in range(0, len(facts), 500):
            done = FactEngine().write_facts(
                facts=facts[start : start + 500],
                actor=self.store.actor,
                branch_name=self.conversation.branch,
                deduplicate=False,
            )
            for row, turn in zip(done.results, turns[start : start + 500], strict=True):
                self.turns[str(row.fact.uid)] = turn.dia_id

    def embed(self) -> None:
        while self.store.pending():
            pass

    def ask(self, question: Question) -> float:
        return self.find_share(question.text, question.evidence)

    def find_share(self, text: str, wanted: set[str] | frozenset[str]) -> float:
        """Return which share of the turns is among the first hits."""
        found, _ = self.store.search(self.conversation.branch, text, "", "hybrid")
        return len({self.turns[uid] for uid in found[:FIRST]} & wanted) / len(wanted)


if __name__ == "__main__":
    main()
