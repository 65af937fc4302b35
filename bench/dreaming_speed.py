"""Time and memory of one run of dreaming over many observations, with made vectors.

.venv/bin/python -m bench.dreaming_speed [--facts 20000] [--group 4]

Every group of texts is alike, and alike with nothing else; no model embeds anything, so that the run alone is
measured: reading, grouping, writing, the merge request and its recall gate.
"""

import argparse
import resource
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from bench.local_engine import freeze_gc, local, set_up

BATCH_SIZE = 1000
WOBBLE = 0.02  # of a member around the middle of its group


def main() -> None:
    options = arguments()
    with tempfile.TemporaryDirectory(prefix="day1-bench-", ignore_cleanup_errors=True) as folder:
        set_up(Path(folder), "minilm")
        actor = local()
        write_facts(actor, options.facts, options.group)
        freeze_gc()
        from curation.engines.dreaming.engine import DreamEngine

        dry = measure("dry run", lambda: DreamEngine().consolidate(actor=actor, dry_run=True))
        report = measure("run", lambda: DreamEngine().consolidate(actor=actor))
        print(f"observations read: {report.run.observations}, reflections: {report.run.created}")
        print(f"note: {report.run.note}")
        assert dry.run.created == report.run.created
        print(f"peak memory, MiB: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024}")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Time and memory of one run of dreaming.")
    parser.add_argument("--facts", type=int, default=20_000)
    parser.add_argument("--group", type=int, default=4, help="observations that are alike")
    return parser.parse_args()


def measure(name: str, run: Callable[[], Any]) -> Any:
    began, busy = time.perf_counter(), time.process_time()
    found = run()
    print(f"{name}: {time.perf_counter() - began:.1f} s, {time.process_time() - busy:.1f} s of the processor")
    return found


def write_facts(actor: Any, count: int, group: int) -> None:
    """Write facts, each with a vector near that of its group."""
    from memory.engines.embedding.engine import model_in_force
    from memory.engines.facts.engine import FactEngine

    rng = np.random.default_rng(17)
    middles = rng.normal(size=(count // group + 1, 384)).astype("f4")
    for start in range(0, count, BATCH_SIZE):
        numbers = range(start, min(start + BATCH_SIZE, count))
        texts = [
            f"The {spell(number // group)} of the shop is told of by {spell(number)}." for number in numbers
        ]
        FactEngine().write_facts(facts=[{"fact_text": text} for text in texts], actor=actor)
        vectors = [middles[number // group] + WOBBLE * rng.normal(size=384) for number in numbers]
        store_vectors(actor, str(model_in_force()), texts, vectors)


def spell(number: int) -> str:
    """Return a number as letters: texts with other numbers would say otherwise."""
    return "".join(chr(ord("a") + int(digit)) for digit in str(number)) + "x"


def store_vectors(actor: Any, model: str, texts: list[str], vectors: list[np.ndarray]) -> None:
    from memory.models import Vector
    from memory.models.hashes import content_hash
    from memory.models.vectors import vector_slot

    for text, vector in zip(texts, vectors, strict=True):
        value = content_hash(text)
        unit = (vector / np.linalg.norm(vector)).astype("f4")
        Vector.objects.filter(slot=vector_slot(actor.project_id, model, value)).update(
            data=unit, state="ready"
        )


if __name__ == "__main__":
    main()
