"""Request counters that several processes share: in the memory of one server, or in Redis.

Without Redis nothing is counted and nothing fails.
"""

import logging
from collections.abc import Callable
from time import monotonic, time
from typing import Any

from django.core.cache.backends.base import DEFAULT_TIMEOUT
from django.core.cache.backends.locmem import LocMemCache
from django.core.cache.backends.redis import RedisCache

from memory.db.process_group import FOREVER, get_group

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
        from redis.exceptions import RedisError  # a start without Redis need not wait for its client

        cls = type(self)  # each thread has its own cache object, but they share one Redis
        if monotonic() < cls._silent_until:
            return without
        try:
            return ask(*args, **kwargs)
        except RedisError as error:
            cls._silent_until = monotonic() + RETRY_SECONDS
            logger.warning("Redis does not answer, requests are not counted: %s", error)
            return without


class ServerCache(LocMemCache):
    """Django's cache in memory, in which all processes of a server count together.

    It shares whole numbers, which ``incr`` and ``decr`` change; any other value is its process's own.
    """

    def add(self, key: Any, value: Any, timeout: Any = DEFAULT_TIMEOUT, version: int | None = None) -> bool:
        if not (group := get_group()) or type(value) is not int:
            return super().add(key, value, timeout, version)
        own, expires = self.make_and_validate_key(key, version), self.get_backend_timeout(timeout)
        with group.hold_numbers() as numbers:
            is_new = numbers.get_number(own) is None
            if is_new:
                numbers.put_number(own, value, FOREVER if expires is None else expires - time())
        return is_new

    def get(self, key: Any, default: Any = None, version: int | None = None) -> Any:
        if group := get_group():
            with group.hold_numbers() as numbers:
                number = numbers.get_number(self.make_and_validate_key(key, version))
            if number is not None:
                return number
        return super().get(key, default, version)

    def incr(self, key: Any, delta: int = 1, version: int | None = None) -> int:
        """Add to a counter and return it. Raises ValueError for a missing key, as every cache does."""
        if not (group := get_group()):
            return super().incr(key, delta, version)
        with group.hold_numbers() as numbers:
            number = numbers.change_number(self.make_and_validate_key(key, version), delta)
        if number is None:
            raise ValueError(f"Key {key!r} not found")
        return number
