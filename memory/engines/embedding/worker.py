"""One worker's way through the texts that wait: ask the provider, store, or put back for later."""

import logging
import os
import random
import threading
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import numpy as np
from django.db import connection, transaction
from django.db.models import Case, F, QuerySet, Value, When
from django.utils import timezone

from memory.conf import conf
from memory.exceptions import ProviderNonsense, ProviderUnavailable
from memory.models import Vector, VectorClock
from memory.providers.embedding import EmbeddingProvider, tells_words

log = logging.getLogger(__name__)

CHUNK = 500
IN_ONE_UPDATE = 100
REFUSED = (400, 413, 422)  # HTTP: the server does not like what it was sent, which may be one text
FIRST_WAIT, LONGEST_WAIT = 10.0, 3600.0  # seconds between two tries
JITTER = 0.25  # of the wait; below 1, so that each wait is longer than the one before
LONGEST_ASKED = 86_400  # seconds; a Retry-After beyond a day is not believed
MOST_NONSENSE = 8  # then the text is given up, until the daily try
DAILY = timedelta(days=1)
NONSENSE = ProviderNonsense.message.partition("{")[0]  # how the error of such a try begins

Answer = tuple[np.ndarray, bytes | None]  # the vector, and the codes of the words where the model tells them
S = Vector.State


class WrongDimensions(ProviderNonsense):
    """Vectors of another length than those stored under the same model name: no text is to blame."""


def waiting(project_id: UUID, model: str) -> QuerySet[Vector]:
    """Texts that wait for this model."""
    # n is 0 until a vector is ready: the index on (project, model, n) then holds just these rows together.
    return Vector.objects.filter(project=project_id, model=model, n=0, state=S.PENDING)


def due(project_id: UUID, model: str) -> QuerySet[Vector]:
    """Texts that wait, and may be tried now."""
    return waiting(project_id, model).filter(next_try__lte=timezone.now())


class Turns:
    """A lock for each project, so that the threads of one process do not embed the same texts twice.

    Processes may: the first to store a vector wins, and the other's is dropped.
    """

    def __init__(self) -> None:
        self._locks: dict[str, threading.Lock] = defaultdict(threading.Lock)
        self._mutex = threading.Lock()

    def of(self, project_id: UUID) -> threading.Lock:
        with self._mutex:
            return self._locks[str(project_id)]

    def reset(self) -> None:
        """A forked child must not wait for a thread that it does not have."""
        self.__init__()  # type: ignore[misc]


TURNS = Turns()
os.register_at_fork(after_in_child=TURNS.reset)


class EmbeddingRun:
    """One worker's way through the waiting texts of a project."""

    def __init__(self, project_id: UUID, provider: EmbeddingProvider) -> None:
        self.project_id, self.provider, self.model = project_id, provider, provider.model
        self.trouble = False

    def embed(self, limit: int, turns: Turns) -> int:
        """Batch by batch, until nothing is due or the provider is in trouble."""
        ready = 0
        while limit > 0 and not self.trouble:
            with turns.of(self.project_id):
                rows = list(due(self.project_id, self.model)[: min(limit, conf().embedding_batch)])
                if not rows:
                    break
                ready += self._batch(rows)
            limit -= len(rows)
        if ready:
            connection.index.keep_up(self.project_id, self.model)  # type: ignore[attr-defined]
        if ready and not self.trouble:
            self._wake()
        return ready

    def _batch(self, rows: Sequence[Vector]) -> int:
        try:
            return self._store(rows, self._ask(rows))
        except WrongDimensions as error:
            self._rest(rows, error)
        except ProviderNonsense as error:
            if len(rows) > 1:
                return self._one_by_one(rows)
            self._put_back(rows, error)
        except ProviderUnavailable as error:
            self._rest(rows, error)
        return 0

    def _one_by_one(self, rows: Sequence[Vector]) -> int:
        """Each text by itself, so that one that the provider cannot take does not hold the others."""
        good: list[Vector] = []
        answers: list[Answer] = []
        for place, row in enumerate(rows):
            try:
                answers += self._ask([row])
                good.append(row)
            except ProviderNonsense as error:
                self._put_back([row], error)
            except ProviderUnavailable as error:
                self._rest(rows[place:], error)
                break
        if not good:
            self.trouble = True  # it is not one text
        return self._store_singles(good, answers)

    def _ask(self, rows: Sequence[Vector]) -> list[Answer]:
        texts = [row.text for row in rows]
        try:
            if tells_words(self.provider):
                return list(zip(*self.provider.embed_words(texts), strict=True))
            return [(vector, None) for vector in self.provider.embed(texts)]
        except ProviderUnavailable as error:
            if error.data.get("status") in REFUSED:
                raise ProviderNonsense(reason=error.data["reason"]) from None
            raise

    def _store_singles(self, rows: Sequence[Vector], answers: Sequence[Answer]) -> int:
        try:
            return self._store(rows, answers) if rows else 0
        except WrongDimensions as error:
            self._rest(rows, error)
            return 0

    # ---- storing -------------------------------------------------------------------------------

    def _store(self, rows: Sequence[Vector], answers: Sequence[Answer]) -> int:
        """Make the vectors ready, where nobody else did meanwhile. Raises WrongDimensions."""
        count = 0
        with transaction.atomic(durable=True):
            n = tick(self.project_id)  # first: a reader that has seen n has seen all vectors up to n
            self._check_dimensions(answers)
            for some in chunks(list(zip(rows, answers, strict=True)), IN_ONE_UPDATE):
                still = Vector.objects.filter(slot__in=[row.slot for row, _ in some], state=S.PENDING)
                content = {"data": _each(some, 0, "data"), "words": _each(some, 1, "words")}
                count += still.update(**content, n=n, state=S.READY, text="", error="", attempts=0)
        return count

    def _check_dimensions(self, answers: Sequence[Answer]) -> None:
        ready = Vector.objects.filter(project=self.project_id, model=self.model, n__gt=0, state=S.READY)
        known = {len(data) for data in ready.values_list("data", flat=True)[:1] if data is not None}
        found = {len(vector) for vector, _ in answers}
        if len(found | known) > 1:
            raise WrongDimensions(
                reason=f"vectors of {_either(found)} dimensions came, and those stored under the name "
                f"{self.model} have {_either(known or found)}; give the model another name, and run reembed"
            )

    # ---- when it fails -------------------------------------------------------------------------

    def _rest(self, rows: Sequence[Vector], error: ProviderUnavailable) -> None:
        """The provider is in trouble: what was tried waits, and all else that is due as long with it."""
        self.trouble = True
        log.warning("Project %s: %d texts wait: %s", self.project_id, len(rows), error)
        until = self._put_back(rows, error)
        due(self.project_id, self.model).update(next_try=until)

    def _put_back(self, rows: Sequence[Vector], error: ProviderUnavailable) -> datetime:
        """Note the failure; returns when the first of the rows may be tried again."""
        text, nonsense = str(error)[:300], isinstance(error, ProviderNonsense)
        groups: dict[int, list[str]] = defaultdict(list)
        for row in rows:
            # Tries of one kind count together: an outage must not use up the tries of a text.
            same = row.error.startswith(NONSENSE) == nonsense
            groups[row.attempts + 1 if same else 1].append(row.slot)
        fatal = nonsense and not isinstance(error, WrongDimensions)
        times = []
        for attempts, slots in groups.items():
            give_up = fatal and attempts >= MOST_NONSENSE
            state, until = S.PENDING, timezone.now() + wait_after(attempts, error)
            if give_up:
                state, until = S.FAILED, timezone.now() + DAILY
                log.warning("Project %s: %d texts given up: %s", self.project_id, len(slots), text)
            times.append(until)
            for some in chunks(slots, CHUNK):
                tried = Vector.objects.filter(slot__in=some, state=S.PENDING)
                tried.update(state=state, attempts=attempts, next_try=until, error=text)
        return min(times)

    def _wake(self) -> None:
        """The provider answers: what waits only because it did not may be tried now."""
        now = timezone.now()
        resting = waiting(self.project_id, self.model).filter(next_try__gt=now)
        resting = resting.exclude(error__startswith=NONSENSE)
        if resting.exists():
            resting.update(next_try=now)


def wait_after(attempts: int, error: ProviderUnavailable) -> timedelta:
    """How long to leave the provider alone: longer each time, not all at once, and as it asked."""
    seconds = min(FIRST_WAIT * 2 ** min(attempts - 1, 20), LONGEST_WAIT)
    seconds = min(seconds * (1 + JITTER * random.random()), LONGEST_WAIT)
    asked = min(float(error.data.get("retry_after") or 0), LONGEST_ASKED)
    return timedelta(seconds=max(seconds, asked))


def tick(project_id: UUID) -> int:
    """Raise the project's vector clock; other writers of vectors wait here until this one commits."""
    clock = VectorClock.objects.filter(project=project_id)
    if not clock.update(n=F("n") + 1):
        VectorClock.objects.bulk_create([VectorClock(project_id=project_id)], ignore_conflicts=True)
        clock.update(n=F("n") + 1)
    return clock.values_list("n", flat=True).get()


def _each(pairs: Sequence[tuple[Vector, Answer]], part: int, field: str) -> Case:
    """One expression that gives each row its own part of the answer: one statement for all of them."""
    kind: Any = Vector._meta.get_field(field)
    return Case(*[When(slot=row.slot, then=Value(answer[part], output_field=kind)) for row, answer in pairs])


def _either(numbers: Iterable[int]) -> str:
    return " and ".join(str(number) for number in sorted(numbers))


def chunks(values: Sequence[Any], size: int) -> Iterator[Sequence[Any]]:
    return (values[start : start + size] for start in range(0, len(values), size))
