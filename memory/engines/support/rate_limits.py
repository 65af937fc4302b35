"""Rate limits of keys: requests per minute, over a sliding minute.

Counted in Django's cache: this process's memory, or Redis where there are several processes. Refused requests
do not count, so that waiting for the stated time is enough.
"""

import math
import time
from contextlib import suppress
from hashlib import sha256

from django.core.cache import cache

from memory.exceptions import RateLimited

MINUTE = 60


def count_request(key: str, rate: int, text: str | None = None) -> str:
    """Count one request of a key; return its entry. Raises RateLimited with the seconds to wait."""
    minute, passed = divmod(time.time(), MINUTE)
    now, before = f"rate:{key}:{int(minute)}", f"rate:{key}:{int(minute) - 1}"
    if wait := wait_seconds(now, before, passed, rate):
        raise RateLimited(text, retry_after=wait)
    return now


def hash_caller(text: str) -> str:
    """Return what stands in a key for a name or an address that a stranger may have made up."""
    return sha256(text.encode("utf-8", "replace")).hexdigest()[:32]


def forget_request(entry: str) -> None:
    """Remove a counted request."""
    with suppress(ValueError):
        cache.decr(entry)


def wait_seconds(now: str, before: str, passed: float, rate: int) -> int:
    """Return the seconds until the next request is allowed, 0 for now."""
    cache.add(now, 0, 2 * MINUTE)
    try:
        count, last = cache.incr(now), cache.get(before, 0)
    except ValueError:  # the cache was full and dropped the entry at once
        return 0
    if count + last * (1 - passed / MINUTE) <= rate:
        return 0
    forget_request(now)
    return max(1, math.ceil(window_end(rate, count, last) - passed))


def window_end(rate: int, count: int, last: int) -> float:
    """Return the second, of this minute or the next, at which a request is allowed again."""
    if count <= rate:  # the previous minute's remaining weight is the obstacle
        return MINUTE * (1 - (rate - count) / last)
    return MINUTE * (1 + max(0.0, 1 - (rate - 1) / (count - 1)))
