"""Wakes the consumers of this process when there may be something to do."""

import threading
from weakref import WeakSet

_lock = threading.Lock()
_bells: WeakSet[threading.Event] = WeakSet()


def bell() -> threading.Event:
    """An event that every ``ring`` sets, for as long as its owner keeps it."""
    event = threading.Event()
    with _lock:
        _bells.add(event)
    return event


def ring() -> None:
    """Consumers look at the queue now instead of at their next poll."""
    with _lock:
        bells = list(_bells)
    for event in bells:
        event.set()
