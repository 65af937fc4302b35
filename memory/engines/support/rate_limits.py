"""How often a key may ask: so many requests per minute, over a sliding minute.

Counted in Django's cache: this process's memory, or Redis where there are several processes. What is
refused does not count, so that waiting as told is enough.
"""

import math
import time
from contextlib import suppress

from django.core.cache import cache

from memory.exceptions import RateLimited

MINUTE = 60


def count_request(key: str, rate: int) -> None:
    """Count one request of a key. Raises RateLimited with the seconds to wait."""
    if wait := _wait(key, rate):
        raise RateLimited(retry_after=wait)


def _wait(key: str, rate: int) -> int:
    """0, or the seconds until the next request will be let through."""
    minute, passed = divmod(time.time(), MINUTE)
    now, before = f"rate:{key}:{int(minute)}", f"rate:{key}:{int(minute) - 1}"
    cache.add(now, 0, 2 * MINUTE)
    try:
        count, last = cache.incr(now), cache.get(before, 0)
    except ValueError:  # the cache was full and dropped the entry at once
        return 0
    if count + last * (1 - passed / MINUTE) <= rate:
        return 0
    with suppress(ValueError):
        cache.decr(now)
    return max(1, math.ceil(_until(rate, count, last) - passed))


def _until(rate: int, count: int, last: int) -> float:
    """The second of this minute, or of the next, in which there is room again."""
    if count <= rate:  # what the last minute still weighs is in the way
        return MINUTE * (1 - (rate - count) / last)
    return MINUTE * (1 + max(0.0, 1 - (rate - 1) / (count - 1)))
