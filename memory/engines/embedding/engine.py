"""Embeddings: wanted by the writer, made in the background, kept by content hash under the model's name.

A writer only leaves a row that waits, with the text. Workers ask the provider outside of any transaction
and store each batch in a short one. Whatever the provider does, a text that waits is never lost.
"""

import logging
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.core.exceptions import ImproperlyConfigured
from django.db import connection, transaction
from django.db.models import F, QuerySet
from django.utils import timezone

from memory.conf import conf
from memory.db.bulk import insert_all
from memory.engines.embedding_run import MOST_NONSENSE, TURNS, EmbeddingRun, Turns, chunks, due, waiting
from memory.engines.held import in_use, points_read, text_models
from memory.exceptions import ProviderUnavailable
from memory.models import Branch, BranchedModel, Fact, NearCheck, Vector, VectorClock
from memory.models.vectors import vector_slot
from memory.providers.embedding import EmbeddingProvider, get_provider
from memory.queue import enqueue

log = logging.getLogger(__name__)

OFF = "off"
CHUNK = 500
IDLE_ROUNDS = 3  # reembed stops when the provider gave nothing so often in a row
SWEEP_SECONDS = 20.0

Progress = Callable[[int, int], None]
S = Vector.State


# ---- what is in force ------------------------------------------------------------------------------


def embedder_is_on() -> bool:
    """Whether new texts are to be embedded."""
    return conf().embedder != OFF


def provider_in_force() -> EmbeddingProvider | None:
    """The provider that the settings name; None when embedding is off.

    ProviderUnavailable when the settings cannot be followed (no key, no such model file).
    """
    try:
        provider = get_provider()
        _ = provider and provider.model  # the name of a model in a file is read from the file
    except ImproperlyConfigured as error:
        raise ProviderUnavailable(reason=str(error)) from error
    return provider


def model_in_force() -> str | None:
    """The name of the embedding model; None when it is off or, with a warning in the log, unusable."""
    try:
        provider = provider_in_force()
    except ProviderUnavailable as error:
        log.warning("No embedding model: %s", error)
        return None
    return provider.model if provider else None


# ---- for writers and readers of facts --------------------------------------------------------------


def want(project_id: UUID, texts_by_hash: Mapping[str, str], now: datetime) -> int:
    """Leave texts to be embedded, in the caller's transaction; returns how many were never wanted before.

    One that failed is tried again. Never fails because of the provider, and never asks it.
    """
    model = model_in_force()
    if model is None or not texts_by_hash:
        return 0
    now = min(now, timezone.now())  # a commit's time may lie ahead of the clock
    common = {"project_id": project_id, "model": model, "next_try": now}
    wanted = [
        Vector(slot=vector_slot(project_id, model, value), content_hash=value, text=text, **common)
        for value, text in texts_by_hash.items()
    ]
    new = insert_all(wanted, ignore_conflicts=True)  # most texts are new
    if new < len(wanted):
        _revive([row.slot for row in wanted], now)
    return new


def state_of(project_id: UUID, hashes: Iterable[str]) -> dict[str, tuple[str, str]]:
    """The embedding state and model of each text. ``off`` and "" while the embedder is off.

    A text that the model in force was never asked for is pending: the server wants it at its next start.
    """
    model = model_in_force()
    found = dict.fromkeys(hashes, (str(S.PENDING), model) if model else (OFF, ""))
    if model:
        slots = {vector_slot(project_id, model, value): value for value in found}
        for slot, state in _states(slots).items():
            found[slots[slot]] = (state, model)
    return found


def _states(slots: Iterable[str]) -> dict[str, str]:
    states: dict[str, str] = {}
    for some in chunks(list(slots), CHUNK):
        states.update(Vector.objects.filter(slot__in=some).values_list("slot", "state"))
    return states


def _revive(slots: Sequence[str], now: datetime) -> None:
    for some in chunks(slots, CHUNK):
        failed = Vector.objects.filter(slot__in=some, state=S.FAILED)
        failed.update(state=S.PENDING, attempts=0, error="", next_try=now)


# ---- the worker ------------------------------------------------------------------------------------


class EmbeddingEngine:
    def __init__(self, turns: Turns | None = None) -> None:
        self._turns = turns or TURNS

    def embed_pending(self, project_id: UUID, limit: int = 512) -> int:
        """Embed up to ``limit`` texts that are due; returns how many vectors became ready.

        Never raises for the provider's sake: what failed waits longer each time, and stays pending.
        Not to be called inside a transaction.
        """
        try:
            provider = provider_in_force()
        except ProviderUnavailable as error:
            log.warning("Project %s: nothing is embedded: %s", project_id, error)
            return 0
        ready = EmbeddingRun(project_id, provider).embed(limit, self._turns) if provider else 0
        if ready and NearCheck.objects.filter(project=project_id).exists():
            enqueue("memory.near", str(project_id))
        return ready

    def sweep(self, seconds: float = SWEEP_SECONDS) -> int:
        """Embed what is due in every project, in turns, until nothing is left or the time is up."""
        if (model := model_in_force()) is None:
            return 0
        now = timezone.now()
        given_up = Vector.objects.filter(state=S.FAILED, model=model, next_try__lte=now)
        if given_up.exists():  # one more try a day
            given_up.update(state=S.PENDING, attempts=MOST_NONSENSE - 1)
        late = Vector.objects.filter(state=S.PENDING, next_try__lte=now, model=model)
        return in_turns(late.values_list("project_id", flat=True).distinct(), self.embed_pending, seconds)

    def backlog(self, project_id: UUID) -> dict[str, Any]:
        """How many texts wait or were given up, under which model, and what the last error said."""
        try:
            provider = provider_in_force()
        except ProviderUnavailable as error:
            return self._counts(Vector.objects.filter(project=project_id), None) | {"error": str(error)}
        if provider is None:
            return {"pending": 0, "failed": 0, "model": None, "error": ""}
        model = provider.model
        return self._counts(Vector.objects.filter(project=project_id, model=model), model)

    @staticmethod
    def _counts(vectors: QuerySet[Vector], model: str | None) -> dict[str, Any]:
        unready = vectors.filter(n=0)
        errors = unready.exclude(error="").order_by("-next_try").values_list("error", flat=True)
        return {
            "pending": unready.filter(state=S.PENDING).count(),
            "failed": unready.filter(state=S.FAILED).count(),
            "model": model,
            "error": next(iter(errors[:1]), ""),
        }

    # ---- another model -------------------------------------------------------------------------

    def reembed(self, project_id: UUID, progress: Progress | None = None) -> int:
        """Give every text that a branch still shows a vector of the model in force; returns how many.

        ``progress`` is told (done, total). May be stopped at any time and started again. Texts that the
        provider refuses stay pending. Raises ProviderUnavailable when the settings cannot be followed.
        """
        provider, tell = provider_in_force(), progress or _silent
        if provider is None:
            return 0
        self.want_missing(project_id)
        waiting(project_id, provider.model).update(next_try=timezone.now())
        total, done, idle = waiting(project_id, provider.model).count(), 0, 0
        tell(0, total)
        while idle < IDLE_ROUNDS and due(project_id, provider.model).exists():
            made = self.embed_pending(project_id, limit=2 * conf().embedding_batch)
            done, idle = done + made, 0 if made else idle + 1
            tell(done, max(done, total))
        return done

    def want_missing(self, project_id: UUID) -> None:
        """Leave every text that a branch still shows and this model was never asked for, to be embedded.

        After the embedder was changed or turned on. Raises ProviderUnavailable as reembed does.
        """
        if provider := provider_in_force():
            for kind in text_models():
                for rows in versions_in_use(kind, project_id):
                    _want_missing(kind, project_id, provider.model, rows)

    def load(self) -> None:
        """Have the facts' vectors in memory, where searches compare them there: those of the projects that
        were written last, as many as stay. A first search would wait for them.
        """
        if provider := provider_in_force():
            mains = Branch.objects.filter(parent=None).order_by("-head_at")
            for main in mains[: conf().resident_projects]:
                connection.index.load(Fact.objects.on(main), provider.model, main.project_id)  # type: ignore[attr-defined]

    def forget_other_models(self, project_id: UUID) -> int:
        """Delete the vectors of all models but the one in force; returns how many; none when it is off."""
        model, count = model_in_force(), 0
        if model is None:
            return 0
        others = Vector.objects.filter(project=project_id).exclude(model=model)
        while slots := list(others.values_list("slot", flat=True)[:CHUNK]):
            count += Vector.objects.filter(slot__in=slots).delete()[0]
            connection.index.forget(project_id, slots)  # type: ignore[attr-defined]
        VectorClock.objects.filter(project=project_id).update(epoch=F("epoch") + 1)  # copies in memory go too
        return count


# ---- all texts of a project ------------------------------------------------------------------------


def versions_in_use(model: type[BranchedModel], project_id: UUID) -> Iterator[list[tuple[int, str]]]:
    """(row id, content hash) of the versions that are open or that another branch holds, in chunks.

    Walks the primary key in short reads, so that the caller may write between two chunks.
    """
    branches = Branch.objects.filter(project=project_id)
    own, points = set(branches.values_list("pk", flat=True)), points_read(branches)
    wanted = model._base_manager.filter(model.embedded_q(), deleted=False).order_by("rid")
    columns, last = ("rid", "content_hash", "branch_id", "seq_from", "seq_to"), -1
    while rows := list(wanted.filter(rid__gt=last).values_list(*columns)[:CHUNK]):
        last = rows[-1][0]
        yield [
            (rid, value)
            for rid, value, branch, *span in rows
            if branch in own and in_use(points, branch, *span)
        ]


def _want_missing(
    kind: type[BranchedModel], project_id: UUID, model: str, rows: Sequence[tuple[int, str]]
) -> None:
    """Want the texts among these versions that have no vector of the model, nor wait for one."""
    slots = {vector_slot(project_id, model, value): rid for rid, value in rows}
    states = _states(slots)
    missing = [rid for slot, rid in slots.items() if states.get(slot) not in (S.PENDING, S.READY)]
    written = kind._base_manager.filter(pk__in=missing).exclude(**{kind.TEXT: ""})
    if missing and (texts := dict(written.values_list("content_hash", kind.TEXT))):
        with transaction.atomic(savepoint=False):
            want(project_id, texts, timezone.now())


# ---- small ones ------------------------------------------------------------------------------------


def in_turns(project_ids: Iterable[UUID], work: Callable[[UUID], int], seconds: float) -> int:
    """Do some work for each project, round after round, while it brings something and time is left.

    The trouble of one project does not stop the others.
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


def _silent(done: int, total: int) -> None:
    """Nobody asked for progress."""
