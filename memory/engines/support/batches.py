"""Work in batches: parts of a long sequence, and reports of progress."""

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

Value = TypeVar("Value")
Progress = Callable[[int, int], None]


def batched(values: Sequence[Value], size: int) -> Iterator[Sequence[Value]]:
    """Return the values in batches of at most ``size``, in their order."""
    return (values[start : start + size] for start in range(0, len(values), size))


def ignore_progress(done: int, total: int) -> None:
    """Ignore progress."""
