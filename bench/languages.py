"""Search in fourteen languages, over all of them in one store: a natural question, and small talk.

.venv/bin/python -m bench.languages [--embedder NAME]

`first` is how many questions bring the fact first that they ask for. Of small talk, `hits` is how many facts
come with it on average, `known` how often it is answered as known, and `evidence` the most that a hit has.
"""

import argparse
import json
import tempfile
from pathlib import Path
from typing import Any

from bench import local_engine

DATA = Path(__file__).parent / "data" / "languages.json"
BATCH_SIZE = 500


def main() -> None:
    parser = argparse.ArgumentParser(description="Search in fourteen languages.")
    parser.add_argument("--embedder", default="minilm", help="DAY1_EMBEDDER")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        local_engine.set_up(Path(folder), options.embedder)
        report(measure(local_engine.local(), json.loads(DATA.read_text(encoding="utf-8"))))


def measure(actor: Any, languages: dict[str, Any]) -> list[tuple[str, int, int, float, int, int, float]]:
    from memory.engines.embedding.engine import EmbeddingEngine
    from memory.engines.facts.engine import FactEngine

    texts = [{"fact_text": text} for language in languages.values() for text in language["facts"]]
    FactEngine().write_facts(facts=texts, actor=actor)
    while EmbeddingEngine().embed_pending(actor.project_id, BATCH_SIZE):
        pass
    return [(name, *measure_language(actor, language)) for name, language in languages.items()]


def measure_language(actor: Any, language: dict[str, list[str]]) -> tuple[int, int, float, int, int, float]:
    from memory.engines.search.engine import SearchEngine

    answers = [SearchEngine().search(query=text, actor=actor).hits for text in language["questions"]]
    first = [hits[0].fact.fact_text if hits else "" for hits in answers]
    talks = [SearchEngine().search(query=text, actor=actor) for text in language["talk"]]
    hits = sum(len(found.hits) for found in talks) / len(talks)
    right = sum(one == fact for one, fact in zip(first, language["facts"], strict=True))
    known, evidence = sum(found.known for found in talks), max(found.evidence for found in talks)
    return right, len(first), hits, known, len(talks), evidence


def report(rows: list[tuple[str, int, int, float, int, int, float]]) -> None:
    print(f"{'':12}{'first':>8}{'hits':>8}{'known':>8}{'evidence':>10}")
    for name, right, asked, hits, known, talks, evidence in rows:
        print(f"{name:12}{right:>5}/{asked}{hits:>8.1f}{known:>6}/{talks}{evidence:>10.2f}")
    right, asked = sum(row[1] for row in rows), sum(row[2] for row in rows)
    print(f"{'all':12}{right:>5}/{asked}{sum(row[3] for row in rows) / len(rows):>8.1f}")


if __name__ == "__main__":
    main()
