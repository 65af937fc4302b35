"""Counters in Redis, for more than one process. Where it is away, nothing is counted and nothing fails."""

import logging
from collections.abc import Callable
from time import monotonic
from typing import Any

from django.core.cache.backends.redis import RedisCache
from redis.exceptions import RedisError

logger = logging.getLogger(__name__)
PAUSE = 5.0  # seconds in which a Redis that did not answer is not asked again


class PatientRedisCache(RedisCache):
    """As Django's, but an entry that cannot be asked for is one that is not there."""

    _silent_until = 0.0

    def add(self, *args: Any, **kwargs: Any) -> bool:
        return self._asked(super().add, True, *args, **kwargs)

    def get(self, key: Any, default: Any = None, version: int | None = None) -> Any:
        return self._asked(super().get, default, key, default, version)

    def incr(self, key: Any, delta: int = 1, version: int | None = None) -> int:
        """Raises ValueError for a key that is not there, as every cache does."""
        if (count := self._asked(super().incr, None, key, delta, version)) is None:
            raise ValueError(f"Key {key!r} not found")
        return count

    def _asked(self, ask: Callable[..., Any], without: Any, *args: Any, **kwargs: Any) -> Any:
        cls = type(self)  # each thread has a cache of its own, and all of them one Redis
        if monotonic() < cls._silent_until:
            return without
        try:
            return ask(*args, **kwargs)
        except RedisError as error:
            cls._silent_until = monotonic() + PAUSE
            logger.warning("Redis does not answer, requests are not counted: %s", error)
            return without
