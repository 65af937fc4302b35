"""What can become of a transaction that is nobody's fault. Raised by the backends, told by the surfaces."""

from django.db import OperationalError


class DatabaseAway(OperationalError):
    """Nobody answers at the database's address, or the connection to it was lost outside of a commit."""


class CommitLost(OperationalError):
    """The connection was lost while a transaction was committed: it is in the database, or it is not."""
