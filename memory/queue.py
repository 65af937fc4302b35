"""Work for later, by name: engines never import tasks. A lost message costs seconds, never data."""

from typing import Any

from memory.models import QueueMessage  # noqa: F401


def enqueue(name: str, *args: Any) -> None:
    """Send the task ``name`` when the running transaction commits (or now, outside of one)."""
