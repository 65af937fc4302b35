"""Source branches to merge: each with 500 edits, 400 new facts and 100 deletions, of facts of its own."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from bench.corpus import Vocabulary
from bench.store_builder import DIMENSIONS, MODEL, SEED, compute_essence

EDITS, NEW, DELETED = 500, 400, 100
CHANGES = EDITS + NEW + DELETED
COMMITS = 10
NEAR = 10  # of the new facts, nearly equal to one of the target
NEAR_COSINE = 0.9


class Sources:
    def __init__(self, actor: Any) -> None:
        from memory.engines.versions.lookup import find_branch
        from memory.models import Fact

        self.actor, self.rng = actor, np.random.default_rng(SEED + 2)
        self.words = Vocabulary(np.random.default_rng(SEED))  # the store's vocabulary, for new texts
        self.words.rng = self.rng
        own = Fact._base_manager.filter(
            branch=find_branch(actor, "main"), slot__isnull=False, status="active"
        )
        self.uids = list(own.values_list("uid", flat=True))
        self.rng.shuffle(self.uids)

    def make(self, number: int) -> str:
        """Create a source branch with its changes and their vectors; return its name."""
        from memory.engines.branches.manager import BranchManager

        name = f"task/source-{number}"
        BranchManager().create_branch(name=name, actor=self.actor)
        touched = [self.uids.pop() for _ in range(EDITS + DELETED)]
        texts = list(self.words.texts(EDITS + NEW))
        for part in range(COMMITS):
            chosen, written = touched[part::COMMITS], texts[part::COMMITS]
            self._commit(name, chosen, written)
        self._embed(texts)
        return name

    def _commit(self, name: str, uids: Sequence[Any], texts: Sequence[str]) -> None:
        from memory.engines.versions.commits import open_commit
        from memory.models import Fact

        edits = EDITS // COMMITS
        with open_commit(self.actor, name, "fact.bulk") as commit:
            rows = commit.visible_rows(Fact).filter(uid__in=uids).fetch_all()
            pairs = zip(rows[:edits], texts[:edits], strict=True)
            commit.add_versions([(row, content(text, row.category), False) for row, text in pairs])
            commit.add_versions([(row, {}, True) for row in rows[edits:]])
            commit.add_rows([Fact(**content(text, "general")) for text in texts[edits:]])

    def _embed(self, texts: Sequence[str]) -> None:
        """Store ready vectors as the worker would; the last ones are near to vectors of the target."""
        from django.db import transaction
        from django.db.models import F

        from memory.models import Vector, VectorClock

        with transaction.atomic():
            VectorClock.objects.filter(project_id=self.actor.project_id).update(n=F("n") + 1)
            n = VectorClock.objects.get(project_id=self.actor.project_id).n
            Vector.objects.bulk_create(self._vectors(texts, n), batch_size=500)

    def _vectors(self, texts: Sequence[str], n: int) -> Iterator[Any]:
        from django.utils import timezone

        from memory.models import Vector, hashes
        from memory.models.vectors import vector_slot

        rows = self.words.unit(len(texts), DIMENSIONS)
        rows[-NEAR:] = self._near(rows[-NEAR:])
        for text, data in zip(texts, rows, strict=True):
            value = hashes.content_hash(text)
            slot = vector_slot(self.actor.project_id, MODEL, value)
            known = {"slot": slot, "project_id": self.actor.project_id, "model": MODEL, "content_hash": value}
            yield Vector(**known, n=n, state="ready", next_try=timezone.now(), data=data)

    def _near(self, rows: np.ndarray) -> np.ndarray:
        """Turn vectors towards those of facts that the target has and the source leaves alone."""
        from memory.models import Fact, Vector

        uids = [self.uids.pop() for _ in rows]
        hashes = Fact._base_manager.filter(uid__in=uids, slot__isnull=False).values_list(
            "content_hash", flat=True
        )
        known = np.stack(
            list(Vector.objects.filter(content_hash__in=list(hashes)).values_list("data", flat=True))
        )
        beside = rows - (rows * known).sum(axis=1, keepdims=True) * known
        beside /= np.linalg.norm(beside, axis=1, keepdims=True)
        return NEAR_COSINE * known + np.sqrt(1 - NEAR_COSINE**2) * beside


def content(text: str, category: str) -> dict[str, str]:
    """Return the columns that derive from a fact's text."""
    from memory.models import hashes

    essence = compute_essence(text)
    return {
        "fact_text": text,
        "essence": essence,
        "category": category,
        "content_hash": hashes.content_hash(text),
        "norm_hash": hashes.norm_hash(text),
        "judged_hash": hashes.judged_hash(text, essence, category),
    }
