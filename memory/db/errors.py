"""Errors of transactions that no caller is at fault for. Backends raise them, surfaces report them."""

from django.db import OperationalError

from memory.exceptions import NoStore, StoreDamaged, StoreNewer, StoreOlder


class DatabaseAway(OperationalError):
    """A failure to reach the database server, or a connection lost outside of a commit."""


class CommitLost(OperationalError):
    """A connection lost during a commit, whose outcome is unknown."""


class StorageRefused(OperationalError):
    """A write refused by the disk; stored data can still be read. ``state`` has the reason."""

    state = "failing"
    texts = {
        "full": "The disk of the server is full, so nothing was stored; try again when there is room.",
        "read_only": "The disk of the server takes no writes, so nothing was stored; try again later.",
        "failing": "The disk of the server does not work properly, so nothing was stored; try again later.",
    }

    @property
    def text(self) -> str:
        return self.texts[self.state]


class DamageFound(StoreDamaged, OperationalError):
    """A damaged part of the database file, or a write to a store that is marked as damaged."""


class NewerStore(StoreNewer, OperationalError):
    """A connection to a store that a newer release has migrated."""


class OlderStore(StoreOlder, OperationalError):
    """A connection to a store that has only some of the migrations which the first ones replace."""


class ForeignFile(NoStore, OperationalError):
    """A connection to a database file of another program."""


def is_busy(error: BaseException | None) -> bool:
    """Return whether others held the database for too long, so that nothing was stored."""
    return isinstance(error, OperationalError) and "lock" in str(error).lower()
