"""What can become of a transaction that is nobody's fault. Raised by the backends, told by the surfaces."""

from django.db import OperationalError


class CommitLost(OperationalError):
    """The connection was lost while a transaction was committed: it is in the database, or it is not."""
