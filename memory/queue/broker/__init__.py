"""A Celery broker in Day1's own database: a message is sent when its transaction commits, or never."""

from kombu.transport import TRANSPORT_ALIASES

SCHEME = "djangodb"


def register_transport() -> None:
    """Register djangodb:// with Celery. Call it before Celery opens a connection."""
    TRANSPORT_ALIASES[SCHEME] = "memory.queue.broker.transport:Transport"


def in_database(url: str) -> bool:
    """Return whether a broker URL names this broker."""
    return url.split(":", 1)[0] == SCHEME
