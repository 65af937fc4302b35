"""The processes that serve: forked from one that does nothing else, and started again when they end.

The supervisor has no thread and no connection, so that it may fork at any time. See decision 0031.
"""

import logging
import os
import signal
import threading
from collections.abc import Callable
from contextlib import suppress
from time import monotonic
from traceback import print_exc
from types import FrameType
from typing import NoReturn

logger = logging.getLogger(__name__)

SIGNALS = (signal.SIGINT, signal.SIGTERM)
SHORT_SECONDS = 10.0  # a process that ends within them did not really serve
MAX_SHORT_LIVES = 3  # one after the other, from which on all stop

Work = Callable[[int, bool], None]


class Supervisor:
    """``work`` is called in each process with its number and whether that starts for the first time."""

    def __init__(self, count: int, work: Work, before_stop: Callable[[], None]) -> None:
        self.count, self.work, self.before_stop = count, work, before_stop
        self.children: dict[int, tuple[int, float]] = {}  # process id -> number, and when it started
        self.stopping = False
        self.short_lives = 0
        self.life = os.pipe()  # closed with this process: the others end when they see that

    def run(self) -> bool:
        """Run until a signal; return False when the processes cannot keep running."""
        for one in SIGNALS:
            signal.signal(one, self.pass_on)
        for number in range(self.count):
            self.start(number, True)
        while self.children:
            process, status = os.wait()
            self.note_end(process, os.waitstatus_to_exitcode(status))
        return self.short_lives < MAX_SHORT_LIVES

    def pass_on(self, number: int, frame: FrameType | None = None) -> None:
        """Pass a signal to all processes, which stop by it."""
        if not self.stopping:
            self.stopping = True
            self.before_stop()
        for process in self.children:
            with suppress(ProcessLookupError):
                os.kill(process, number)

    def start(self, number: int, first: bool) -> None:
        signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
        try:
            if not self.stopping:
                if (process := os.fork()) == 0:
                    self.become(number, first)
                self.children[process] = (number, monotonic())
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)

    def become(self, number: int, first: bool) -> NoReturn:
        """Serve in the forked process, and end it."""
        code = 1
        try:
            # Ctrl-C reaches the group of a terminal's foreground: the supervisor alone, which passes it on.
            os.setpgid(0, 0)
            for one in SIGNALS:
                signal.signal(one, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
            os.close(self.life[1])
            threading.Thread(target=self.watch, name="day1-supervisor", daemon=True).start()
            self.work(number, first)
            code = 0
        except BaseException:
            print_exc()
        finally:
            os._exit(code)

    def watch(self) -> None:
        """End this process at once when the supervisor has ended, as a kill of the whole would."""
        os.read(self.life[0], 1)
        os._exit(1)

    def note_end(self, process: int, code: int) -> None:
        """Start a process again that ended by itself; stop all where that happens again and again."""
        number, since = self.children.pop(process, (None, 0.0))
        if number is None or self.stopping:  # the first process of a container gets orphans of others too
            return
        reason = f"signal {-code}" if code < 0 else f"status {code}"
        self.short_lives = self.short_lives + 1 if monotonic() - since < SHORT_SECONDS else 0
        if self.short_lives >= MAX_SHORT_LIVES:
            logger.error("Process %d of the server ended with %s: all stop.", number + 1, reason)
            self.pass_on(signal.SIGTERM)
            return
        logger.error("Process %d of the server ended with %s and is started again.", number + 1, reason)
        self.start(number, False)
