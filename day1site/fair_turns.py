"""Turns of projects in front of the threads: what one sends at once waits behind the first of another.

A project that is alone has all threads. Once another one has sent something, each has few requests in
progress, for as long as that lasts: what comes then finds a free thread, a free interpreter and a short queue
of writers. See docs/decisions/0099.
"""

import asyncio
import re
from collections import Counter, OrderedDict, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from time import monotonic
from zlib import crc32

from django.conf import settings
from django.http.cookie import parse_cookie

from memory.db.process_group import FIRST_TURN_BYTE, TURNS, get_group
from memory.engines.access.known_callers import find_project, hash_browser, hash_secret
from memory.processes import count_cores

KEY = re.compile(rb"bearer\s+(day1_\S+)", re.IGNORECASE)
PAGE = re.compile(r"(?:/admin)?/p/([a-z0-9_-]+)")
STRANGERS = ""  # all together have the turns of one project, and are another project to nobody
ACTIVE_SECONDS = 0.5  # for which a project counts as there after its last request
SHARED_TURNS = max(1, count_cores() // 2)  # of a project beside others, in all processes together
LONG_SECONDS = (
    1.0  # after which a request that is at work, such as one that waits for a model, counts no more
)
POLL_SECONDS = 0.005  # between two looks at the turns of other processes
FIRST_LOCK_BYTE, LOCKS = FIRST_TURN_BYTE + TURNS, 4096
MARKS = 64  # of projects that are active, by a digest of their names
MARK_SECONDS = 0.1  # between two of one project


class FairTurns:
    """Requests in progress and those that wait, by project; ``most`` is for one that is alone."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._running: Counter[str] = Counter()
        self._waiting: OrderedDict[str, deque[asyncio.Future[None]]] = OrderedDict()
        self._activity, self._locks = Activity(), TurnLocks()
        self._timer: asyncio.TimerHandle | None = None

    @asynccontextmanager
    async def hold_turn(self, project: str) -> AsyncIterator[None]:
        """Wait for the turn of a project's request, and hold it."""
        self._activity.note(project)
        if self._waiting.get(project) or not self._may_begin(project):
            await self._wait(project)
        else:
            self._running[project] += 1
        turn = Turn(self, project)
        lapse = asyncio.get_running_loop().call_later(LONG_SECONDS, turn.end)
        try:
            yield
        finally:
            lapse.cancel()
            self._activity.note(project)
            turn.end()

    async def _wait(self, project: str) -> None:
        turn = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(project, deque()).append(turn)
        self._poll_later()
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():  # it had its turn already
                self.end_turn(project)
            raise

    def _may_begin(self, project: str) -> bool:
        if not self._activity.has_others(project):
            return self._running[project] < self.most
        running = self._running[project]
        if running >= SHARED_TURNS:
            return False
        return running < self._locks.count(project) or self._locks.hold_another(project)

    def end_turn(self, project: str) -> None:
        self._running[project] -= 1
        self._locks.leave_above(project, self._running[project])
        if not self._running[project]:
            del self._running[project]
        self._admit()

    def _admit(self) -> None:
        """Give turns to those that wait, the projects one after the other."""
        for project in list(self._waiting):
            turns = self._waiting[project]
            while turns and (turns[0].done() or self._may_begin(project)):
                if not (turn := turns.popleft()).done():
                    self._running[project] += 1
                    turn.set_result(None)
            if not turns:
                del self._waiting[project]
        if self._waiting:  # another process may have the turn, and tells nobody when it ends
            self._poll_later()

    def _poll_later(self) -> None:
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(POLL_SECONDS, self._poll)

    def _poll(self) -> None:
        self._timer = None
        self._admit()


class Turn:
    """A turn, which ends once: with its request, or before it where that takes long."""

    def __init__(self, turns: FairTurns, project: str) -> None:
        self._turns, self._project, self._is_over = turns, project, False

    def end(self) -> None:
        if not self._is_over:
            self._is_over = True
            self._turns.end_turn(self._project)


class TurnLocks:
    """Turns of projects beside others, over all processes: each is a lock, which ends with its process."""

    def __init__(self) -> None:
        self._owned: dict[str, list[int]] = {}

    def hold_another(self, project: str) -> bool:
        """Take one more turn of a project for this process; return whether there was one."""
        owned, first = self._owned.setdefault(project, []), FIRST_LOCK_BYTE + crc32(project.encode()) % LOCKS
        group = get_group()
        occupied = {byte for bytes_ in self._owned.values() for byte in bytes_}
        for byte in range(first, first + SHARED_TURNS):
            if byte not in occupied and (group is None or group.try_lock(byte)):
                owned.append(byte)
                return True
        return False

    def count(self, project: str) -> int:
        return len(self._owned.get(project, ()))

    def leave_above(self, project: str, running: int) -> None:
        """Leave the turns of a project that nothing of it needs any more."""
        owned, group = self._owned.get(project, []), get_group()
        while len(owned) > running:
            byte = owned.pop()
            if group:
                group.unlock_byte(byte)
        if not owned:
            self._owned.pop(project, None)


class Activity:
    """Which projects have sent something lately, to any process of the server."""

    def __init__(self) -> None:
        self._noted: dict[str, float] = {}  # in this process, when
        self._read_at = 0.0
        self._marks: dict[int, bool] = {}  # of all processes

    def note(self, project: str) -> None:
        """Note that a project is there."""
        if project == STRANGERS:
            return
        now = monotonic()
        if now - self._noted.get(project, 0.0) < MARK_SECONDS:
            return
        self._noted = {one: at for one, at in self._noted.items() if now - at < ACTIVE_SECONDS}
        self._noted[project] = now
        if group := get_group():
            with group.hold_numbers() as numbers:
                numbers.put_number(f"active:{find_mark(project)}", 1, ACTIVE_SECONDS)

    def has_others(self, project: str) -> bool:
        """Return whether another project has sent something lately."""
        now = monotonic()
        if any(one != project and now - at < ACTIVE_SECONDS for one, at in self._noted.items()):
            return True
        if now - self._read_at > MARK_SECONDS and (group := get_group()):
            self._read_at = now
            with group.hold_numbers() as numbers:
                self._marks = {n: numbers.get_number(f"active:{n}") is not None for n in range(MARKS)}
        own = find_mark(project) if project else None
        return any(is_active for mark, is_active in self._marks.items() if mark != own)


def find_mark(project: str) -> int:
    return sum(project.encode()) % MARKS


def name_project(headers: list[tuple[bytes, bytes]], path: str) -> str | None:
    """Return the project of which a request is, by a key or login that was let in lately; STRANGERS for
    another key or page. None for a key of the server, and for who shows no key and wants no page of a
    project: these wait for nobody.
    """
    sent = dict(headers)
    if key := KEY.match(sent.get(b"authorization", b"")):
        shown = hash_secret(key[1].decode("latin-1"))
    elif page := PAGE.match(path):
        cookies = parse_cookie(sent.get(b"cookie", b"").decode("latin-1"))
        shown = hash_browser(cookies.get(settings.SESSION_COOKIE_NAME, ""), page[1])
    else:
        return None
    project = find_project(shown)
    return STRANGERS if project is None else project or None
