"""Evidence: how well the hits alone tell that nothing is known.

.venv/bin/python -m bench.evidence --data FILE … [--format NAME] [--keep FOLDER] [--unrelated FILE]

Every question is asked of its own conversation, and of the next one with the names of the speakers swapped,
where nobody can know it; and questions that have nothing to do with any of it. AUROC is the chance that one
that can be answered has more evidence than one that cannot.
"""

import argparse
import json
import re
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np

from bench import corpora
from bench.locomo import Conversation
from bench.train_ranking import open_store

REFUSED_SHARE = 0.05  # of the questions that can be answered
UNRELATED = (
    "What is the capital of Mongolia?",
    "How do I bake sourdough bread?",
    "Who won the 1998 World Cup final?",
    "What is the boiling point of ethanol?",
    "How many moons does Jupiter have?",
    "What is the derivative of x squared?",
    "Who painted the Mona Lisa?",
    "How tall is Mount Everest?",
    "What year did the Berlin Wall fall?",
    "What's the weather like in Helsinki?",
    "Good morning!",
    "Thanks, that's great!",
    "How are you?",
)


def main() -> None:
    options = arguments()
    conversations = corpora.read_corpus(options.data, options.format)
    with nullcontext(options.keep) if options.keep else tempfile.TemporaryDirectory() as folder:
        store, _ = open_store(Path(folder), "facts", conversations)
        own = [rate(store, c.branch, question.text) for c in conversations for question in c.questions]
        swapped = [rate(store, branch, text) for branch, text in swap_questions(conversations)]
        others = read_questions(options.unrelated) if options.unrelated else UNRELATED
        unrelated = [rate(store, c.branch, text) for c in conversations for text in others]
    report(*(np.array(found) for found in (own, swapped, unrelated)))


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Evidence of questions that can and cannot be answered.")
    parser.add_argument("--data", type=Path, nargs="+", required=True)
    parser.add_argument("--format", choices=sorted(corpora.FORMATS), default="locomo")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="the store, made when it is missing")
    parser.add_argument("--unrelated", type=Path, help="questions by language, JSON, in place of a few")
    return parser.parse_args()


def read_questions(path: Path) -> list[str]:
    return [text for texts in json.loads(path.read_text(encoding="utf-8")).values() for text in texts]


def rate(store: Any, branch: str, query: str) -> tuple[float, bool]:
    from memory.engines.search.engine import SearchEngine

    found = SearchEngine().search(query=query, actor=store.actor, branch_name=branch)
    return float(found.evidence), found.known


def swap_questions(conversations: Sequence[Conversation]) -> Iterator[tuple[str, str]]:
    """Yield the next conversation's branch and each question, with the names of that one's speakers."""
    for conversation, other in zip(conversations, [*conversations[1:], conversations[0]], strict=True):
        names = list(zip(list_speakers(conversation), list_speakers(other), strict=False))
        for question in conversation.questions:
            yield other.branch, swap_names(question.text, names)


def list_speakers(conversation: Conversation) -> list[str]:
    return list(dict.fromkeys(turn.speaker for turn in conversation.turns))


def swap_names(text: str, names: Sequence[tuple[str, str]]) -> str:
    for own, other in names:
        text = re.sub(rf"\b{re.escape(own)}\b", other, text, flags=re.IGNORECASE)
    return text


def report(own: np.ndarray, swapped: np.ndarray, unrelated: np.ndarray) -> None:
    """Print what is told apart; the columns are the evidence, and whether it counts as known by default."""
    limit = float(np.quantile(own[:, 0], REFUSED_SHARE))
    print(
        f"{len(own)} questions that can be answered, {len(swapped)} that cannot, {len(unrelated)} unrelated"
    )
    for name, others in (("names swapped", swapped), ("unrelated", unrelated)):
        auroc, caught = measure_auroc(own[:, 0], others[:, 0]), (others[:, 0] < limit).mean()
        print(f"{name}: AUROC {auroc:.3f}, {caught:.1%} caught at {REFUSED_SHARE:.0%} refused ({limit:.3f})")
        print(f"{name}: known by default {others[:, 1].mean():.1%}")
    print(f"that can be answered: known by default {own[:, 1].mean():.1%}")


def measure_auroc(positive: np.ndarray, negative: np.ndarray) -> float:
    """Return the share of pairs in which the positive one is higher; equal ones count half."""
    differences = positive[:, None] - negative[None, :]
    return float((differences > 0).mean() + (differences == 0).mean() / 2)


if __name__ == "__main__":
    main()
