"""Row ids that several processes generate without coordination.

rid = milliseconds since 2024 (41 bits) | node (10 bits) | counter (12 bits). They go by a clock that never
goes back, and that begins where the store ends. A node number is leased in the
database; no two processes have one at the same time, so their ids never collide. The counter borrows from the
next millisecond and never goes back.
"""

import secrets
import threading
import uuid
from array import array
from collections.abc import Sequence

from django.db import connection, models, transaction

from memory.clock import clock
from memory.conf import conf
from memory.db.transactions import before_write_transaction
from memory.processes import after_fork

EPOCH_MS = 1_704_067_200_000  # 2024-01-01T00:00:00Z
NODES = 1024
RANDOM_MASK = (1 << 62) - 1  # of a UUID version 7
COUNTER_BITS = 12
PER_MS = 1 << COUNTER_BITS
RID_MS_SHIFT = 22  # bits of node and counter
SPARE_MS = 1000  # of a lease that is extended: many ids at once are of several milliseconds


class Node(models.Model):
    """A node number with the expiry of its lease (milliseconds since 2024)."""

    number = models.PositiveSmallIntegerField(primary_key=True)
    leased_until = models.BigIntegerField(default=0)
    holder = models.UUIDField()

    class Meta:
        db_table = "memory_nodelease"  # older code fails without its own: see memory.db.sqlite.base


class Lease:
    """A time-limited lease of one node number, and the ids generated with it."""

    def __init__(self) -> None:
        self.holder = uuid.uuid4()
        self.until = lease_end()
        self.node = self._find_number(self.until)
        self._last = 0  # milliseconds, and the counter behind them

    def take_ids(self, count: int) -> Sequence[int]:
        """Return the next ids; none when the lease has expired."""
        first = max(read_ms() << COUNTER_BITS, self._last + 1)
        self._last = first + count - 1
        if self._last >> COUNTER_BITS >= self.until:
            return ()
        return [self._build_id(*divmod(at, PER_MS)) for at in range(first, first + count)]

    def _build_id(self, ms: int, counter: int) -> int:
        return ms << RID_MS_SHIFT | self.node << COUNTER_BITS | counter

    def extend_lease(self) -> bool:
        """Extend the lease; return False when another process has the number."""
        until = max(lease_end(), (self._last >> COUNTER_BITS) + SPARE_MS)
        if lease := Node.objects.filter(number=self.node, holder=self.holder).update(leased_until=until):
            self.until = until
        return bool(lease)

    def _find_number(self, until: int) -> int:
        start = secrets.randbelow(NODES)
        for step in range(NODES):
            number = (start + step) % NODES
            free = Node.objects.filter(number=number, leased_until__lte=read_ms())
            if free.update(leased_until=until, holder=self.holder) or self._add_number(number, until):
                return number
        raise RuntimeError(f"All {NODES} node numbers are in use; wait a minute.")

    def _add_number(self, number: int, until: int) -> bool:
        if Node.objects.filter(number=number).exists():
            return False
        node = Node(number=number, leased_until=until, holder=self.holder)
        Node.objects.bulk_create([node], ignore_conflicts=True)  # another process may be faster
        return Node.objects.filter(number=number, holder=self.holder).exists()


class RowIds:
    """The ids of this process. Thread-safe; reset in a forked child."""

    def __init__(self) -> None:
        self.drop_leases()

    def drop_leases(self) -> None:
        self._lock = threading.Lock()  # never held during a query
        self._leasing = threading.Lock()  # held during queries, but never inside a transaction
        self._shared: Lease | None = None
        self._inside = threading.local()

    def ensure_lease(self) -> None:
        """Acquire a lease that outlasts the next transaction. Call it before one begins."""
        if connection.in_atomic_block or self._lasts_long():
            return
        with self._leasing:
            if self._lasts_long():
                return
            if self._shared is None or not self._shared.extend_lease():
                lease = Lease()
                with self._lock:
                    self._shared = lease

    def __call__(self) -> int:
        return self.take_ids(1)[0]

    def take_ids(self, count: int) -> Sequence[int]:
        """Return so many ids, one after the other."""
        while not (rids := self._take_shared(count)) and count:
            if connection.in_atomic_block:
                return self._take_in_transaction(count)
            self.ensure_lease()
        return rids

    def _take_shared(self, count: int) -> Sequence[int]:
        with self._lock:
            return self._shared.take_ids(count) if self._shared else ()

    def _lasts_long(self) -> bool:
        with self._lock:
            until = self._shared.until if self._shared else 0
        return until - read_ms() > conf().commit_node_seconds * 500

    def _take_in_transaction(self, count: int) -> Sequence[int]:
        """Return ids under a lease that exists only in the running transaction.

        If it were shared, its row could be rolled back while others generate ids with it.
        """
        lease, mark = getattr(self._inside, "lease", (None, None))
        if lease is None or not any(entry[1] is mark for entry in connection.run_on_commit):
            lease, mark = Lease(), _Mark()
            self._inside.lease = (lease, mark)
            transaction.on_commit(mark)
        while not (rids := lease.take_ids(count)):
            lease.extend_lease()
        return rids


class _Mark:
    """A marker in a transaction's on_commit list, which disappears with a rollback."""

    def __call__(self) -> None:
        """Do nothing."""


def read_ms() -> int:
    """Return the milliseconds since 2024, by a clock that never goes back."""
    return clock.read_ms() - EPOCH_MS


def continue_ids(newest: int) -> None:
    """Make all ids of this process greater than a stored row id, also where the clock was set back."""
    clock.raise_to(((newest >> RID_MS_SHIFT) + EPOCH_MS + 1) * 1000)


def lease_end() -> int:
    return read_ms() + conf().commit_node_seconds * 1000


next_rid = RowIds()
before_write_transaction.append(next_rid.ensure_lease)
after_fork(next_rid.drop_leases)


def new_rid() -> int:
    """Return a row id for a field's default (migrations need a plain function)."""
    return next_rid()


class PublicIds:
    """UUIDs version 7 (RFC 9562): 48 bits of milliseconds, a counter of 12 bits, 62 random bits.

    The ids of one process are in the order in which it made them: lists sort by them, and an answer follows
    its question. The counter borrows from the next millisecond, as that of row ids does.
    """

    def __init__(self) -> None:
        self.restart_ids()

    def restart_ids(self) -> None:
        self._lock = threading.Lock()
        self._last = 0

    def __call__(self) -> uuid.UUID:
        return self.take_ids(1)[0]

    def take_ids(self, count: int) -> list[uuid.UUID]:
        """Return so many ids, one after the other."""
        drawn = array("Q", secrets.token_bytes(8 * (count + 1)))
        with self._lock:
            # A millisecond starts in its lower half, so that two processes rarely collide.
            start = clock.read_ms() << COUNTER_BITS | drawn[count] >> 53
            first = max(self._last + 1, start)
            self._last = first + count - 1
        return [self._build_id(first + at, drawn[at]) for at in range(count)]

    @staticmethod
    def _build_id(at: int, drawn: int) -> uuid.UUID:
        ms, counter = at >> COUNTER_BITS, at & PER_MS - 1
        return uuid.UUID(int=ms << 80 | 7 << 76 | counter << 64 | 1 << 63 | drawn & RANDOM_MASK)


new_uuid = PublicIds()
after_fork(new_uuid.restart_ids)


def uuid7() -> uuid.UUID:
    """Return a public id (a field's default must be a plain function)."""
    return new_uuid()


def uuid7_near(other: uuid.UUID, steps: int) -> uuid.UUID:
    """Return an id that sorts right after another one, or before it with negative ``steps``; more steps lie
    farther away, and all of them before the next id that a process makes.

    For what happened between two things that have their ids already: lists sort by them.
    """
    low = (other.int & RANDOM_MASK) + (steps << 32) + secrets.randbits(31)
    if not 0 <= low <= RANDOM_MASK:  # once in about 100,000 times: it then sorts as the newest
        return new_uuid()
    return uuid.UUID(int=other.int & ~RANDOM_MASK | low)
