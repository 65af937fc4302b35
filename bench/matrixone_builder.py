"""The store that is measured on MatrixOne: one project of each size, written through the engines."""

from collections.abc import Iterator, Sequence
from typing import Any

import inprocess
import numpy as np
from building import BATCH, CHILD, DIMENSIONS, MODEL, OWN, SEED
from synthetic import Vocabulary, edited

TEXTS_OF_A_CHUNK = 500


def actor_of(size: int) -> Any:
    """An actor in the project that holds so many facts; made and filled when it is missing."""
    from memory.models import Branch

    actor = inprocess.local(f"bench-{size}")
    head = Branch.objects.get(project=actor.project_id, name="main").head
    if head < size // BATCH:
        Builder(actor, size).write(head)
    return actor


class Builder:
    """Goes on where it was stopped: a commit holds the same texts in every run."""

    def __init__(self, actor: Any, size: int) -> None:
        self.actor, self.size = actor, size
        self.words = Vocabulary(np.random.default_rng(SEED))
        self.texts = list(self.words.texts(size))

    def write(self, head: int) -> None:
        from memory.engines.facts import FactEngine

        for start in range(head * BATCH, self.size, BATCH):
            some = self.texts[start : start + BATCH]
            FactEngine().write_facts(facts=[fact(t, i) for i, t in enumerate(some, start)], actor=self.actor)
            self._vectors(some)
        self._child()

    def _vectors(self, texts: Sequence[str]) -> None:
        """One random direction for each text, as an embedder would store them."""
        from django.db import transaction
        from django.utils import timezone

        from memory.db.bulk import insert_all
        from memory.engines.embedding_run import tick
        from memory.models import Vector
        from memory.models.hashes import content_hash
        from memory.models.vectors import vector_slot

        project, rows = self.actor.project_id, self.words.unit(len(texts), DIMENSIONS)
        with transaction.atomic():
            n = tick(project)
            made = [
                Vector(
                    slot=vector_slot(project, MODEL, content_hash(text)), project_id=project, model=MODEL,
                    content_hash=content_hash(text), n=n, state="ready", next_try=timezone.now(), data=row,
                )
                for text, row in zip(texts, rows, strict=True)
            ]  # fmt: skip
            for some in chunks(made):
                insert_all(some, ignore_conflicts=True)

    def _child(self) -> None:
        """A branch with changes of its own: 7 of 10 edits, 2 new facts, 1 deletion."""
        from memory.engines.branches import BranchManager
        from memory.engines.commits import committing
        from memory.models import Fact

        BranchManager().create_branch(name=CHILD, actor=self.actor)
        with committing(self.actor, CHILD, "bench") as commit:
            old = commit.visible(Fact).newest(OWN * 8 // 10)
            for number, row in enumerate(old):
                if number % 8:
                    commit.change(row, fact_text=edited(row.fact_text, 1))
                else:
                    commit.remove(row)
        new = [fact(f"childo {text}", i) for i, text in enumerate(self.texts[: OWN // 5])]
        from memory.engines.facts import FactEngine

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
