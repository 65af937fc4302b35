"""Train the weights of the prompts' score from labelled examples, and measure them by cross-validation.

.venv/bin/python -m bench.train_decisions [--write]

Logistic regression with an L2 penalty, by gradient descent (Adam). decisions_training.jsonl has sentences,
decisions_prompts.jsonl whole prompts of sessions: 1 for what lays something down, 0 for anything else. A fold
is made of whole sessions. The shares are of whole prompts.
"""

import argparse
import json
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from conversations.engines.consolidation.sentence_score import (
    WEIGHT_UNIT,
    WEIGHTS,
    list_features,
    list_prompt_features,
)
from conversations.engines.consolidation.sentences import MIN_PART_LENGTH, sentences

DATA = Path(__file__).parent / "data"
FOLDS, STEPS, RATE, PENALTY = 5, 200, 0.1, 3e-5
MIN_COUNT = 2  # examples with a feature
MIN_WEIGHT = 0.05  # of a feature that is kept
IDLE_SHARE = 0.05  # of the idle prompts that may be mistaken


class Example(NamedTuple):
    """Features of a sentence or a prompt, 1 where it lays something down, and its prompt or session."""

    features: set[str]
    label: int
    owner: str
    whole: bool  # a whole prompt


def load_examples() -> list[Example]:
    return [*read_sentences(), *read_prompts()]


def read_sentences() -> Iterator[Example]:
    """Yield the labelled sentences: a line of the file is a prompt."""
    for number, line in enumerate((DATA / "decisions_training.jsonl").read_text().splitlines()):
        for text, label in json.loads(line)["sentences"]:
            yield Example(list_features(text), label, str(number), False)


def read_prompts() -> Iterator[Example]:
    """Yield the labelled prompts; those of a session follow each other."""
    for line in (DATA / "decisions_prompts.jsonl").read_text().splitlines():
        row = json.loads(line)
        parts = list(sentences(row["prompt"], MIN_PART_LENGTH)) or [row["prompt"]]
        features = list_prompt_features(parts, row["after_question"])
        yield Example(features, row["label"], row["session"], True)


def list_vocabulary(features: Sequence[set[str]]) -> dict[str, int]:
    counts = Counter(name for found in features for name in found)
    return {
        name: at for at, name in enumerate(sorted(n for n, count in counts.items() if count >= MIN_COUNT))
    }


def build_matrix(features: Sequence[set[str]], vocabulary: dict[str, int]) -> np.ndarray:
    matrix = np.zeros((len(features), len(vocabulary)), dtype="f4")
    for row, found in zip(matrix, features, strict=True):
        row[[vocabulary[name] for name in found if name in vocabulary]] = 1 / np.sqrt(len(found))
    return matrix


def weigh_examples(examples: Sequence[Example]) -> np.ndarray:
    """Return the weight of each example: answers to a question lay down no more and no less than others.

    How often agents ask differs by program, so that a question alone must not decide.
    """
    labels = np.array([one.label for one in examples])
    answers = np.array(["answer True" in one.features for one in examples])
    whole = np.array([one.whole for one in examples])
    weights = np.ones(len(examples))
    for group in (whole & answers, whole & ~answers):
        for label, share in ((1, labels.mean()), (0, 1 - labels.mean())):
            weights[group & (labels == label)] *= share / (labels[group] == label).mean()
    return weights.astype("f4")


def train(matrix: np.ndarray, labels: np.ndarray, importance: np.ndarray) -> np.ndarray:
    weights = np.zeros(matrix.shape[1], dtype="f4")
    mean, square = np.zeros_like(weights), np.zeros_like(weights)
    for step in range(1, STEPS + 1):
        likely = 1 / (1 + np.exp(-matrix @ weights))
        slope = matrix.T @ ((likely - labels) * importance) / importance.sum() + PENALTY * weights
        mean, square = 0.9 * mean + 0.1 * slope, 0.999 * square + 0.001 * slope * slope
        weights -= RATE * mean / (1 - 0.9**step) / (np.sqrt(square / (1 - 0.999**step)) + 1e-8)
    return weights


def validate(examples: Sequence[Example]) -> tuple[np.ndarray, np.ndarray]:
    """Return the scores of the whole prompts, each by weights of the other folds, and their labels."""
    folds = np.array([zlib.crc32(one.owner.encode()) % FOLDS for one in examples])
    whole = np.array([one.whole for one in examples])
    labels = np.array([one.label for one in examples], dtype="f4")
    importance = weigh_examples(examples)
    scores = np.zeros(len(examples), dtype="f4")
    for fold in range(FOLDS):
        others = np.flatnonzero(folds != fold)
        vocabulary = list_vocabulary([examples[at].features for at in others])
        matrix = build_matrix([one.features for one in examples], vocabulary)
        held_out = folds == fold
        scores[held_out] = matrix[held_out] @ train(matrix[others], labels[others], importance[others])
    return scores[whole], labels[whole]


def report(scores: np.ndarray, labels: np.ndarray) -> None:
    idle, telling = np.sort(scores[labels == 0]), scores[labels == 1]
    least = idle[round(len(idle) * (1 - IDLE_SHARE))]
    print(f"prompts labelled rightly, {FOLDS} folds: {((scores > 0) == (labels > 0)).mean():.1%}")
    found = (telling > least).mean()
    print(f"{IDLE_SHARE:.0%} of the idle ones reach {least:.2f}, {found:.0%} of the others")


def write_weights(weights: np.ndarray, vocabulary: dict[str, int]) -> None:
    kept = {name: round(float(weights[at]) * WEIGHT_UNIT) for name, at in vocabulary.items()}
    kept = {name: weight for name, weight in kept.items() if abs(weight) >= MIN_WEIGHT * WEIGHT_UNIT}
    lines = (f"{json.dumps(name, ensure_ascii=False)}:{weight}" for name, weight in kept.items())
    WEIGHTS.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="write the weights")
    chosen = parser.parse_args()
    examples = load_examples()
    labels = np.array([one.label for one in examples], dtype="f4")
    print(f"{len(labels)} sentences and prompts, {labels.mean():.0%} lay something down")
    if chosen.write:
        features = [one.features for one in examples]
        vocabulary = list_vocabulary(features)
        matrix = build_matrix(features, vocabulary)
        write_weights(train(matrix, labels, weigh_examples(examples)), vocabulary)
    report(*validate(examples))


if __name__ == "__main__":
    main()
