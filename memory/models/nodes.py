"""Row ids that several processes make at once without asking each other.

rid = milliseconds since 2024 (41 bits) | node (10 bits) | counter (12 bits). A node number is leased in
the database; no two processes hold one at the same time, so their ids never meet. The counter borrows
from the next millisecond and never goes back.
"""

import os
import secrets
import threading
import time
import uuid

from django.db import IntegrityError, models, transaction

from memory.conf import conf

EPOCH_MS = 1_704_067_200_000  # 2024-01-01T00:00:00Z
NODES = 1024
PER_MS = 4096


class Node(models.Model):
    """A node number and until when (milliseconds since 2024) somebody may make ids with it."""

    number = models.PositiveSmallIntegerField(primary_key=True)
    leased_until = models.BigIntegerField(default=0)
    holder = models.UUIDField()


class RowIds:
    """The ids of this process. Thread-safe; starts anew in a forked child."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.reset()

    def reset(self) -> None:
        self._holder = uuid.uuid4()
        self._node, self._until = -1, 0
        self._ms, self._counter = 0, 0

    def ready(self) -> None:
        """Hold a lease that lasts well into the next transaction. Call before one is begun.

        Inside a transaction the lease row could be rolled back while ids of it are in use.
        """
        with self._lock:
            if self._until - _now_ms() < conf().commit_node_seconds * 500:
                self._lease()

    def __call__(self) -> int:
        with self._lock:
            ms = max(_now_ms(), self._ms)
            if ms > self._ms:
                self._ms, self._counter = ms, 0
            elif self._counter == PER_MS - 1:
                self._ms, self._counter = ms + 1, 0
            else:
                self._counter += 1
            if self._ms >= self._until:
                self._lease()
            return self._ms << 22 | self._node << 12 | self._counter

    def _lease(self) -> None:
        until = max(_now_ms(), self._ms) + conf().commit_node_seconds * 1000
        if self._node < 0 or not self._renew(until):
            self._node = self._take(until)
        self._until = until

    def _renew(self, until: int) -> bool:
        mine = Node.objects.filter(number=self._node, holder=self._holder)
        return bool(mine.update(leased_until=until))

    def _take(self, until: int) -> int:
        start = secrets.randbelow(NODES)
        for step in range(NODES):
            number = (start + step) % NODES
            free = Node.objects.filter(number=number, leased_until__lte=_now_ms())
            if free.update(leased_until=until, holder=self._holder) or self._add(number, until):
                return number
        raise RuntimeError(f"All {NODES} node numbers are in use; wait a minute.")

    def _add(self, number: int, until: int) -> bool:
        if Node.objects.filter(number=number).exists():
            return False
        try:
            with transaction.atomic():
                Node.objects.create(number=number, leased_until=until, holder=self._holder)
        except IntegrityError:  # another process took it between the look and the insert
            return False
        return True


def _now_ms() -> int:
    return time.time_ns() // 1_000_000 - EPOCH_MS


next_rid = RowIds()
os.register_at_fork(after_in_child=next_rid.reset)


def new_rid() -> int:
    """A row id for a field's default (migrations need a plain function)."""
    return next_rid()


def uuid7() -> uuid.UUID:
    """A UUID version 7 (RFC 9562): 48 bits of milliseconds, then random."""
    value = time.time_ns() // 1_000_000 << 80 | secrets.randbits(80)
    value = value & ~(0xF << 76) | 0x7 << 76
    value = value & ~(0x3 << 62) | 0x2 << 62
    return uuid.UUID(int=value)
