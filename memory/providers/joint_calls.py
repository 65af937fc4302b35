"""Questions of several threads, answered together: what comes while one is answered is the next batch."""

from collections.abc import Callable, Iterable
from concurrent.futures import Future
from itertools import islice
from threading import Condition
from typing import Any

from memory.db.work_slots import work_slots


class JointCalls:
    """Calls of one function, which answers at most ``size`` questions at once; equal ones are one."""

    def __init__(self, answer_all: Callable[[list[str]], Iterable[Any]], size: int) -> None:
        self._answer_all, self._size = answer_all, size
        self._changed = Condition()
        self.waiting: dict[str, Future[Any]] = {}
        self._is_busy = False

    def ask(self, question: str) -> Any:
        """Return the answer to a question. Raises what the function raises for its batch."""
        with self._changed:
            own = self.waiting.setdefault(question, Future())
        while not own.done():
            if not self._answer_batch():
                self._wait_for(own)
        return own.result()

    def _answer_batch(self) -> bool:
        """Answer what waits; return False where another thread does so."""
        with self._changed:
            if self._is_busy:
                return False
            self._is_busy = True
            batch = dict(islice(self.waiting.items(), self._size))
        try:
            for future, answer in zip(batch.values(), self._answer_all(list(batch)), strict=True):
                future.set_result(answer)
        except BaseException as error:  # whatever it was, nobody waits for an answer that does not come
            for future in batch.values():
                if not future.done():
                    future.set_exception(error)
        finally:
            self._end_batch(batch)
        return True

    def _end_batch(self, batch: Iterable[str]) -> None:
        with self._changed:
            self._is_busy = False
            for question in batch:
                del self.waiting[question]
            self._changed.notify_all()

    def _wait_for(self, own: Future[Any]) -> None:
        """Wait until a question is answered, or nobody answers any; others work meanwhile."""
        with work_slots.leave_slot(), self._changed:
            self._changed.wait_for(lambda: own.done() or not self._is_busy)
