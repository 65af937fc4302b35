"""Train the weights of the prompts' score from labelled examples, and measure them by cross-validation.

.venv/bin/python -m bench.train_decisions [--write]

Logistic regression with an L2 penalty, by gradient descent (Adam), of features that are scaled by how much
more often they stand in one class than in the other (Wang and Manning, Baselines and Bigrams, ACL 2012).
decisions_training.jsonl has sentences, decisions_prompts.jsonl whole prompts of sessions, each with the
question that it answers: 1 for what lays something down, 0 for anything else. A fold is made of whole
sessions. The shares are of whole prompts.
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
FOLDS, STEPS, RATE, PENALTY = 5, 300, 0.1, 2e-6
MIN_COUNT = 2  # examples with a feature
MIN_WEIGHT = 0.4  # of a feature that is kept
SMOOTHING = 1.0  # examples of each class in which every feature is taken to stand
IDLE_SHARE = 0.05  # of the idle prompts that may be mistaken


class Example(NamedTuple):
    """Features of a sentence or a prompt, 1 where it lays something down, and its prompt or session."""

    features: set[str]
    label: int
    owner: str
    whole: bool  # a whole prompt


class Matrix(NamedTuple):
    """A sparse matrix: the row, the column and the value of each entry."""

    rows: np.ndarray
    columns: np.ndarray
    values: np.ndarray
    shape: tuple[int, int]

    def times(self, weights: np.ndarray) -> np.ndarray:
        """Return the product with one weight a column."""
        return np.bincount(self.rows, self.values * weights[self.columns], self.shape[0])

    def times_rows(self, weights: np.ndarray) -> np.ndarray:
        """Return the product of the transposed matrix with one weight a row."""
        return np.bincount(self.columns, self.values * weights[self.rows], self.shape[1])


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
        features = list_prompt_features(parts, row["question"])
        yield Example(features, row["label"], row["session"], True)


def list_vocabulary(features: Sequence[set[str]]) -> dict[str, int]:
    counts = Counter(name for found in features for name in found)
    return {
        name: at for at, name in enumerate(sorted(n for n, count in counts.items() if count >= MIN_COUNT))
    }


def build_matrix(features: Sequence[set[str]], vocabulary: dict[str, int]) -> Matrix:
    found = [[vocabulary[name] for name in names if name in vocabulary] for names in features]
    values = [1 / np.sqrt(len(names)) for names in features]
    counts = [len(columns) for columns in found]
    return Matrix(
        np.repeat(np.arange(len(found)), counts),
        np.concatenate([np.array(columns, dtype="i8") for columns in found]),
        np.repeat(values, counts),
        (len(found), len(vocabulary)),
    )


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
    return weights


def train(matrix: Matrix, labels: np.ndarray, importance: np.ndarray) -> np.ndarray:
    weights = np.zeros(matrix.shape[1])
    mean, square = np.zeros_like(weights), np.zeros_like(weights)
    for step in range(1, STEPS + 1):
        likely = 1 / (1 + np.exp(-matrix.times(weights)))
        slope = matrix.times_rows((likely - labels) * importance) / importance.sum() + PENALTY * weights
        mean, square = 0.9 * mean + 0.1 * slope, 0.999 * square + 0.001 * slope * slope
        weights -= RATE * mean / (1 - 0.9**step) / (np.sqrt(square / (1 - 0.999**step)) + 1e-8)
    return weights


def train_on(examples: list[Example], importance: np.ndarray) -> tuple[np.ndarray, dict[str, int]]:
    """Return the weights that fit the examples, and the column of each feature."""
    features = [one.features for one in examples]
    vocabulary = list_vocabulary(features)
    matrix, labels = build_matrix(features, vocabulary), np.array([one.label for one in examples])
    ratios = compare_classes(matrix, labels, importance)
    scaled = matrix._replace(values=matrix.values * ratios[matrix.columns])
    return train(scaled, labels, importance) * ratios, vocabulary


def compare_classes(matrix: Matrix, labels: np.ndarray, importance: np.ndarray) -> np.ndarray:
    """Return for each feature the size of the log of its shares' ratio between the classes."""
    present = matrix._replace(values=np.ones_like(matrix.values))
    shares = []
    for of_class in (labels, 1 - labels):
        counts = present.times_rows(of_class * importance) + SMOOTHING
        shares.append(np.log(counts / counts.sum()))
    return np.abs(shares[0] - shares[1])


def validate(examples: Sequence[Example]) -> tuple[np.ndarray, np.ndarray]:
    """Return the scores of the whole prompts, each by weights of the other folds, and their labels."""
    folds = np.array([zlib.crc32(one.owner.encode()) % FOLDS for one in examples])
    whole = np.array([one.whole for one in examples])
    labels = np.array([one.label for one in examples])
    importance = weigh_examples(examples)
    scores = np.zeros(len(examples))
    for fold in range(FOLDS):
        others = np.flatnonzero(folds != fold).tolist()
        weights, vocabulary = train_on([examples[at] for at in others], importance[others])
        held_out = np.flatnonzero(folds == fold).tolist()
        matrix = build_matrix([examples[at].features for at in held_out], vocabulary)
        scores[held_out] = matrix.times(weights)
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
    share = sum(one.label for one in examples) / len(examples)
    print(f"{len(examples)} sentences and prompts, {share:.0%} lay something down")
    if chosen.write:
        write_weights(*train_on(examples, weigh_examples(examples)))
    report(*validate(examples))


if __name__ == "__main__":
    main()
