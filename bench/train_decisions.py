"""Train the weights of the sentence score from labelled sentences, and measure them by cross-validation.

.venv/bin/python -m bench.train_decisions [--write]

Logistic regression with an L2 penalty, by gradient descent (Adam). The file has a prompt a line, with its
sentences: 1 for one that lays something down, 0 for any other. A fold is made of whole prompts.
"""

import argparse
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from conversations.engines.consolidation.sentence_score import WEIGHT_UNIT, WEIGHTS, list_features

SENTENCES = Path(__file__).parent / "data" / "decisions_training.jsonl"
FOLDS, STEPS, RATE, PENALTY = 5, 200, 0.1, 3e-5
MIN_COUNT = 2  # sentences with a feature
MIN_WEIGHT = 0.05  # of a feature that is kept


def load_sentences() -> tuple[list[set[str]], np.ndarray, np.ndarray]:
    """Return the features of each sentence, its label, and its prompt's number."""
    prompts = [json.loads(line)["sentences"] for line in SENTENCES.read_text().splitlines()]
    rows = [(list_features(text), label, at) for at, pairs in enumerate(prompts) for text, label in pairs]
    features, labels, owners = zip(*rows, strict=True)
    return list(features), np.array(labels, dtype="f4"), np.array(owners)


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


def train(matrix: np.ndarray, labels: np.ndarray) -> np.ndarray:
    weights = np.zeros(matrix.shape[1], dtype="f4")
    mean, square = np.zeros_like(weights), np.zeros_like(weights)
    for step in range(1, STEPS + 1):
        likely = 1 / (1 + np.exp(-matrix @ weights))
        slope = matrix.T @ (likely - labels) / len(labels) + PENALTY * weights
        mean, square = 0.9 * mean + 0.1 * slope, 0.999 * square + 0.001 * slope * slope
        weights -= RATE * mean / (1 - 0.9**step) / (np.sqrt(square / (1 - 0.999**step)) + 1e-8)
    return weights


def validate(features: list[set[str]], labels: np.ndarray, owners: np.ndarray) -> float:
    """Return the share of sentences that weights of the other folds label rightly."""
    right = 0
    for fold in range(FOLDS):
        others = np.flatnonzero(owners % FOLDS != fold)
        vocabulary = list_vocabulary([features[at] for at in others])
        matrix = build_matrix(features, vocabulary)
        scores = matrix @ train(matrix[others], labels[others])
        held_out = owners % FOLDS == fold
        right += int(((scores > 0) == (labels > 0))[held_out].sum())
    return right / len(labels)


def write_weights(weights: np.ndarray, vocabulary: dict[str, int]) -> None:
    kept = {name: round(float(weights[at]) * WEIGHT_UNIT) for name, at in vocabulary.items()}
    kept = {name: weight for name, weight in kept.items() if abs(weight) >= MIN_WEIGHT * WEIGHT_UNIT}
    lines = (f"{json.dumps(name, ensure_ascii=False)}:{weight}" for name, weight in kept.items())
    WEIGHTS.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="write the weights")
    chosen = parser.parse_args()
    features, labels, owners = load_sentences()
    print(f"{len(labels)} sentences, {labels.mean():.0%} lay something down")
    if chosen.write:
        vocabulary = list_vocabulary(features)
        write_weights(train(build_matrix(features, vocabulary), labels), vocabulary)
    print(f"labelled rightly, {FOLDS} folds: {validate(features, labels, owners):.1%}")


if __name__ == "__main__":
    main()
