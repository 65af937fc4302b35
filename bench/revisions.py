"""How well the rules tell a statement that takes the place of an older one from one on another subject.

.venv/bin/python -m bench.revisions bench/data/revisions_open.jsonl [--show]

Each line of the file is a pair: the older and the newer statement, and whether the newer one revises the
older. Precision is the share of the pairs found that revise, recall the share of those that revise that are
found. The sealed file was opened after the last change of the rules; a test holds both to their bounds.
"""

import argparse
import json
from collections import Counter
from pathlib import Path

from memory.engines.statements.revision_rules import revises

MIN_PRECISION, MIN_RECALL = 0.97, 0.95


def measure(file: Path, show: bool = False) -> Counter[str]:
    """Count the pairs of a file by what they are and what the rules say."""
    counts: Counter[str] = Counter()
    for line in file.read_text().splitlines():
        pair = json.loads(line)
        found = revises(pair["newer"], pair["older"])
        name = name_outcome(pair["revises"], found)
        counts.update(["pairs", name])
        if show and name in ("missed", "mistaken"):
            print(f"{name}: {pair['older']} / {pair['newer']}")
    return counts


def name_outcome(is_revision: bool, found: bool) -> str:
    if found:
        return "found" if is_revision else "mistaken"
    return "missed" if is_revision else "left alone"


def get_precision(counts: Counter[str]) -> float:
    return counts["found"] / max(counts["found"] + counts["mistaken"], 1)


def get_recall(counts: Counter[str]) -> float:
    return counts["found"] / max(counts["found"] + counts["missed"], 1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--show", action="store_true", help="print what was missed or mistaken")
    chosen = parser.parse_args()
    counts = measure(chosen.file, chosen.show)
    for name in ("pairs", "found", "missed", "mistaken", "left alone"):
        print(f"{name}: {counts[name]}")
    print(f"precision: {get_precision(counts):.0%} (at least {MIN_PRECISION:.0%})")
    print(f"recall: {get_recall(counts):.0%} (at least {MIN_RECALL:.0%})")


if __name__ == "__main__":
    main()
