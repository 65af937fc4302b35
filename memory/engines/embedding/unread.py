"""Texts that the model in force cannot read: they have no vector, and their words alone find them."""

import logging
from collections.abc import Iterator, Sequence
from uuid import UUID

from django.db import transaction
from django.db.models import F

from memory.db.backend import get_index
from memory.db.querysets import Ranked, VersionedQuerySet
from memory.db.raw_select import select_equal
from memory.engines.embedding.worker import mark_unread
from memory.engines.support.batches import Progress, ignore_progress
from memory.engines.support.similarity import rate_words
from memory.engines.versions.pinned_versions import text_models
from memory.models import Branch, BranchedModel, Vector, VectorClock
from memory.models.vectors import vector_slots
from memory.providers.embedding import EmbeddingProvider
from memory.words import extract_keywords

log = logging.getLogger(__name__)

BATCH_SIZE = 500
State = Vector.State


def list_unread(project_id: UUID, model: str, hashes: Sequence[str]) -> set[str]:
    """Return those of the texts that the model cannot read, by their hashes."""
    slots = map(vector_slots(project_id, model), hashes)
    states = select_equal(Vector, ("content_hash", "state"), slot=slots)
    return {value for value, state in states if state == State.NONE}


def find_by_words(rows: VersionedQuerySet, text: str, k: int) -> Ranked:
    """Return rows that say nearly the same as a text in the same words, the most alike first."""
    hits = [rid for rid, _ in rows.match_words(extract_keywords(text), k)[0]]
    texts = select_equal(rows.model, ("rid", rows.model.TEXT), rid=hits)
    rated = [(rid, rate_words(text, other)) for rid, other in texts]
    return sorted([hit for hit in rated if hit[1]], key=lambda hit: (-hit[1], hit[0]))


def forget_unread(project_id: UUID, provider: EmbeddingProvider, tell: Progress = ignore_progress) -> int:
    """Take the vectors of texts that the model cannot read, which earlier releases made; return how many.

    May be stopped at any time and started again.
    """
    count = 0
    for done, slots in enumerate(walk_unread(project_id, provider), start=1):
        tell(done, done + 1)
        count += take_vectors(project_id, provider.model, slots)
    if count:
        log.info(
            "Project %s: %d vectors of texts that %s cannot read are gone", project_id, count, provider.model
        )
    return count


def walk_unread(project_id: UUID, provider: EmbeddingProvider) -> Iterator[list[str]]:
    """Yield the slots of texts that the model cannot read, in chunks of versions that were ever written."""
    slot = vector_slots(project_id, provider.model)
    branches = Branch.objects.filter(project=project_id).values_list("pk", flat=True)
    own = set(branches)
    for kind in text_models():
        for rows in walk_texts(kind):
            texts = {value: text for branch, value, text in rows if branch in own and not text.isascii()}
            yield [slot(value) for value, text in texts.items() if not provider.can_read(text)]


def walk_texts(kind: type[BranchedModel]) -> Iterator[list[tuple[int, str, str]]]:
    """Yield branch, content hash and text of versions, in short reads by their key."""
    rows = kind._base_manager.filter(kind.embedded_q(), deleted=False).order_by("rid")
    columns, last = ("rid", "branch_id", "content_hash", kind.TEXT), -1
    while batch := list(rows.filter(rid__gt=last).values_list(*columns)[:BATCH_SIZE]):
        last = batch[-1][0]
        yield [values for _, *values in batch]


def take_vectors(project_id: UUID, model: str, slots: Sequence[str]) -> int:
    """Mark those of the texts that have a vector as ones without; return how many."""
    ready = [
        slot for slot, state in select_equal(Vector, ("slot", "state"), slot=slots) if state == State.READY
    ]
    if not ready:
        return 0
    with transaction.atomic():
        count = mark_unread(project_id, model, ready, State.READY)
        get_index().delete_vectors(project_id, ready)
        VectorClock.objects.filter(project=project_id).update(epoch=F("epoch") + 1)  # copies in memory
    return count
