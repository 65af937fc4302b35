"""Recall before and after dreaming: the questions of a corpus, asked of the same branches twice.

A reflection counts as a wrong answer, so that the figures show what it pushes off a page;
"quoted" counts the turns of which it has an excerpt.

.venv/bin/python -m bench.dreaming --data FILE … [--recipe NAME] [--cohesion NUMBER …]
"""

import argparse
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from bench import corpora, ranking_metrics, retrieval
from bench.locomo import Conversation
from bench.store_clients import EngineStore

MAX_RUNS = 20  # of a branch; each proposes a bounded number of reflections


class Evidence(dict[str, str]):
    """The turn of each fact; a fact that is no turn is a reflection."""

    def __missing__(self, uid: str) -> str:
        return f"reflection {uid}"


def main() -> None:
    options = arguments()
    conversations = corpora.read_corpus(options.data, options.format)
    with tempfile.TemporaryDirectory(prefix="day1-bench-", ignore_cleanup_errors=True) as folder:
        store = EngineStore(Path(folder), options.embedder)
        for cohesion in options.cohesion:
            copies = [replace(one, sample=f"{one.sample}-{cohesion}") for one in conversations]
            measure_cohesion(store, copies, cohesion, options.recipe)


def measure_cohesion(
    store: EngineStore, conversations: Sequence[Conversation], cohesion: float, recipe: str
) -> None:
    """Ask all questions of branches of their own, dream on these, and ask again."""
    print(f"\ncohesion {cohesion}")
    ids = Evidence(retrieval.load(store, conversations))
    retrieval.wait_until_embedded(store)
    before = retrieval.ask_all(store, recipe, conversations, ids)
    quoted: dict[str, set[str]] = {}
    for conversation in conversations:
        quoted |= dream_branch(store.actor, conversation, cohesion)
    retrieval.wait_until_embedded(store)
    after = retrieval.ask_all(store, recipe, conversations, ids)
    report(before, after)
    questions = [one for conversation in conversations for one in conversation.questions]
    for k in (1, 5, 10):
        found = [
            [
                credit_quotes(ranked[:k], set(q.evidence), quoted)
                for ranked, q in zip(run.ranked, questions, strict=True)
            ]
            for run in (before, after)
        ]
        print(describe_measure(f"R@{k} quoted", *found))


def credit_quotes(ranked: Sequence[str], evidence: set[str], quoted: Mapping[str, set[str]]) -> float:
    """Return the share of the evidence that the hits are, or that reflections among them quote."""
    found = set(ranked).union(*(quoted.get(one, set()) for one in ranked))
    return len(evidence & found) / len(evidence)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Recall before and after dreaming.")
    parser.add_argument("--data", type=Path, required=True, nargs="+", help="files; they are only read")
    parser.add_argument("--format", choices=sorted(corpora.FORMATS), default="locomo")
    parser.add_argument("--embedder", default="minilm")
    parser.add_argument("--recipe", default="default")
    parser.add_argument("--cohesion", type=float, nargs="+", default=[0.9])
    return parser.parse_args()


def dream_branch(actor: Any, conversation: Conversation, cohesion: float) -> dict[str, set[str]]:
    """Dream and merge until nothing new is proposed; return the turns that each reflection quotes."""
    from curation.engines.dreaming.engine import DreamEngine
    from curation.engines.dreaming.reflections import MAX_EXCERPT, cut_line
    from curation.engines.dreaming.rules import DreamRules
    from memory.engines.merging.requests import MergeRequestEngine

    branch, requests = conversation.branch, MergeRequestEngine()
    lines = {
        turn.dia_id: cut_line(turn.fact(conversation.sample)["fact_text"], MAX_EXCERPT)
        for turn in conversation.turns
    }
    quoted: dict[str, set[str]] = {}
    for _ in range(MAX_RUNS):
        found = DreamEngine().consolidate(
            actor=actor, branch_name=branch, rules=DreamRules(cohesion=cohesion)
        )
        run = found.run
        print(f"{branch}: read {run.observations}, proposes {run.created} reflections. {run.note}")
        if not run.created:
            break
        for one in found.changes:
            said = set(one.fact.fact_text.replace("\n- ", "\n").split("\n"))
            quoted[f"reflection {one.fact.uid}"] = {turn for turn, line in lines.items() if line in said}
        request = requests.get_request(request_id=run.merge_request or 0, actor=actor)
        requests.merge_request(request_id=request.pk, actor=actor, force=True)
    return quoted


def report(before: retrieval.Run, after: retrieval.Run) -> None:
    """Print both means and the paired test for each measure."""
    shown = sum(any(one.startswith("reflection") for one in ranked[:10]) for ranked in after.ranked)
    print(f"questions {len(before.scores)}; with a reflection among the first ten after: {shown}")
    for name in ranking_metrics.NAMES:
        print(describe_measure(name, [s[name] for s in before.scores], [s[name] for s in after.scores]))


def describe_measure(name: str, before: Sequence[float], after: Sequence[float]) -> str:
    found = ranking_metrics.compare(before, after)
    means = f"{sum(before) / len(before):.4f} -> {sum(after) / len(after):.4f}"
    interval = f"{found['gain']:+.4f} [{found['low']:+.4f}, {found['high']:+.4f}]"
    return f"{name:<12}{means}  {interval}  p = {found['p']:.4f}"


if __name__ == "__main__":
    main()
