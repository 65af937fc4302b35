"""Leases of background work: one worker has a row, by a token that its writes name.

A worker that slept for longer than its lease finds that the row is another's, and ends without a write. The
models have ``state``, ``resume_at`` (until when the lease lasts, or what waits must wait) and ``lease``.
"""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Self
from uuid import UUID, uuid4

from django.db.models import Model, Q, QuerySet

from memory.clock import read_time

QUEUED, RUNNING, WAITING = "queued", "running", "waiting"
LEASE_SECONDS = 60  # that a run has beside the time for an answer
FIRST_WAIT, MAX_WAIT = 30, 3600  # seconds
MAX_TRIES = 5  # without an answer


class LeaseLost(Exception):
    """Another worker has the row, or somebody has ended it."""


@dataclass(frozen=True)
class Lease:
    """The right of one worker to write a row."""

    model: type[Model]
    pk: UUID
    token: UUID | None

    @classmethod
    def of(cls, row: Any) -> Self:
        return cls(type(row), row.pk, row.lease)

    @property
    def owned(self) -> QuerySet[Any]:
        """The row, unless another worker has taken it since."""
        return self.model._default_manager.filter(pk=self.pk, lease=self.token)

    @property
    def running(self) -> QuerySet[Any]:
        """The row, while it is at work and this worker has it."""
        return self.owned.filter(state=RUNNING)

    def update(self, **values: Any) -> None:
        """Write columns of the row. Raises LeaseLost."""
        if not self.running.update(**values):
            raise LeaseLost

    def renew(self, seconds: float) -> None:
        """Say that the worker is alive. Raises LeaseLost."""
        self.update(resume_at=read_time() + timedelta(seconds=seconds))

    def postpone(self, seconds: float, **values: Any) -> None:
        """Give the row back, to be taken again after so many seconds. Raises LeaseLost."""
        resume_at = read_time() + timedelta(seconds=min(seconds, MAX_WAIT))
        self.update(state=WAITING, resume_at=resume_at, **values)


def claim_row(model: type[Model], pk: UUID, seconds: float) -> bool:
    """Take a row that no worker has, until its next sign of life is due; return whether it was free."""
    now = read_time()
    free = Q(state=QUEUED) | Q(state__in=[RUNNING, WAITING], resume_at__lte=now)
    taken = {"state": RUNNING, "resume_at": now + timedelta(seconds=seconds), "lease": uuid4()}
    return bool(model._default_manager.filter(free, pk=pk).update(**taken))


def list_due(model: type[Model]) -> list[UUID]:
    """Return the rows that waited long enough, or whose message or worker was lost."""
    due = model._default_manager.filter(state__in=[QUEUED, RUNNING, WAITING])
    due = due.exclude(resume_at__gt=read_time())
    return list(due.order_by("pk").values_list("pk", flat=True))


def choose_wait(tries: int, retry_after: int | None) -> float:
    """Return the seconds until the next try: what a server asked for, else twice as many each time."""
    return FIRST_WAIT * 2**tries if retry_after is None else retry_after
