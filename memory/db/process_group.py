"""What the processes of one server share: locks, small numbers and a bell.

`up` makes the group before it forks, and each process inherits its file, which has no name and ends with the
last of them. A lock is a byte of that file (POSIX): the system releases it with its process, however that
ends. A process without a group is alone, and shares nothing.
"""

import hashlib
import mmap
import os
import struct
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from time import monotonic, sleep

from memory import file_locks

SLOT = struct.Struct("<16sdq")  # digest of the key, when it expires, its number
SLOTS = 65_536
PROBES = 8  # slots in which a key may stand
NUMBERS_BYTE, FIRST_TURN_BYTE = SLOTS * SLOT.size, SLOTS * SLOT.size + 2
TURNS = 2**20
POLL_SECONDS = 0.001
FOREVER = float("inf")


class ProcessGroup:
    """The shared file, and whether one of the processes does the background work."""

    def __init__(self, has_worker: bool) -> None:
        self.has_worker = has_worker
        self._file = tempfile.TemporaryFile()  # noqa: SIM115  # open as long as the process
        self._file.truncate(SLOTS * SLOT.size)
        self._memory = mmap.mmap(self._file.fileno(), SLOTS * SLOT.size)
        self._mutex = threading.Lock()
        self._bell = os.pipe()
        for end in self._bell:
            os.set_blocking(end, end == self._bell[0])

    # ---- locks ---------------------------------------------------------------------------------

    def try_lock(self, byte: int) -> bool:
        """Lock a byte for this process; return False while another one holds it."""
        return file_locks.try_lock_byte(self._file.fileno(), byte)

    def unlock_byte(self, byte: int) -> None:
        file_locks.unlock_byte(self._file.fileno(), byte)

    # ---- numbers -------------------------------------------------------------------------------

    @contextmanager
    def hold_numbers(self) -> Iterator["Numbers"]:
        """Yield the numbers, which no other thread or process reads or writes meanwhile."""
        with self._mutex:
            file_locks.wait_for_byte(self._file.fileno(), NUMBERS_BYTE)
            try:
                yield Numbers(self._memory)
            finally:
                self.unlock_byte(NUMBERS_BYTE)

    # ---- the bell ------------------------------------------------------------------------------

    def ring_bell(self) -> None:
        """Wake the process that waits for the bell."""
        with suppress(BlockingIOError):  # it has rung often enough
            os.write(self._bell[1], b"!")

    def wait_for_bell(self) -> None:
        os.read(self._bell[0], 4096)


class Numbers:
    """Whole numbers by key, each until it expires. Where all slots of a key are taken, the one that expires
    first gives way.
    """

    def __init__(self, memory: mmap.mmap) -> None:
        self._memory = memory

    def get_number(self, key: str) -> int | None:
        """Return the number of a key; None for one that is not there."""
        digest = make_digest(key)
        for at in list_slots(digest):
            known, expires, number = SLOT.unpack_from(self._memory, at)
            if known == digest:
                return int(number) if expires > monotonic() else None
        return None

    def put_number(self, key: str, number: int, seconds: float = FOREVER) -> None:
        """Store a number for so many seconds; 0 removes it."""
        digest = make_digest(key)
        SLOT.pack_into(self._memory, self._choose_slot(digest), digest, monotonic() + seconds, number)

    def change_number(self, key: str, delta: int) -> int | None:
        """Add to the number of a key, which expires as before; return it, None for one that is not there."""
        digest = make_digest(key)
        for at in list_slots(digest):
            known, expires, number = SLOT.unpack_from(self._memory, at)
            if known == digest and expires > monotonic():
                SLOT.pack_into(self._memory, at, digest, expires, number + delta)
                return int(number + delta)
        return None

    def _choose_slot(self, digest: bytes) -> int:
        slots = list_slots(digest)
        own = [at for at in slots if SLOT.unpack_from(self._memory, at)[0] == digest]
        return own[0] if own else min(slots, key=lambda at: float(SLOT.unpack_from(self._memory, at)[1]))


def make_digest(key: str) -> bytes:
    return hashlib.blake2b(key.encode("utf-8", "replace"), digest_size=16).digest()


def list_slots(digest: bytes) -> list[int]:
    first = int.from_bytes(digest[:8], "little")
    return [(first + step) % SLOTS * SLOT.size for step in range(PROBES)]


class Turn:
    """A lock for which processes queue: whoever waits keeps the next ones out, so that a busy process cannot
    take it again and again. One thread of a process at a time may use it.
    """

    def __init__(self, group: ProcessGroup, name: str) -> None:
        number = int.from_bytes(make_digest(name)[:8], "little") % TURNS
        self._group, self._lock = group, FIRST_TURN_BYTE + 2 * number
        self._next = self._lock + 1

    def acquire(self, until: float) -> bool:
        """Acquire the lock and return True, or return False at this moment of the monotonic clock."""
        if not self._wait_for(self._next, until):
            return False
        try:
            return self._wait_for(self._lock, until)
        finally:
            self._group.unlock_byte(self._next)

    def release(self) -> None:
        self._group.unlock_byte(self._lock)

    def _wait_for(self, byte: int, until: float) -> bool:
        while not self._group.try_lock(byte):
            if monotonic() >= until:
                return False
            sleep(POLL_SECONDS)
        return True


_group: ProcessGroup | None = None


def get_group() -> ProcessGroup | None:
    """Return the group of this process; None for a process that is alone."""
    return _group


def start_group(has_worker: bool) -> ProcessGroup:
    """Make the group of the processes that this one will fork."""
    global _group
    _group = ProcessGroup(has_worker)
    return _group


def end_group() -> None:
    """Leave the group: this process is alone from now on."""
    global _group
    _group = None
