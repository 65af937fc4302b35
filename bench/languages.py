"""Search and prompts in many languages, over all of them in one store: natural questions, and small talk.

.venv/bin/python -m bench.languages [--data FILE] [--english NUMBER] [--embedder NAME]

`first` is how many questions bring the fact first that they ask for, `found` how many have it among ten hits
that count as known, `told` how many get it with a prompt. Of small talk, `hits` is how many facts come with
it on average, `known` how often it is answered as known, `lines` how often a prompt gets a line. `--english`
adds so many English facts.
"""

import argparse
import json
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

from bench import generate_corpus, local_engine

DATA = Path(__file__).parent / "data" / "languages.json"
BATCH_SIZE = 500
COLUMNS = ("asked", "first", "found", "told", "talks", "hits", "known", "lines")


class Row(NamedTuple):
    """What the questions and the small talk of a language brought, in numbers of them; ``hits`` in facts."""

    asked: int
    first: int
    found: int
    told: int
    talks: int
    hits: int
    known: int
    lines: int


def main() -> None:
    parser = argparse.ArgumentParser(description="Search in many languages.")
    parser.add_argument("--data", type=Path, default=DATA, help="languages with facts, questions and talk")
    parser.add_argument("--english", type=int, default=0, help="so many English facts beside them")
    parser.add_argument("--embedder", default="minilm", help="DAY1_EMBEDDER")
    options = parser.parse_args()
    languages = json.loads(options.data.read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as folder:
        others = list_english(options.english)
        local_engine.set_up(Path(folder), options.embedder)
        report(measure(local_engine.local(), languages, others))


def list_english(number: int) -> list[str]:
    """Return so many short texts of the generated corpus."""
    samples = range(1, 2 * generate_corpus.SAMPLES + 1)
    lines = [line for one in samples for line in generate_corpus.write_sample(1, one, False)]
    texts = dict.fromkeys(line["text"] for line in lines if len(line.get("text", " " * 200)) < 200)
    return list(texts)[:number]


def measure(actor: Any, languages: dict[str, Any], others: list[str]) -> dict[str, Row]:
    from memory.engines.embedding.engine import EmbeddingEngine
    from memory.engines.facts.engine import FactEngine

    texts = others + [text for language in languages.values() for text in language["facts"]]
    FactEngine().write_facts(facts=[{"fact_text": text} for text in texts], actor=actor)
    while EmbeddingEngine().embed_pending(actor.project_id, BATCH_SIZE):
        pass
    return {name: measure_language(actor, language) for name, language in languages.items()}


def measure_language(actor: Any, language: dict[str, list[str]]) -> Row:
    from memory.engines.search.engine import SearchEngine

    pairs = list(zip(language["questions"], language["facts"], strict=True))
    answers = [(SearchEngine().search(query=text, actor=actor), fact) for text, fact in pairs]
    texts = [([hit.fact.fact_text for hit in found.hits], fact, found.known) for found, fact in answers]
    talks = [SearchEngine().search(query=text, actor=actor) for text in language["talk"]]
    return Row(
        asked=len(pairs),
        first=sum(hits[:1] == [fact] for hits, fact, _ in texts),
        found=sum(known and fact in hits for hits, fact, known in texts),
        told=sum(fact[:40] in recall(actor, text) for text, fact in pairs),
        talks=len(talks),
        hits=sum(len(found.hits) for found in talks),
        known=sum(found.known for found in talks),
        lines=sum(bool(recall(actor, text)) for text in language["talk"]),
    )


def recall(actor: Any, prompt: str) -> str:
    """Return what comes with a prompt in a new session."""
    from django.utils import timezone

    from conversations.engines.prompt_recall import prepare_query, recall_for_prompt
    from memory.engines.versions.lookup import find_branch
    from memory.models import Session

    session = Session(project_id=actor.project_id, key="bench", project_path="git.example.org/bench")
    lineage = find_branch(actor, "main").lineage()
    question = prepare_query(prompt, actor.project_id).result()
    return recall_for_prompt(question, session, lineage, timezone.now(), ()).text


def report(rows: dict[str, Row]) -> None:
    print(f"{'':12}" + "".join(f"{name:>8}" for name in COLUMNS))
    total = Row(*(sum(values) for values in zip(*rows.values(), strict=True)))
    for name, row in {**rows, "all": total}.items():
        counts = row._replace(hits=round(row.hits / max(row.talks, 1), 1))
        print(f"{name:12}" + "".join(f"{value:>8}" for value in counts))


if __name__ == "__main__":
    main()
