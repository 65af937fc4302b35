"""Wake-up of this process's consumers when a message may be due."""

import threading
from weakref import WeakSet

_lock = threading.Lock()
_bells: WeakSet[threading.Event] = WeakSet()


def wakeup_event() -> threading.Event:
    """Return an event that every ``notify`` sets, for as long as its owner keeps it."""
    event = threading.Event()
    with _lock:
        _bells.add(event)
    return event


def notify() -> None:
    """Wake the consumers, which read the queue now instead of at their next poll."""
    with _lock:
        bells = list(_bells)
    for event in bells:
        event.set()
