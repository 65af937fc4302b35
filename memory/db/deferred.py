"""Deferred results: arithmetic in a thread, while the caller reads the database."""

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache, cached_property
from typing import Any

from memory.processes import after_fork


class Deferred(Sequence[Any]):
    """A sequence computed in another thread; any access waits for it."""

    def __init__(self, make: Callable[[], Sequence[Any]]) -> None:
        self._make = make

    @cached_property
    def _target(self) -> Sequence[Any]:
        return self._make()

    def __iter__(self) -> Iterator[Any]:
        return iter(self._target)

    def __len__(self) -> int:
        return len(self._target)

    def __getitem__(self, at: Any) -> Any:
        return self._target[at]


def run_in_thread(work: Callable[..., Sequence[Any]], *args: Any) -> Deferred:
    """Run work in a thread and return its deferred result. The work must not use the database."""
    return Deferred(get_executor().submit(work, *args).result)


@cache
def get_executor() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(os.cpu_count() or 1, thread_name_prefix="beside")


after_fork(get_executor.cache_clear)
