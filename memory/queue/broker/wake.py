"""Wake-up of the consumers when a message may be due, those of the server's other processes too."""

import threading
from weakref import WeakSet

from memory.db.process_group import ProcessGroup, get_group

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
    if not _ring_own() and (group := get_group()):
        group.ring_bell()


def _ring_own() -> bool:
    """Wake the consumers of this process; return whether it has any."""
    with _lock:
        bells = list(_bells)
    for event in bells:
        event.set()
    return bool(bells)


def listen_to_group() -> None:
    """Let the other processes of the server wake the consumers of this one."""
    if group := get_group():
        threading.Thread(target=_listen, args=[group], name="day1-bell", daemon=True).start()


def _listen(group: ProcessGroup) -> None:
    while True:
        group.wait_for_bell()
        _ring_own()
