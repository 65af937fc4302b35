"""Train the learned mix of the signals of search, and measure it on the corpora that it was not trained on.

.venv/bin/python -m bench.train_ranking collect --format locomo --data locomo_dev.json --out locomo.npz
uv run --no-project --with lightgbm,numpy,scipy python -m bench.train_ranking fit *.npz [--write]

``collect`` asks a corpus's questions of the engines in this process and keeps the signals of the candidates;
``--keep FOLDER`` keeps the store, with its vectors, for the next run. ``fit`` needs LightGBM, which is no
part of the project: LambdaMART (Burges, From RankNet to LambdaRank to LambdaMART, 2010), trees that may only
rise with a signal, beginning at the weighted sum, with answers and named speakers in it. Its report leaves
out one corpus in turn.
"""

import argparse
import json
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from bench import corpora, ranking_metrics
from memory.ranking_mix import MIX_FILE, SIGNALS, Mix, build_mix, start_ranking

BASE_WEIGHT, SPEAKER_SHARE = 20.0, 0.15
WINDOW_WEIGHT, LENGTH_WEIGHT = 15.0, 0.5  # beside the trees, which do not see them
COLUMNS = (*SIGNALS, "window", "brevity")
TREES, LEAVES, RATE, MIN_ROWS = 100, 10, 0.04, 60
DIGITS = 5  # of a limit and of a leaf
FIRST, TENTH = 0.95, 0.72  # what the weights alone give the first and the tenth hit, in the middle
PARAMETERS = {
    "objective": "lambdarank",
    "monotone_constraints": [1] * len(SIGNALS),
    "monotone_constraints_method": "intermediate",
    "num_leaves": LEAVES,
    "max_depth": 6,
    "learning_rate": RATE,
    "min_data_in_leaf": MIN_ROWS,
    "lambda_l2": 1.0,
    "lambdarank_truncation_level": 20,
    "label_gain": [0, 1],
    "deterministic": True,
    "num_threads": 1,
    "seed": 7,
    "verbose": -1,
}


@dataclass(frozen=True)
class Asked:
    """Candidates of a question, in the order of their ids, and how many turns are its evidence."""

    signals: np.ndarray
    relevant: np.ndarray
    evidence: int
    mixed: bool  # whether the words of the question were matched, without which there is no mix


def main() -> None:
    options = arguments()
    if options.command == "collect":
        collect(options)
    else:
        fit(options)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Train and measure the learned mix.")
    commands = parser.add_subparsers(dest="command", required=True)
    collecting = commands.add_parser("collect", help="keep the signals of a corpus's candidates")
    collecting.add_argument("--data", type=Path, nargs="+", required=True)
    collecting.add_argument("--format", choices=sorted(corpora.FORMATS), default="locomo")
    collecting.add_argument("--as", dest="kind", choices=["facts", "messages"], default="facts")
    collecting.add_argument("--keep", type=Path, metavar="FOLDER", help="the store, made when it is missing")
    collecting.add_argument("--pool", type=int, default=0, help="candidates of each arm, else the recipe's")
    collecting.add_argument("--out", type=Path, required=True)
    fitting = commands.add_parser("fit", help="train, and report each corpus left out in turn")
    fitting.add_argument("signals", type=Path, nargs="+", help="files of collect, a corpus each")
    fitting.add_argument("--test", type=Path, nargs="*", default=[], help="files to test instead, same names")
    fitting.add_argument("--write", type=Path, nargs="?", const=MIX_FILE, help="write the mix of all corpora")
    return parser.parse_args()


# ---- signals -----------------------------------------------------------------------------------------


def collect(options: argparse.Namespace) -> None:
    conversations = corpora.read_corpus(options.data, options.format)
    with nullcontext(options.keep) if options.keep else tempfile.TemporaryDirectory() as folder:
        store, ids = open_store(Path(folder), options.kind, conversations)
        asked = [
            ask_question(store, options, conversation.branch, question, ids)
            for conversation in conversations
            for question in conversation.questions
        ]
    save(options.out, asked)
    print(f"{len(asked)} questions, {np.mean([len(one.relevant) for one in asked]):.0f} candidates each")


def open_store(
    folder: Path, kind: str, conversations: Sequence[corpora.Conversation]
) -> tuple[Any, dict[str, str]]:
    """Open the store of a folder, filled and embedded; return the turns' ids by fact id as well."""
    from bench.store_clients import EngineStore, MessageStore

    store, known = (MessageStore if kind == "messages" else EngineStore)(folder), folder / "ids.json"
    if not known.exists():
        ids = {key: turn for conversation in conversations for key, turn in store.load(conversation).items()}
        known.write_text(json.dumps(ids))
    while store.pending():
        pass
    return store, json.loads(known.read_text())


def ask_question(
    store: Any, options: argparse.Namespace, branch: str, question: corpora.Question, ids: Mapping[str, str]
) -> Asked:
    rank = rank_messages if options.kind == "messages" else rank_facts
    hits = sorted(rank(store, branch, question.text, options.pool), key=lambda hit: hit.row.uid)
    rows = [[hit.signals.get(name, 0.0) for name in COLUMNS] for hit in hits]
    relevant = [ids[str(hit.row.uid)] in question.evidence for hit in hits]
    mixed = bool(hits) and "mix" in hits[0].signals
    for row, hit in zip(rows, hits, strict=True):
        row[SIGNALS.index("base")] = hit.signals.get("base", hit.score)
    matrix = np.array(rows, dtype=float).reshape(-1, len(COLUMNS))
    return Asked(matrix, np.array(relevant, dtype=bool), len(question.evidence), mixed)


def rank_facts(store: Any, branch: str, query: str, pool: int) -> Sequence[Any]:
    from memory.engines.search.candidates import build_query
    from memory.engines.search.ranked import parse_options, rank_candidates

    options = parse_options(store.actor, "hybrid", None, (), "timeless", None, None)
    options = replace(options, recipe=replace(options.recipe, pool=pool or options.recipe.pool))
    return rank_candidates([branch], build_query(query, store.actor.project_id), options, store.actor).hits


def rank_messages(store: Any, branch: str, query: str, pool: int) -> Sequence[Any]:
    from conversations.engines.threads import neighbours, walk_messages
    from conversations.models import Message
    from memory.engines.search.candidates import build_query
    from memory.engines.search.text_search import text_search
    from memory.engines.versions.lookup import find_branch

    rows = Message.objects.on(find_branch(store.actor, branch))
    search = text_search(
        rows,
        actor=store.actor,
        search_type="hybrid",
        recipe="timeless",
        neighbours=neighbours,
        walk=walk_messages,
    )
    return search.rank_rows(build_query(query, store.actor.project_id), pool or search.recipe.pool)[0]


def save(path: Path, asked: Sequence[Asked]) -> None:
    np.savez_compressed(
        path,
        signals=np.concatenate([one.signals for one in asked]),
        relevant=np.concatenate([one.relevant for one in asked]),
        counts=[len(one.relevant) for one in asked],
        evidence=[one.evidence for one in asked],
        mixed=[one.mixed for one in asked],
    )


def load(path: Path) -> list[Asked]:
    kept = np.load(path)
    ends = np.cumsum(kept["counts"])[:-1]
    parts = (
        np.split(kept["signals"], ends),
        np.split(kept["relevant"], ends),
        kept["evidence"],
        kept["mixed"],
    )
    return [Asked(*one) for one in zip(*parts, strict=True)]


# ---- training ----------------------------------------------------------------------------------------


def fit(options: argparse.Namespace) -> None:
    known = {path.stem: load(path) for path in options.signals}
    tested = {path.stem: load(path) for path in options.test} or known
    print(f"{'left out':<22}{'':>6}" + "".join(f"{name:>9}" for name in ranking_metrics.NAMES))
    for name, asked in tested.items():
        others = [one for other, batch in known.items() if other != name for one in batch]
        report(name, asked, build_mix(train(others)))
    if options.write:
        payload = train([one for batch in known.values() for one in batch])
        options.write.write_text(format_mix(payload), encoding="utf-8")
        print(f"{options.write}: {options.write.stat().st_size // 1024} KiB")
        for name, asked in known.items():
            report(f"{name}, trained on", asked, build_mix(payload))


def train(asked: Sequence[Asked]) -> dict[str, Any]:
    """Return the contents of a mix that ranks the evidence of these questions first."""
    import lightgbm

    useful = [one for one in asked if one.mixed and one.relevant.any()]
    rows = np.concatenate([one.signals[:, : len(SIGNALS)] for one in useful])
    data = lightgbm.Dataset(
        rows,
        np.concatenate([one.relevant for one in useful]).astype(int),
        group=[len(one.relevant) for one in useful],
        init_score=BASE_WEIGHT * start_ranking(rows, SPEAKER_SHARE),
    )
    trees = lightgbm.train(PARAMETERS, data, TREES).dump_model()["tree_info"]
    payload = {
        "about": "By bench/train_ranking.py. A tree is a number, or [signal, limit, up to it, above it].",
        "signals": list(SIGNALS),
        "base_weight": BASE_WEIGHT,
        "speaker_share": SPEAKER_SHARE,
        "window_weight": WINDOW_WEIGHT,
        "length_weight": LENGTH_WEIGHT,
        "scale": 1.0,
        "offset": 0.0,
        "trees": [read_tree(tree["tree_structure"]) for tree in trees],
    }
    return payload | calibrate(useful, build_mix(payload))


def read_tree(node: Mapping[str, Any]) -> Any:
    """Return a tree of LightGBM as the file has it."""
    if "leaf_value" in node:
        return round(node["leaf_value"], DIGITS)
    if node["decision_type"] != "<=":
        raise ValueError(f"a tree decides by {node['decision_type']}")
    lower, upper = read_tree(node["left_child"]), read_tree(node["right_child"])
    return [SIGNALS[node["split_feature"]], round(node["threshold"], DIGITS), lower, upper]


def calibrate(asked: Sequence[Asked], mix: Mix) -> dict[str, float]:
    """Return the scale and the offset that leave recency and boosts the influence they have on weights."""
    raw = [np.sort(add_up(one, mix))[::-1] for one in asked if len(one.relevant) >= 10]
    first, tenth = np.median([values[[0, 9]] for values in raw], axis=0)
    scale = (logit(FIRST) - logit(TENTH)) / (first - tenth)
    return {
        "scale": round(float(scale), DIGITS),
        "offset": round(float(logit(FIRST) - scale * first), DIGITS),
    }


def add_up(one: Asked, mix: Mix) -> np.ndarray:
    """Return what the mix adds up for each candidate, before it becomes a number between 0 and 1."""
    if not one.mixed:
        return weigh(one)
    return mix.weigh(dict(zip(COLUMNS, one.signals.T, strict=True)))


def logit(share: float) -> float:
    return float(np.log(share / (1 - share)))


def format_mix(payload: Mapping[str, Any]) -> str:
    """Return the file: a line for each number, and for each tree."""
    heads = [f"{json.dumps(name)}: {json.dumps(value)}" for name, value in payload.items() if name != "trees"]
    trees = ",\n".join(json.dumps(tree, separators=(",", ":")) for tree in payload["trees"])
    return "{\n" + ",\n".join([*heads, f'"trees": [\n{trees}\n]']) + "\n}\n"


# ---- the report --------------------------------------------------------------------------------------


def report(name: str, asked: Sequence[Asked], mix: Mix) -> None:
    plain = [rate(one, weigh(one)) for one in asked]
    mixed = [rate(one, add_up(one, mix)) for one in asked]
    for label, scores in (("weights", plain), ("mix", mixed)):
        means = ranking_metrics.mean(scores)
        print(f"{name:<20}{label:>8}" + "".join(f"{means[key]:>9.3f}" for key in ranking_metrics.NAMES))
    for key in ("R@10", "nDCG@10"):
        found = ranking_metrics.compare([one[key] for one in plain], [one[key] for one in mixed])
        interval = f"[{found['low']:+.3f}, {found['high']:+.3f}]"
        print(f"{'':<22}{key} {found['gain']:+.3f} {interval} p = {found['p']:.4f}")


def weigh(one: Asked) -> np.ndarray:
    """Return the score of the weights with the rule for answers."""
    scores: np.ndarray = one.signals[:, [SIGNALS.index("base"), SIGNALS.index("reply")]].max(axis=1)
    return scores


def rate(one: Asked, scores: np.ndarray) -> dict[str, float]:
    """Return the metrics of a ranking; evidence that is no candidate is missed."""
    order = np.argsort(-scores, kind="stable")[: max(ranking_metrics.CUTS)]
    ranked = [str(place) if one.relevant[place] else "" for place in order]
    found = {str(place) for place in np.flatnonzero(one.relevant)}
    return ranking_metrics.of_ranking(
        ranked, found | {f"missed {n}" for n in range(one.evidence - len(found))}
    )


if __name__ == "__main__":
    main()
