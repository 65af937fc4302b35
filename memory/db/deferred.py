"""Work for another thread: pure arithmetic that frees the interpreter, beside a walk in the database."""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache, cached_property
from typing import Any


class Later(Sequence[Any]):
    """A sequence in the making: who looks into it waits for it."""

    def __init__(self, make: Callable[[], Sequence[Any]]) -> None:
        self._make = make

    @cached_property
    def _made(self) -> Sequence[Any]:
        return self._make()

    def __len__(self) -> int:
        return len(self._made)

    def __getitem__(self, at: Any) -> Any:
        return self._made[at]


def beside(work: Callable[..., Sequence[Any]], *args: Any) -> Later:
    """The work's answer. It must not touch the database: connections belong to their threads."""
    return Later(_threads().submit(work, *args).result)


@cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(os.cpu_count() or 1, thread_name_prefix="beside")


os.register_at_fork(after_in_child=_threads.cache_clear)
