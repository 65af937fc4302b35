"""Writes whose caller waits until searches find them: their texts are embedded at once, before all others."""

import threading
import time
from collections.abc import Iterable
from uuid import UUID

from memory.engines.embedding.models import searched_provider
from memory.engines.embedding.worker import TURNS, EmbeddingRun
from memory.engines.support.batches import batched
from memory.exceptions import ProviderUnavailable
from memory.models import Vector
from memory.models.vectors import vector_slot

WAIT_SECONDS = 10.0
BATCH_SIZE = 500


class AwaitedTexts:
    """Hashes of the texts that this thread's request has written, while its caller waits for the index."""

    def __init__(self) -> None:
        self._local = threading.local()

    def start(self) -> None:
        """Begin to note texts, for a request that waits."""
        self._local.hashes = set()

    def note(self, hashes: Iterable[str]) -> None:
        """Note what was written, if somebody waits for it."""
        if (noted := getattr(self._local, "hashes", None)) is not None:
            noted.update(hashes)

    def take(self) -> set[str] | None:
        """Return the hashes, and forget them; None where nobody waits."""
        noted, self._local.hashes = getattr(self._local, "hashes", None), None
        return noted


awaited_texts = AwaitedTexts()


def index_texts(project_id: UUID, hashes: Iterable[str]) -> bool:
    """Embed texts that are stored, before all others; return whether searches find them by their meaning.

    By their words searches find them as soon as they are stored. Begins no further batch once the time is
    over. Not to be called inside a transaction.
    """
    try:
        provider = searched_provider(project_id)
    except ProviderUnavailable:
        return False
    if provider is None:
        return True
    slots = [vector_slot(project_id, provider.model, value) for value in sorted(hashes)]
    EmbeddingRun(project_id, provider).embed_slots(slots, TURNS, time.monotonic() + WAIT_SECONDS)
    lacking = Vector.objects.filter(state__in=(Vector.State.PENDING, Vector.State.FAILED))
    return not any(lacking.filter(slot__in=batch).exists() for batch in batched(slots, BATCH_SIZE))
