"""Retrieval quality: the questions of a corpus, against a running server or the engines.

.venv/bin/python -m bench.retrieval --data FILE … [--format NAME] [--as messages] [--recipe NAME …] [--engine]
"""

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from bench import corpora, locomo, ranking_metrics
from bench.server import Client, serving
from bench.store_clients import EngineStore, MessageStore, RestMessageStore, RestStore, Store

BASELINES = ("vector", "keyword")  # search types: a single arm
TIMEOUT_SECONDS = 900  # seconds without progress


@dataclass
class Run:
    """Answers to every question under one recipe, or from a single arm."""

    name: str
    scores: list[dict[str, float]] = field(default_factory=list)
    took: list[float] = field(default_factory=list)
    ranked: list[list[str]] = field(default_factory=list)


def main() -> None:
    options = arguments()
    try:
        conversations = corpora.read_corpus(options.data, options.format)
    except corpora.NotACorpus as error:
        raise SystemExit(str(error)) from None
    questions = [question for conversation in conversations for question in conversation.questions]
    turns = sum(len(conversation.turns) for conversation in conversations)
    print(f"{len(conversations)} conversations, {turns} turns, {len(questions)} questions")
    with opened(options) as store:
        ids = load(store, conversations)
        wait_until_embedded(store)
        runs = [ask_all(store, name, conversations, ids) for name in (*options.recipe, *BASELINES)]
    report(runs, questions, corpora.list_categories(options.format))
    if options.per_question:
        write_each(options.per_question, runs, conversations)
    if options.json:
        options.json.write_text(json.dumps(summary(runs, questions), indent=2) + "\n")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Recall on a corpus, through the REST API.")
    parser.add_argument("--data", type=Path, required=True, nargs="+", help="files; they are only read")
    parser.add_argument("--format", choices=sorted(corpora.FORMATS), default="locomo")
    parser.add_argument("--url", help="a server that runs already, with --key; else one is started")
    parser.add_argument("--key")
    parser.add_argument("--embedder", default="minilm", help="of the server that is started (DAY1_EMBEDDER)")
    parser.add_argument("--engine", action="store_true", help="the engines in this process, without a server")
    parser.add_argument("--as", dest="kind", choices=["facts", "messages"], default="facts")
    parser.add_argument("--recipe", action="append", help="may be repeated; else default, hybrid and seed")
    parser.add_argument("--per-question", type=Path, metavar="FILE", help="one line of JSON for each answer")
    parser.add_argument("--json", type=Path, metavar="FILE", help="the means, for programs")
    options = parser.parse_args()
    if bool(options.url) != bool(options.key):
        parser.error("--url and --key go together")
    options.recipe = options.recipe or ["default", "hybrid", "seed"]
    return options


@contextmanager
def opened(options: argparse.Namespace) -> Iterator[Store]:
    as_messages = options.kind == "messages"
    over_rest = RestMessageStore if as_messages else RestStore
    if options.url:
        yield over_rest(Client(options.url, options.key))
        return
    with tempfile.TemporaryDirectory(prefix="day1-bench-", ignore_cleanup_errors=True) as folder:
        if options.engine:
            yield (MessageStore if as_messages else EngineStore)(Path(folder))
            return
        with serving(Path(folder), options.embedder) as running:
            yield over_rest(running.client())


# ---- the run ---------------------------------------------------------------------------------------


def load(store: Store, conversations: Sequence[locomo.Conversation]) -> dict[str, str]:
    """Store every turn as a fact; return the turns' dia_ids by fact id."""
    started, ids = time.monotonic(), {}
    for conversation in conversations:
        ids |= store.load(conversation)
    seconds = time.monotonic() - started
    print(f"written in {seconds:.1f} s, {len(ids) / seconds:.0f} facts/s")
    return ids


def wait_until_embedded(store: Store) -> None:
    started = changed = time.monotonic()
    first = last = store.pending()
    while last:
        bar("embedding", first - last, first)
        time.sleep(0.05)
        left = store.pending()
        if left < last:
            changed = time.monotonic()
        elif time.monotonic() - changed > TIMEOUT_SECONDS:
            raise SystemExit(f"{left} texts are still not embedded, and nothing moves.")
        last = left
    bar("embedding", first, first)
    print(f"\nembedded in {time.monotonic() - started:.1f} s")


def ask_all(
    store: Store, name: str, conversations: Sequence[locomo.Conversation], ids: dict[str, str]
) -> Run:
    """Search for every question, under a recipe or with a single arm."""
    run, total = Run(name), sum(len(conversation.questions) for conversation in conversations)
    # "hybrid" adds nothing to an arm: no matching of single words, no answer boost.
    recipe, search_type = ("hybrid", name) if name in BASELINES else (name, "hybrid")
    for conversation in conversations:
        for question in conversation.questions:
            found, took = store.search(conversation.branch, question.text, recipe, search_type)
            ranked = [ids[one] for one in found]
            run.scores.append(ranking_metrics.of_ranking(ranked, question.evidence))
            run.took.append(took)
            run.ranked.append(ranked)
            bar(name, len(run.took), total)
    print()
    return run


def bar(label: str, done: int, total: int) -> None:
    if sys.stdout.isatty():
        width = 30 * done // max(total, 1)
        print(f"\r{label:<12} {'█' * width}{'·' * (30 - width)} {done}/{total}", end="", flush=True)


# ---- the report ------------------------------------------------------------------------------------


def report(runs: Sequence[Run], questions: Sequence[locomo.Question], categories: Mapping[int, str]) -> None:
    table("all questions", runs, range(len(questions)))
    for number, label in categories.items():
        places = [at for at, question in enumerate(questions) if question.category == number]
        if places:
            table(f"category {number}, {label} ({len(places)})", runs, places)
    compared(runs)


def table(title: str, runs: Sequence[Run], places: Sequence[int]) -> None:
    heads = (*ranking_metrics.NAMES, "p50 ms", "p95 ms")
    print(f"\n{title}\n{'':<12}" + "".join(f"{name:>9}" for name in heads))
    for run in runs:
        scores = ranking_metrics.mean([run.scores[at] for at in places])
        took = np.percentile([run.took[at] for at in places], (50, 95))
        cells = [f"{scores[name]:>9.3f}" for name in ranking_metrics.NAMES] + [f"{ms:>9.1f}" for ms in took]
        print(f"{run.name:<12}{''.join(cells)}")


def compared(runs: Sequence[Run]) -> None:
    print("\npaired over questions: gain of the first over the second, 95 % interval, p")
    for a, b in combinations(runs, 2):
        for name in ("R@10", "nDCG@10"):
            found = ranking_metrics.compare([s[name] for s in b.scores], [s[name] for s in a.scores])
            print(
                f"{a.name + ' − ' + b.name:<22} {name:<8} {found['gain']:+.3f}"
                f"  [{found['low']:+.3f}, {found['high']:+.3f}]  p = {found['p']:.4f}"
            )


def summary(runs: Sequence[Run], questions: Sequence[locomo.Question]) -> dict[str, Any]:
    took = {run.name: np.percentile(run.took, (50, 95)).round(2).tolist() for run in runs}
    return {
        "questions": len(questions),
        "runs": {run.name: ranking_metrics.mean(run.scores) | {"ms": took[run.name]} for run in runs},
    }


def write_each(path: Path, runs: Sequence[Run], conversations: Sequence[locomo.Conversation]) -> None:
    question = [(c.sample, number) for c in conversations for number in range(len(c.questions))]
    with path.open("w") as file:
        for run in runs:
            for (sample, number), ranked, scores in zip(question, run.ranked, run.scores, strict=True):
                row = {"run": run.name, "sample": sample, "question": number, "ranked": ranked, **scores}
                file.write(json.dumps(row) + "\n")


if __name__ == "__main__":
    main()
