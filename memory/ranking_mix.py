"""Learned mix of the signals of search: boosted trees that never fall when a signal rises.

``bench/train_ranking.py`` makes the file. A tree is a number, or a list: a signal, a limit, the tree
for values up to the limit, and the tree for values above it. Pure functions of plain values.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np

MIX_FILE = Path(__file__).with_name("ranking_mix.json")
SIGNALS = ("keyword", "vector", "words", "base", "reply", "session", "speaker", "least_word")
MAX_DEPTH = 16
MIN_BREVITY = 2.0**-20
NUMBERS = ("base_weight", "speaker_share", "window_weight", "length_weight", "scale", "offset")


class NotAMix(ValueError):
    """A file that is no learned mix, with the reason."""


@dataclass(frozen=True)
class Mix:
    """A learned mix: the nodes of all trees side by side. A leaf leads to itself."""

    signals: tuple[str, ...]
    base_weight: float  # of the start, which the trees correct
    speaker_share: float  # of a weighted sum of 1, added where the question names who speaks
    window_weight: float  # of the match of the words with what stands around a text, beside the trees
    length_weight: float  # of each doubling of a text over the length up to which its brevity is 1
    scale: float
    offset: float
    roots: np.ndarray
    columns: np.ndarray
    limits: np.ndarray
    branches: np.ndarray  # of each node the next up to its limit, then the next above it
    values: np.ndarray
    depth: int

    def score(self, candidates: Mapping[str, np.ndarray], added: np.ndarray | None = None) -> np.ndarray:
        """Return the relevance of each candidate, between 0 and 1; of each signal all their values."""
        raw = self.weigh(candidates, added)
        relevance: np.ndarray = 1 / (1 + np.exp(-(self.scale * raw + self.offset)))
        return relevance

    def weigh(self, candidates: Mapping[str, np.ndarray], added: np.ndarray | None = None) -> np.ndarray:
        """Return the whole sum of each candidate; ``added`` is what ``add_up`` gave, where it is known."""
        total = self.add_up(candidates) if added is None else added
        total = total + self.window_weight * candidates["window"]
        return total + self.length_weight * np.log2(np.maximum(candidates["brevity"], MIN_BREVITY))

    def add_up(self, candidates: Mapping[str, np.ndarray]) -> np.ndarray:
        """Return what start and trees give each candidate, without its window and its brevity."""
        rows = np.column_stack([candidates[name] for name in self.signals])
        total: np.ndarray = self.sum_trees(rows) + self.start(rows)
        return total

    def start(self, rows: np.ndarray) -> np.ndarray:
        """Return where the trees start: the weighted sum or an answer's share, more for a named speaker."""
        return self.base_weight * start_ranking(rows, self.speaker_share)

    def sum_trees(self, rows: np.ndarray) -> np.ndarray:
        """Return the sum of the leaves that each row reaches, one step down all trees at a time."""
        nodes = np.tile(self.roots, (len(rows), 1))
        starts = np.arange(len(rows))[:, None] * rows.shape[1]
        values = np.ascontiguousarray(rows).ravel()  # take() on flat arrays is twice as fast as indexing
        for _ in range(self.depth):
            above = values.take(self.columns.take(nodes) + starts) > self.limits.take(nodes)
            nodes = self.branches.take(2 * nodes + above)
        found: np.ndarray = self.values.take(nodes).sum(axis=1)
        return found


def start_ranking(rows: np.ndarray, speaker_share: float) -> np.ndarray:
    """Return the ranking that the trees correct, of rows with the signals in the order of SIGNALS."""
    base, reply, speaker = (rows[:, SIGNALS.index(name)] for name in ("base", "reply", "speaker"))
    start: np.ndarray = np.maximum(base, reply) + speaker_share * speaker
    return start


@cache
def load_mix() -> Mix:
    """Return the mix that the default recipe uses; read once."""
    return read_mix(MIX_FILE)


def read_mix(path: Path) -> Mix:
    """Read a mix. Raises NotAMix."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise NotAMix(f"{path}: {error.strerror}.") from None
    except ValueError as error:
        raise NotAMix(f"{path} is no JSON: {error}.") from None
    try:
        return build_mix(content)
    except NotAMix as error:
        raise NotAMix(f"{path}: {error}") from None


def build_mix(content: Any) -> Mix:
    """Build a mix from the contents of its file. Raises NotAMix."""
    if not isinstance(content, dict) or not isinstance(content.get("trees"), list) or not content["trees"]:
        raise NotAMix("a mix is an object with trees.")
    signals = content.get("signals")
    if signals != list(SIGNALS):
        raise NotAMix(f"the signals must be {', '.join(SIGNALS)}.")
    numbers = {name: _check_number(name, content.get(name)) for name in NUMBERS}
    if min(numbers["base_weight"], numbers["scale"]) <= 0:
        raise NotAMix("base_weight and scale must be above 0.")
    for name in ("speaker_share", "window_weight", "length_weight"):
        if numbers[name] < 0:
            raise NotAMix(f"{name} may not be below 0.")
    nodes: list[tuple[int, float, int, int, float]] = []
    roots, depths = zip(*(_add_tree(nodes, tree, 0) for tree in content["trees"]), strict=True)
    columns, limits, lower, upper, values = map(np.array, zip(*nodes, strict=True))
    branches = np.column_stack([lower, upper]).ravel()
    return Mix(
        SIGNALS,
        **numbers,
        roots=np.array(roots),
        columns=columns,
        limits=limits,
        branches=branches,
        values=values,
        depth=max(depths),
    )


def _add_tree(nodes: list[tuple[int, float, int, int, float]], tree: Any, depth: int) -> tuple[int, int]:
    """Add the nodes of a tree; return the number of its first node, and its depth."""
    at = len(nodes)
    if not isinstance(tree, list):
        nodes.append((0, 0.0, at, at, _check_number("a leaf", tree)))
        return at, 0
    if len(tree) != 4 or tree[0] not in SIGNALS or depth == MAX_DEPTH:
        raise NotAMix("a tree is a number, or a signal, a limit and two trees.")
    limit = _check_number("a limit", tree[1])
    nodes.append((0, 0.0, 0, 0, 0.0))  # replaced when the nodes below have their numbers
    (lower, left), (upper, right) = (_add_tree(nodes, part, depth + 1) for part in tree[2:])
    nodes[at] = (SIGNALS.index(tree[0]), limit, lower, upper, 0.0)
    return at, 1 + max(left, right)


def _check_number(name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
        raise NotAMix(f"{name} must be a number.")
    return float(value)
