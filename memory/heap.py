"""Freed memory of the C library's heap, which keeps it for a later use."""

import ctypes
from collections.abc import Callable
from contextlib import suppress
from functools import cache


def trim_heap() -> None:
    """Return freed memory to the system, where the C library can do that (glibc)."""
    if trim := find_trim():
        trim(0)


@cache
def find_trim() -> Callable[[int], object] | None:
    with suppress(OSError, AttributeError, TypeError):
        trim: Callable[[int], object] = ctypes.CDLL(None).malloc_trim
        return trim
    return None
