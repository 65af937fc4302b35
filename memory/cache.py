"""Request counters in Redis, shared by several processes.

Without Redis nothing is counted and nothing fails.
"""

import logging
from collections.abc import Callable
from time import monotonic
from typing import Any

from django.core.cache.backends.redis import RedisCache
from redis.exceptions import RedisError

logger = logging.getLogger(__name__)
RETRY_SECONDS = 5.0  # seconds without calls after Redis failed to answer


class PatientRedisCache(RedisCache):
    """Django's Redis cache, which treats every entry as missing while Redis does not answer."""

    _silent_until = 0.0

    def add(self, *args: Any, **kwargs: Any) -> bool:
        return self._ask_server(super().add, True, *args, **kwargs)

    def get(self, key: Any, default: Any = None, version: int | None = None) -> Any:
        return self._ask_server(super().get, default, key, default, version)

    def incr(self, key: Any, delta: int = 1, version: int | None = None) -> int:
        """Add to a counter and return it. Raises ValueError for a missing key, as every cache does."""
        if (count := self._ask_server(super().incr, None, key, delta, version)) is None:
            raise ValueError(f"Key {key!r} not found")
        return count

    def _ask_server(self, ask: Callable[..., Any], without: Any, *args: Any, **kwargs: Any) -> Any:
        cls = type(self)  # each thread has its own cache object, but they share one Redis
        if monotonic() < cls._silent_until:
            return without
        try:
            return ask(*args, **kwargs)
        except RedisError as error:
            cls._silent_until = monotonic() + RETRY_SECONDS
            logger.warning("Redis does not answer, requests are not counted: %s", error)
            return without
