"""Embedding worker: sends pending texts to the provider, stores the vectors or reschedules."""

import logging
import random
import threading
import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import numpy as np
from django.db import transaction
from django.db.models import Case, F, QuerySet, Value, When

from memory.clock import read_time
from memory.conf import conf
from memory.db.backend import get_index
from memory.engines.support.batches import batched
from memory.engines.support.foreground import FOREGROUND
from memory.engines.support.model_budgets import paid_by
from memory.exceptions import ProviderNonsense, ProviderUnavailable
from memory.models import Project, Vector, VectorClock
from memory.processes import after_fork
from memory.providers.embedding import EmbeddingProvider, tells_words
from memory.providers.openai_server import refuses_text

log = logging.getLogger(__name__)

BATCH_SIZE = 500
UPDATE_BATCH_SIZE = 100
MIN_WAIT_SECONDS, MAX_WAIT_SECONDS = 10.0, 3600.0  # seconds between two tries
JITTER = 0.25  # share of the delay; below 1, so that each delay is longer than the one before
MAX_RETRY_AFTER_SECONDS = 86_400  # seconds; a Retry-After beyond a day is ignored
MAX_INVALID_RESPONSES = 8  # then the text is given up, until the daily retry
DAILY = timedelta(days=1)
INVALID_RESPONSE = ProviderNonsense.message.partition("{")[0]  # prefix of the error that such a try stores

Answer = tuple[np.ndarray, bytes | None]  # the vector, and the word codes where the model provides them
State = Vector.State


class WrongDimensions(ProviderNonsense):
    """Error for vectors of another length than those stored under the model's name; no single text causes
    it.
    """


class RefusedText(ProviderNonsense):
    """Error for a text that the provider refuses by itself, also when it is cut short."""


def pending_vectors(project_id: UUID, model: str) -> QuerySet[Vector]:
    """Return the texts pending for this model."""
    # n is 0 until a vector is ready: the index on (project, model, n) then keeps these rows together.
    return Vector.objects.filter(project=project_id, model=model, n=0, state=State.PENDING)


def due_vectors(project_id: UUID, model: str) -> QuerySet[Vector]:
    """Return the pending texts that may be tried now."""
    return pending_vectors(project_id, model).filter(next_try__lte=read_time())


class ProjectLocks:
    """Locks by project, so that the threads of one process do not embed the same texts twice.

    Two processes may: the first to store a vector wins, and the other's is dropped.
    """

    def __init__(self) -> None:
        self._locks: dict[str, threading.Lock] = defaultdict(threading.Lock)
        self._mutex = threading.Lock()

    def get_lock(self, project_id: UUID) -> threading.Lock:
        with self._mutex:
            return self._locks[str(project_id)]

    def reset_locks(self) -> None:
        """Reset the locks: a forked child must not wait for a thread of its parent."""
        ProjectLocks.__init__(self)


TURNS = ProjectLocks()
after_fork(TURNS.reset_locks)


class EmbeddingRun:
    """Run of a worker over the pending texts of a project."""

    def __init__(self, project_id: UUID, provider: EmbeddingProvider) -> None:
        self.project_id, self.provider, self.model = project_id, provider, provider.model
        self.trouble = False

    def embed_due(self, limit: int, turns: ProjectLocks) -> int:
        """Embed batches until nothing is due or the provider fails; return how many texts are done with."""
        ready = 0
        while limit > 0 and not self.trouble:
            FOREGROUND.wait_for_requests()
            size = min(limit, conf().embedding_batch)
            with turns.get_lock(self.project_id):
                rows = list(due_vectors(self.project_id, self.model)[:size])
                if not rows:
                    break
                done = self._embed_readable(rows)
            ready, limit = ready + done, limit - len(rows)
            if done == len(rows) < size:  # what comes meanwhile queues a run of its own
                break
        if ready:
            get_index().refresh_vectors(self.project_id, self.model)
        if ready and not self.trouble:
            self._resume_waiting()
        return ready

    def embed_slots(self, slots: Sequence[str], turns: ProjectLocks, until: float) -> None:
        """Embed those of these texts that are due, in batches of which none begins at ``until`` or later."""
        ready, lock = 0, turns.get_lock(self.project_id)
        for batch in batched(slots, conf().embedding_batch):
            left = until - time.monotonic()
            if self.trouble or left <= 0 or not lock.acquire(timeout=left):
                break
            try:
                rows = list(due_vectors(self.project_id, self.model).filter(slot__in=batch))
                ready += self._embed_readable(rows) if rows else 0
            finally:
                lock.release()
        if ready:
            get_index().refresh_vectors(self.project_id, self.model)

    def _embed_readable(self, rows: Sequence[Vector]) -> int:
        """Embed the texts that the model can read; the others have no vector, and wait for none."""
        try:
            readable = [row for row in rows if self.provider.can_read(row.text)]
        except ProviderUnavailable as error:
            self._back_off(rows, error)
            return 0
        kept = {row.slot for row in readable}
        unread = [row.slot for row in rows if row.slot not in kept]
        done = mark_unread(self.project_id, self.model, unread, State.PENDING) if unread else 0
        return done + (self._embed_batch(readable) if readable else 0)

    def _embed_batch(self, rows: Sequence[Vector]) -> int:
        try:
            return self._store_vectors(rows, self._request_vectors(rows))
        except WrongDimensions as error:
            self._back_off(rows, error)
        except ProviderNonsense as error:
            if len(rows) > 1:
                return self._one_by_one(rows)
            self._put_back(rows, error)
        except ProviderUnavailable as error:
            self._back_off(rows, error)
        return 0

    def _one_by_one(self, rows: Sequence[Vector]) -> int:
        """Embed each text separately, so that a rejected one does not block the others."""
        good: list[Vector] = []
        bad: list[tuple[Vector, ProviderNonsense]] = []
        answers: list[Answer] = []
        for index, row in enumerate(rows):
            try:
                answers += self._request_vectors([row])
                good.append(row)
            except ProviderNonsense as error:
                bad.append((row, error))
            except ProviderUnavailable as error:
                self._back_off(rows[index:], error)
                break
        if not good:
            self.trouble = True  # the cause is not a single text
        stored = self._store_singles(good, answers)
        for row, nonsense in bad:
            self._put_back([row], nonsense)
        return stored

    def _request_vectors(self, rows: Sequence[Vector]) -> list[Answer]:
        texts = [row.text for row in rows]
        try:
            if tells_words(self.provider):
                return list(zip(*self.provider.embed_words(texts), strict=True))
            with paid_by(self.project_id):
                return [(vector, None) for vector in self.provider.embed(texts)]
        except ProviderUnavailable as error:
            if refuses_text(error):
                reason = f"the text is refused, also when it is cut short: {error.data['reason']}"
                raise RefusedText(reason=reason) from None
            raise

    def _store_singles(self, rows: Sequence[Vector], answers: Sequence[Answer]) -> int:
        try:
            return self._store_vectors(rows, answers) if rows else 0
        except WrongDimensions as error:
            self._back_off(rows, error)
            return 0

    # ---- storing -------------------------------------------------------------------------------

    def _store_vectors(self, rows: Sequence[Vector], answers: Sequence[Answer]) -> int:
        """Store the vectors of texts that are still pending; return how many. Raises WrongDimensions."""
        count = 0
        with transaction.atomic(durable=True):
            # First: a reader of n can rely on all vectors up to n.
            n = advance_clock(self.project_id, self.model)
            if not Project.objects.filter(pk=self.project_id).exists():  # it was removed meanwhile
                transaction.set_rollback(True)
                return 0
            self._check_dimensions(answers)
            for batch in batched(list(zip(rows, answers, strict=True)), UPDATE_BATCH_SIZE):
                still = Vector.objects.filter(slot__in=[row.slot for row, _ in batch], state=State.PENDING)
                content = {"data": build_case(batch, 0, "data"), "words": build_case(batch, 1, "words")}
                count += still.update(**content, n=n, state=State.READY, text="", error="", attempts=0)
        return count

    def _check_dimensions(self, answers: Sequence[Answer]) -> None:
        ready = Vector.objects.filter(project=self.project_id, model=self.model, n__gt=0, state=State.READY)
        known = {len(data) for data in ready.values_list("data", flat=True)[:1] if data is not None}
        found = {len(vector) for vector, _ in answers}
        if len(found | known) > 1:
            raise WrongDimensions(
                reason=f"vectors of {join_or(found)} dimensions came, and those stored under the name "
                f"{self.model} have {join_or(known or found)}; give the model another name, and run reembed"
            )

    # ---- failures ------------------------------------------------------------------------------

    def _back_off(self, rows: Sequence[Vector], error: ProviderUnavailable) -> None:
        """Reschedule all due texts of the project: the provider is failing."""
        self.trouble = True
        log.warning("Project %s: %d texts wait: %s", self.project_id, len(rows), error)
        until = self._put_back(rows, error)
        due_vectors(self.project_id, self.model).update(next_try=until)

    def _put_back(self, rows: Sequence[Vector], error: ProviderUnavailable) -> datetime:
        """Record the failure; return when the first of the rows may be tried again."""
        text, nonsense = str(error)[:300], isinstance(error, ProviderNonsense)
        groups: dict[int, list[str]] = defaultdict(list)
        for row in rows:
            # Count tries of one kind of error: an outage must not use up the tries of a text.
            same = row.error.startswith(INVALID_RESPONSE) == nonsense
            groups[row.attempts + 1 if same else 1].append(row.slot)
        fatal = nonsense and not isinstance(error, WrongDimensions)
        # A model that takes other texts will not take this one later.
        tries = 1 if isinstance(error, RefusedText) and self._has_vectors() else MAX_INVALID_RESPONSES
        times = []
        for attempts, slots in groups.items():
            give_up = fatal and attempts >= tries
            state, until = State.PENDING, read_time() + wait_after(attempts, error)
            if give_up:
                state, until = State.FAILED, read_time() + DAILY
                log.warning("Project %s: %d texts given up: %s", self.project_id, len(slots), text)
            times.append(until)
            for batch in batched(slots, BATCH_SIZE):
                tried = Vector.objects.filter(slot__in=batch, state=State.PENDING)
                tried.update(state=state, attempts=attempts, next_try=until, error=text)
        return min(times)

    def _has_vectors(self) -> bool:
        ready = Vector.objects.filter(project=self.project_id, model=self.model, n__gt=0)
        return ready.filter(state=State.READY).exists()

    def _resume_waiting(self) -> None:
        """Make texts due that were delayed only by an outage of the provider."""
        now = read_time()
        resting = pending_vectors(self.project_id, self.model).filter(next_try__gt=now)
        resting = resting.exclude(error__startswith=INVALID_RESPONSE)
        if resting.exists():
            resting.update(next_try=now)


def wait_after(attempts: int, error: ProviderUnavailable) -> timedelta:
    """Return the delay before the next try: exponential with jitter, at least the provider's Retry-After."""
    seconds = min(MIN_WAIT_SECONDS * 2 ** min(attempts - 1, 20), MAX_WAIT_SECONDS)
    seconds = min(seconds * (1 + JITTER * random.random()), MAX_WAIT_SECONDS)
    requested = min(float(error.data.get("retry_after") or 0), MAX_RETRY_AFTER_SECONDS)
    return timedelta(seconds=max(seconds, requested))


def mark_unread(project_id: UUID, model: str, slots: Sequence[str], state: str) -> int:
    """Mark those of the texts in a state as ones that the model cannot read, without a vector; return how
    many.
    """
    with transaction.atomic():
        content = {"data": None, "words": None, "text": "", "error": "", "attempts": 0}
        rows = Vector.objects.filter(slot__in=slots, state=state)
        return rows.update(state=State.NONE, n=advance_clock(project_id, model), **content)


def advance_clock(project_id: UUID, model: str) -> int:
    """Advance the project's vector clock and return it; other writers of vectors wait until this one
    commits. Searches use the ``model`` of the first vector.
    """
    clock = VectorClock.objects.filter(project=project_id)
    if not clock.update(n=F("n") + 1):
        VectorClock.objects.bulk_create(
            [VectorClock(project_id=project_id, read_by=model)], ignore_conflicts=True
        )
        clock.update(n=F("n") + 1)
    return clock.values_list("n", flat=True).get()


def build_case(pairs: Sequence[tuple[Vector, Answer]], part: int, field: str) -> Case:
    """Build a CASE expression with the value of each row, to update all of them by one statement."""
    kind: Any = Vector._meta.get_field(field)
    return Case(*[When(slot=row.slot, then=Value(answer[part], output_field=kind)) for row, answer in pairs])


def join_or(numbers: Iterable[int]) -> str:
    return " and ".join(str(number) for number in sorted(numbers))
