"""Builder of the store for MatrixOne: one project of each size, written through the engines."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from bench import local_engine
from bench.corpus import Vocabulary, edited
from bench.store_builder import BATCH, CHILD, CHILD_CHANGES, DIMENSIONS, MODEL, SEED

TEXTS_OF_A_CHUNK = 500


def build_actor(size: int) -> Any:
    """Return an actor in the project with so many facts; create and fill it when it is missing."""
    from memory.models import Branch

    actor = local_engine.local(f"bench-{size}")
    head = Branch.objects.get(project=actor.project_id, name="main").head
    if head < size // BATCH:
        Builder(actor, size).write(head)
    return actor


class Builder:
    """Resumable builder: a commit has the same texts in every run."""

    def __init__(self, actor: Any, size: int) -> None:
        self.actor, self.size = actor, size
        self.words = Vocabulary(np.random.default_rng(SEED))
        self.texts = list(self.words.texts(size))

    def write(self, head: int) -> None:
        from memory.engines.facts.engine import FactEngine

        for start in range(head * BATCH, self.size, BATCH):
            batch = self.texts[start : start + BATCH]
            FactEngine().write_facts(facts=[fact(t, i) for i, t in enumerate(batch, start)], actor=self.actor)
            self._vectors(batch)
        self._child()

    def _vectors(self, texts: Sequence[str]) -> None:
        """Store one random vector for each text, as an embedder would."""
        from django.db import transaction
        from django.utils import timezone

        from memory.db.bulk_sql import insert_all
        from memory.engines.embedding.worker import advance_clock
        from memory.models import Vector
        from memory.models.hashes import content_hash
        from memory.models.vectors import vector_slot

        project, rows = self.actor.project_id, self.words.unit(len(texts), DIMENSIONS)
        with transaction.atomic():
            n = advance_clock(project, MODEL)
            made = [
                Vector(
                    slot=vector_slot(project, MODEL, content_hash(text)),
                    project_id=project,
                    model=MODEL,
                    content_hash=content_hash(text),
                    n=n,
                    state="ready",
                    next_try=timezone.now(),
                    data=row,
                )
                for text, row in zip(texts, rows, strict=True)
            ]
            for batch in chunks(made):
                insert_all(batch, ignore_conflicts=True)

    def _child(self) -> None:
        """Create a branch with changes of its own: 7 of 10 edits, 2 new facts, 1 deletion."""
        from memory.engines.branches.manager import BranchManager
        from memory.engines.versions.commits import open_commit
        from memory.models import Fact

        BranchManager().create_branch(name=CHILD, actor=self.actor)
        with open_commit(self.actor, CHILD, "bench") as commit:
            old = commit.visible_rows(Fact).newest(CHILD_CHANGES * 8 // 10)
            for number, row in enumerate(old):
                if number % 8:
                    commit.change_row(row, fact_text=edited(row.fact_text, 1))
                else:
                    commit.remove_row(row)
        new = [fact(f"childo {text}", i) for i, text in enumerate(self.texts[: CHILD_CHANGES // 5])]
        from memory.engines.facts.engine import FactEngine

        FactEngine().write_facts(facts=new, actor=self.actor, branch_name=CHILD)


def fact(text: str, number: int) -> dict[str, Any]:
    common = ("general", "decision", "pattern", "bug_fix", "architecture", "insight")
    return {
        "fact_text": text,
        "category": "security" if number % 100 == 0 else common[number % 6],
        "confidence": 0.4 + number % 60 / 100,
        "tags": [f"t{number % 10}"],
    }


def chunks(rows: Sequence[Any]) -> Iterator[Sequence[Any]]:
    return (rows[at : at + TEXTS_OF_A_CHUNK] for at in range(0, len(rows), TEXTS_OF_A_CHUNK))
