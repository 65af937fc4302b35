"""A small cache of one process: what was made of late, by what it depends on."""

from collections import OrderedDict
from collections.abc import Hashable
from threading import Lock
from time import monotonic
from typing import Generic, TypeVar

Value = TypeVar("Value")


class TimedCache(Generic[Value]):
    """Values by key; each is kept for some seconds, and of too many the oldest goes."""

    def __init__(self, max_entries: int, seconds: float) -> None:
        self.max_entries, self.seconds = max_entries, seconds
        self._found: OrderedDict[Hashable, tuple[float, Value]] = OrderedDict()
        self._lock = Lock()

    def get(self, key: Hashable) -> Value | None:
        with self._lock:
            kept = self._found.get(key)
        return kept[1] if kept and monotonic() - kept[0] < self.seconds else None

    def put(self, key: Hashable, value: Value) -> None:
        with self._lock:
            self._found[key] = monotonic(), value
            self._found.move_to_end(key)
            while len(self._found) > self.max_entries:
                self._found.popitem(last=False)
