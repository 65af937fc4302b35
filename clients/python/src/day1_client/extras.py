"""What is said where an adapter is imported and its framework is not there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def needs(extra: str) -> Iterator[None]:
    """Import a framework; where that fails, its error says which extra of this package brings it."""
    try:
        yield
    except ImportError as error:  # it is not installed, or of a release that has other names
        error.msg = f"{error.msg}. This adapter needs its framework: pip install -U 'day1-client[{extra}]'"
        raise
