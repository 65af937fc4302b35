"""A Celery broker in Day1's own database: a message is sent when its transaction commits, or never."""

from kombu.transport import TRANSPORT_ALIASES

SCHEME = "djangodb"


def register() -> None:
    """Make djangodb:// known to Celery. Must run before Celery opens a connection."""
    TRANSPORT_ALIASES[SCHEME] = "memory.broker.transport:Transport"


def in_database(url: str) -> bool:
    """True when a broker URL names this broker."""
    return url.split(":", 1)[0] == SCHEME
