"""Embeddings: requested by writers, computed in the background, stored by content hash and model name.

A writer only leaves a pending row with the text. Workers call the provider outside of any transaction and
store each batch in a short one. A pending text is never lost, whatever the provider does.
"""

import logging
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

import numpy as np
from django.db.models import F, QuerySet
from django.utils import timezone

from memory.clock import read_time
from memory.conf import conf
from memory.db.backend import get_index
from memory.db.bulk_sql import build_row, insert_all, keep_insert
from memory.db.expressions import ColumnIn
from memory.db.raw_select import Statement, fetch_each, plan_by_key, plan_equal, select_equal
from memory.db.transactions import write_transaction
from memory.engines.embedding.awaited import awaited_texts
from memory.engines.embedding.models import (
    OFF,
    active_provider,
    find_previous,
    guess_searched,
    model_in_force,
    note_searched,
    previous_provider,
    read_searched,
    searched_provider,
    usable_provider,
)
from memory.engines.embedding.unread import forget_unread
from memory.engines.embedding.worker import (
    MAX_INVALID_RESPONSES,
    TURNS,
    EmbeddingRun,
    ProjectLocks,
    due_vectors,
    pending_vectors,
)
from memory.engines.support.batches import Progress, batched, ignore_progress
from memory.engines.versions.pinned_versions import fork_points, in_use, text_models
from memory.exceptions import ProviderUnavailable
from memory.models import Branch, BranchedModel, Fact, NearCheck, Vector, VectorClock
from memory.models.vectors import vector_slot, vector_slots
from memory.providers.embedding import EmbeddingProvider
from memory.queue.producer import enqueue

log = logging.getLogger(__name__)
BATCH_SIZE = 500
RENEWED = ("state", "attempts", "error", "next_try")  # of a text that failed, when it is queued again
IDLE_ROUNDS = 3  # reembed stops after this many consecutive rounds without a vector
SWEEP_SECONDS = 20.0
State = Vector.State
QUEUED = (State.PENDING, State.READY, State.NONE)  # a text that failed is tried again


# ---- for writers and readers -----------------------------------------------------------------------


def enqueue_texts(project_id: UUID, texts_by_hash: Mapping[str, str], now: datetime) -> int:
    """Queue texts for embedding in the caller's transaction; return how many are new.

    While the model is changed, searches need their vectors of the one before too. A text that failed is
    retried. Never calls the provider, and never fails because of it.
    """
    awaited_texts.note(texts_by_hash)
    model = model_in_force()
    if model is None or not texts_by_hash:
        return 0
    if previous := previous_provider(project_id, model):
        enqueue_for(project_id, previous.model, texts_by_hash, now)
    return enqueue_for(project_id, model, texts_by_hash, now)


def enqueue_for(project_id: UUID, model: str, texts_by_hash: Mapping[str, str], now: datetime) -> int:
    """Queue texts for one model; return how many are new, or one where its write waits for others."""
    now = min(now, timezone.now())  # a commit's time may lie ahead of the clock
    common = {"project_id": project_id, "model": model, "next_try": now}
    make_slot = vector_slots(project_id, model)
    requested = [
        build_row(Vector, {"slot": make_slot(value), "content_hash": value, "text": text, **common})
        for value, text in texts_by_hash.items()
    ]
    if len(requested) == 1 and keep_insert(requested[0], RENEWED, state=State.FAILED.value):
        return 1
    new = insert_all(requested, ignore_conflicts=True)  # most texts are new
    if new < len(requested):
        reset_failed([row.slot for row in requested], now)
    return new


def get_embedding_states(
    project_id: UUID, hashes: Iterable[str], planned: Iterable[Statement] | None = None
) -> dict[str, tuple[str, str]]:
    """Return the embedding state of each text, and the model that searches use; ``off`` and "" while the
    embedder is off. ``planned`` are the statements for these texts, where they are known.

    A text never queued for the model counts as pending: the server queues it at its next start.
    """
    requested, provider = list(hashes), usable_provider(project_id)
    if provider is None:
        return dict.fromkeys(requested, (OFF, ""))
    rows = fetch_each(plan_embedding_states(project_id, requested) if planned is None else planned)
    model = provider.model
    found = dict.fromkeys(requested, (str(State.PENDING), model))
    return found | {value: (state, model) for value, state in rows}


def plan_embedding_states(project_id: UUID, hashes: Iterable[str]) -> list[Statement]:
    """Return the statements by which ``get_embedding_states`` reads them, for ``read_together``."""
    if (provider := usable_provider(project_id)) is None:
        return []
    slots = map(vector_slots(project_id, provider.model), set(hashes))
    return plan_equal(Vector, ("content_hash", "state"), slot=sorted(slots))


def plan_waiting(project_id: UUID, model: str) -> Statement:
    """Return the statement that reads whether a text waits for its vector, for ``read_together``."""
    equal = {"model": model, "n": 0, "state": State.PENDING}
    conditions = [ColumnIn(Vector, name, [value]) for name, value in equal.items()]
    using = Vector._base_manager.db
    ((read, sql, values),) = plan_by_key(using, Vector, ("state",), ("project", [project_id]), conditions)
    return read, f"{sql} LIMIT 1", values


def is_any_waiting(project_id: UUID, model: str) -> bool:
    """Return whether a text of the project waits for its vector: searches do not know its meaning yet."""
    return bool(fetch_each([plan_waiting(project_id, model)]))


def load_states(slots: Iterable[str]) -> dict[str, str]:
    return dict(select_equal(Vector, ("slot", "state"), slot=sorted(slots)))


def reset_failed(slots: Sequence[str], now: datetime) -> None:
    failed_slots = [slot for slot, state in load_states(slots).items() if state == State.FAILED]
    for batch in batched(failed_slots, BATCH_SIZE):
        failed = Vector.objects.filter(slot__in=batch, state=State.FAILED)
        failed.update(state=State.PENDING, attempts=0, error="", next_try=now)


# ---- the worker ------------------------------------------------------------------------------------


class EmbeddingEngine:
    def __init__(self, turns: ProjectLocks | None = None) -> None:
        self._turns = turns or TURNS

    def embed_pending(self, project_id: UUID, limit: int = 512) -> int:
        """Embed up to ``limit`` due texts; return how many are done with: a text that the model cannot read
        gets no vector.

        Never raises for the provider's sake: failures stay pending with growing delays. Not to be called
        inside a transaction.
        """
        try:
            provider = active_provider()
        except ProviderUnavailable as error:
            log.warning("Project %s: nothing is embedded: %s", project_id, error)
            return 0
        if provider is None:
            return 0
        previous = previous_provider(project_id, provider.model)  # first: searches use its vectors
        runs = [EmbeddingRun(project_id, one) for one in (previous, provider) if one]
        ready = sum(run.embed_due(limit, self._turns) for run in runs)
        self._end_change(project_id, provider)
        if ready and NearCheck.objects.filter(project=project_id).exists():
            enqueue("memory.near", str(project_id))
        return ready

    def embed_due(self, seconds: float = SWEEP_SECONDS) -> int:
        """Embed due texts of all projects, round-robin, until done or out of time; return how many."""
        if (model := model_in_force()) is None:
            return 0
        due = {"model": model, "next_try__lte": read_time()}
        given_up = Vector.objects.filter(state=State.FAILED, **due)
        if given_up.exists():  # retry once a day
            given_up.update(state=State.PENDING, attempts=MAX_INVALID_RESPONSES - 1)
        late = Vector.objects.filter(state=State.PENDING, **due)
        return round_robin(late.values_list("project_id", flat=True).distinct(), self.embed_pending, seconds)

    def count_backlog(self, project_id: UUID) -> dict[str, Any]:
        """Count pending and failed texts; return them with the model's name and the last error of each, and
        how far a change of the model is.
        """
        try:
            provider = active_provider()
        except ProviderUnavailable as error:
            counted = self._count_states(Vector.objects.filter(project=project_id), None)
            return counted | {"error": str(error), "change": None}
        if provider is None:
            return self._count_states(Vector.objects.none(), None) | {"change": None}
        vectors = Vector.objects.filter(project=project_id, model=provider.model)
        counted = self._count_states(vectors, provider.model)
        return counted | {"change": self._count_change(project_id, vectors, counted["pending"])}

    @staticmethod
    def _count_states(vectors: QuerySet[Vector], model: str | None) -> dict[str, Any]:
        unready = vectors.filter(n=0)
        errors = unready.exclude(error="").order_by("-next_try").values_list("error", flat=True)
        return {
            "pending": unready.filter(state=State.PENDING).count(),
            "failed": unready.filter(state=State.FAILED).count(),
            "model": model,
            "error": next(iter(errors.filter(state=State.PENDING)[:1]), ""),
            "failed_error": next(iter(errors.filter(state=State.FAILED)[:1]), ""),
        }

    @staticmethod
    def _count_change(project_id: UUID, vectors: QuerySet[Vector], pending: int) -> dict[str, Any] | None:
        """Return how many of the texts are done, and the model before, ``in_use`` where searches can ask it;
        None where no change is under way.
        """
        model = model_in_force() or ""
        if not (previous := find_previous(project_id, model)):
            return None
        in_use = previous_provider(project_id, model) is not None
        total = vectors.count()
        return {"previous": previous, "in_use": in_use, "done": total - pending, "total": total}

    # ---- change of model -----------------------------------------------------------------------

    def reembed_all(self, project_id: UUID, progress: Progress | None = None) -> int:
        """Embed with the present model every text that a branch still shows; return how many.

        ``progress`` is called with (done, total). May be stopped at any time and started again. Texts that
        the provider refuses stay pending. Raises ProviderUnavailable for unusable settings.
        """
        provider, tell = active_provider(), progress or ignore_progress
        if provider is None:
            return 0
        self.want_missing(project_id)
        pending_vectors(project_id, provider.model).update(next_try=timezone.now())
        total, done, idle = pending_vectors(project_id, provider.model).count(), 0, 0
        tell(0, total)
        while idle < IDLE_ROUNDS and due_vectors(project_id, provider.model).exists():
            made = self.embed_pending(project_id, limit=2 * conf().embedding_batch)
            done, idle = done + made, 0 if made else idle + 1
            tell(done, max(done, total))
        self._end_change(project_id, provider)
        return done

    def want_missing(self, project_id: UUID) -> None:
        """Queue every text that a branch still shows and that was never queued for the present model.

        Take the vectors of those that it cannot read, and what a change of the model has left.

        For use after the embedder was changed or turned on. Raises ProviderUnavailable as reembed does.
        """
        if provider := active_provider():
            searched = read_searched(project_id)
            if searched == provider.model:
                self.forget_other_models(project_id)
            elif searched is not None:
                forget_unread(project_id, provider)
                if not searched:
                    note_searched(project_id, guess_searched(project_id, provider.model))
            _queue_missing(project_id, provider.model, QUEUED)

    def _end_change(self, project_id: UUID, provider: EmbeddingProvider) -> None:
        """Have searches use the present model once it was given every text; delete the vectors of others."""
        pending = pending_vectors(project_id, provider.model)
        if not find_previous(project_id, provider.model) or pending.exists():
            return
        _queue_missing(project_id, provider.model, list(State))  # whoever queued them may have been killed
        if not pending.exists():
            note_searched(project_id, provider.model)
            count = self.forget_other_models(project_id)
            log.info("Project %s: searches use %s, %d other vectors go", project_id, provider.model, count)

    def load_vectors(self) -> None:
        """Load the facts' vectors into memory for the most recently written projects, up to the configured
        number. A first search would wait for them.
        """
        mains = Branch.objects.filter(parent=None).order_by("-head_at")
        for main in mains[: conf().resident_projects]:
            if provider := searched_provider(main.project_id):
                get_index().load_vectors(Fact.objects.on(main), provider.model, main.project_id)

    def forget_other_models(self, project_id: UUID) -> int:
        """Delete the vectors of all other models; return how many, 0 while embedding is off."""
        model, count = model_in_force(), 0
        if model is None:
            return 0
        note_searched(project_id, model)
        others = Vector.objects.filter(project=project_id).exclude(model=model)
        while slots := list(others.values_list("slot", flat=True)[:BATCH_SIZE]):
            count += Vector.objects.filter(slot__in=slots).delete()[0]
            get_index().delete_vectors(project_id, slots)
        if count:  # copies in memory
            VectorClock.objects.filter(project=project_id).update(epoch=F("epoch") + 1)
        return count


# ---- all texts of a project ------------------------------------------------------------------------


def versions_in_use(model: type[BranchedModel], project_id: UUID) -> Iterator[list[tuple[int, str]]]:
    """Yield (row id, content hash) of versions that are open or pinned by another branch, in chunks.

    Walks the primary key in short reads, so that the caller may write between two chunks.
    """
    branches = Branch.objects.filter(project=project_id)
    own, points = set(branches.values_list("pk", flat=True)), fork_points(branches)
    requested = model._base_manager.filter(model.embedded_q(), deleted=False).order_by("rid")
    columns, last = ("rid", "content_hash", "branch_id", "seq_from", "seq_to"), -1
    while rows := list(requested.filter(rid__gt=last).values_list(*columns)[:BATCH_SIZE]):
        last = rows[-1][0]
        yield [
            (rid, value)
            for rid, value, branch, *span in rows
            if branch in own and in_use(points, branch, *span)
        ]


def _queue_missing(project_id: UUID, model: str, known: Collection[str]) -> None:
    """Queue for a model every text that a branch still shows and whose state is none of the ``known``."""
    for kind in text_models():
        for rows in versions_in_use(kind, project_id):
            _queue_rows(kind, project_id, model, rows, known)


def _queue_rows(
    kind: type[BranchedModel],
    project_id: UUID,
    model: str,
    rows: Sequence[tuple[int, str]],
    known: Collection[str],
) -> None:
    slots = {vector_slot(project_id, model, value): rid for rid, value in rows}
    states = load_states(slots)
    missing = [rid for slot, rid in slots.items() if states.get(slot) not in known]
    written = kind._base_manager.filter(pk__in=missing).exclude(**{kind.TEXT: ""})
    if missing and (texts := dict(written.values_list("content_hash", kind.TEXT))):
        with write_transaction():
            enqueue_for(project_id, model, texts, timezone.now())


# ---- helpers ---------------------------------------------------------------------------------------


def round_robin(project_ids: Iterable[UUID], work: Callable[[UUID], int], seconds: float) -> int:
    """Run ``work`` for each project, round-robin, while it returns results and time is left.

    An error in one project does not stop the others.
    """
    until, total, left = time.monotonic() + seconds, 0, list(project_ids)
    while left:
        again = []
        for project_id in left:
            try:
                done = work(project_id)
            except Exception:
                log.exception("Project %s was left out of a sweep", project_id)
                continue
            total += done
            if done:
                again.append(project_id)
        left = again if time.monotonic() < until else []
    return total


# ---- stored vectors ----------------------------------------------------------------------------------


def load_vectors(
    project_id: UUID, model: str, hashes: Sequence[str]
) -> tuple[dict[str, np.ndarray], list[str]]:
    """Return the ready vectors, and the hashes never queued for the model."""
    slots = [vector_slot(project_id, model, value) for value in hashes]
    found: dict[str, Any] = dict(select_equal(Vector, ("content_hash", "data"), slot=slots))
    ready = {value: data for value, data in found.items() if data is not None}
    return ready, [value for value in hashes if value not in found]
