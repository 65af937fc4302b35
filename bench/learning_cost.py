"""What learning behind a prompt costs, where a repository has many decisions: processor time a prompt.

.venv/bin/python -m bench.learning_cost [--decisions 5000] [--folder DIR] [--profile]

A repository gets generated decisions of an earlier session. Then one session brings 40 prompts, each with an
answer; half of them lay something down. Behind each the task that learns runs, and the one that embeds. Four
prompts before them load the model and fill the caches.
"""

import argparse
import cProfile
import pstats
import random
import shutil
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench.decisions import ask, event, start
from bench.local_engine import local, set_up

BOUND_MS, WARM, PROMPTS, BATCH = 50, 4, 40, 500
NOUNS = (
    "ledger billing gateway frontend search indexer importer exporter mailer scheduler reporting auth "
    "session cache queue uploads webhook audit catalog pricing checkout refunds tax invoices courier maps"
).split()
KINDS = (
    "nightly weekly staging production legacy beta internal public partner mobile streaming archive".split()
)
CHOICES = (
    "postgres mysql redis kafka rabbit parquet avro json yaml toml s3 minio nats grpc rest graphql".split()
)
RULES = (
    "The {kind} {noun} {at} keeps its data in {choice} for the {other} jobs",
    "The {kind} {noun} {at} times out after {number} seconds in the {other} runs",
    "Never call {choice} directly from {kind} {noun} {at} code",
    "Use {choice} as the format of the {kind} {noun} {at}, not {instead}",
    "The {choice} team owns the {kind} {noun} {at} in {other}",
    "The {kind} {noun} {at} retries {number} times before the {other} alarm",
)
NEW = (
    "From now on the {kind} {noun} keeps its data in {choice}.",
    "The {kind} {noun} times out after {number} seconds now.",
    "Never call {choice} directly from the {kind} {noun}.",
    "Use {choice}, not {instead}, for the {kind} {noun}.",
    "We decided that the {noun} retries {number} times before the {kind} alarm.",
)
IDLE = (
    "can you have a look at why the {kind} {noun} tests are slow?",
    "fix the failing test in the {noun} please, and add a note to the README",
    "ok run the tests",
    "thanks, commit that",
    "what does the {noun} do with {choice} at the moment?",
)


def fill(template: str, draw: random.Random, at: int = 0) -> str:
    choice, instead = draw.sample(CHOICES, 2)
    kind, other = draw.sample(KINDS, 2)
    values = {"noun": draw.choice(NOUNS), "number": draw.randint(2, 900), "at": at}
    return template.format(choice=choice, instead=instead, kind=kind, other=other, **values)


def build_store(actor: Any, count: int) -> None:
    """Write the decisions of one earlier session."""
    from memory.engines.embedding.engine import EmbeddingEngine
    from memory.engines.facts.engine import FactEngine

    draw = random.Random(count)
    ask(actor, start({"id": "earlier", "repository": "big"}, "earlier"))
    for first in range(0, count, BATCH):
        texts = (fill(draw.choice(RULES), draw, at) for at in range(first, min(first + BATCH, count)))
        facts = [{"fact_text": text, "category": "decision", "session_id": "earlier"} for text in texts]
        FactEngine().write_facts(facts=facts, actor=actor)
    while EmbeddingEngine().embed_pending(actor.project_id):
        pass


def play(actor: Any, profile: cProfile.Profile | None) -> Iterator[tuple[bool, float, float]]:
    """Yield for each prompt whether it lays something down, and what learning and embedding take."""
    from conversations.capture.engine import IngestEngine
    from memory.engines.embedding.engine import EmbeddingEngine
    from memory.engines.sessions.learning import learn_running
    from memory.models import Session

    draw, session = random.Random(7), {"id": "now", "repository": "big"}
    ask(actor, start(session, "now"))
    row = Session.objects.get(key="now")
    for number in range(PROMPTS + WARM):
        is_new, key = number % 2 == 0, f"now-{number}"
        text = fill(draw.choice(NEW if is_new else IDLE), draw)
        for name, fields in (
            ("UserPromptSubmit", {"prompt": text}),
            ("Stop", {"last_assistant_message": "Done."}),
        ):
            one = event(session, "now", name, prompt_id=key, **fields)
            IngestEngine().ingest(events=[one], actor=actor, client="claude-code")
        began = time.process_time()
        if profile and number >= WARM:
            profile.enable()
        learned = learn_running(row.pk)
        learning = time.process_time() - began
        while EmbeddingEngine().embed_pending(actor.project_id):
            pass
        if profile:
            profile.disable()
        if number >= WARM:
            yield bool(learned), learning * 1000, (time.process_time() - began) * 1000


def report(rows: list[tuple[bool, float, float]]) -> None:
    for is_new, name in ((True, "that teaches something"), (False, "that teaches nothing")):
        own = [row for row in rows if row[0] is is_new]
        learning, whole = ([row[at] for row in own] for at in (1, 2))
        print(
            f"a prompt {name} ({len(own)}): learning mean {statistics.mean(learning):.0f} ms, "
            f"with vectors mean {statistics.mean(whole):.0f}, median {statistics.median(whole):.0f}, "
            f"most {max(whole):.0f} ms"
        )
    print(f"all: mean {statistics.mean(row[2] for row in rows):.0f} ms (at most {BOUND_MS})")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--decisions", type=int, default=5000)
    parser.add_argument(
        "--folder", type=Path, help="keep the store of the earlier decisions here, and use it again"
    )
    parser.add_argument("--profile", action="store_true")
    parser.add_argument("--embedder", default="minilm")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        kept = chosen.folder
        if kept and kept.exists():
            shutil.copytree(kept, folder, dirs_exist_ok=True)
        set_up(Path(folder), chosen.embedder)
        actor = local()
        if not (kept and kept.exists()):
            build_store(actor, chosen.decisions)
            if kept:
                shutil.copytree(folder, kept)
        profile = cProfile.Profile() if chosen.profile else None
        report(list(play(actor, profile)))
        if profile:
            pstats.Stats(profile).sort_stats("cumulative").print_stats(60)


if __name__ == "__main__":
    main()
