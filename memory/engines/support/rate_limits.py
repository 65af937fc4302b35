"""Rate limits of keys: requests per minute, over a sliding minute.

Counted in Django's cache: this process's memory, or Redis where there are several processes. Refused requests
do not count, so that waiting for the stated time is enough.
"""

import math
import time
from contextlib import suppress
from hashlib import sha256
from uuid import UUID

from django.core.cache import cache

from memory.clock import read_time
from memory.exceptions import TOO_MANY, RateLimited
from memory.limits import LIMITS, Limit, find_reset
from memory.models.usage import get_usage
from memory.request_context import LimitNote, current_request

MINUTE = 60
REQUESTS, KEY_REQUESTS = LIMITS["requests"], LIMITS["key_requests"]


def count_request(key: str, rate: int, text: str | None = None, limit: Limit | None = None) -> str:
    """Count one request of a key; return its entry. Raises RateLimited with the seconds to wait.

    What is used of a limit that is named, the answer tells.
    """
    minute, passed = divmod(time.time(), MINUTE)
    now, before = f"rate:{key}:{int(minute)}", f"rate:{key}:{int(minute) - 1}"
    wait, used = wait_seconds(now, before, passed, rate)
    if limit:
        note_limit(limit, rate, used, math.ceil(MINUTE - passed))
    if wait and limit:
        named = {"what": str(limit.owner), "limit_name": limit.name}
        raise RateLimited(TOO_MANY, used=used, limit=rate, retry_after=wait, **named)
    if wait:
        raise RateLimited(text, retry_after=wait)
    return now


def count_key_request(key: str, rate: int, project_id: UUID | None) -> None:
    """Count a request of a key, and of its project where that has a limit. Raises RateLimited."""
    entry = count_request(key, rate, limit=KEY_REQUESTS)
    most = get_usage(project_id).limits[REQUESTS.name] if project_id else 0
    if not most:
        return
    try:
        count_request(f"project:{project_id}", most, limit=REQUESTS)
    except RateLimited:
        forget_request(entry)
        raise


def note_limit(limit: Limit, most: int, used: int, reset_seconds: int = 0) -> None:
    """Have the answer to the present request tell what is left of a limit."""
    if request := current_request.get():
        now = read_time()
        seconds = reset_seconds or int((find_reset(limit.window, now) - now).total_seconds()) + 1
        request.limits[limit.name] = LimitNote(limit, most, max(0, most - used), seconds)


def read_requests(key: str) -> int:
    """Return how many requests of a key or project count now."""
    minute, passed = divmod(time.time(), MINUTE)
    count, last = (cache.get(f"rate:{key}:{int(minute) - ago}", 0) for ago in (0, 1))
    return math.ceil(count + last * (1 - passed / MINUTE))


def hash_caller(text: str) -> str:
    """Return what stands in a key for a name or an address that a stranger may have made up."""
    return sha256(text.encode("utf-8", "replace")).hexdigest()[:32]


def forget_request(entry: str) -> None:
    """Remove a counted request."""
    with suppress(ValueError):
        cache.decr(entry)


def wait_seconds(now: str, before: str, passed: float, rate: int) -> tuple[int, int]:
    """Return the seconds until the next request is allowed, 0 for now, and how many count."""
    cache.add(now, 0, 2 * MINUTE)
    try:
        count, last = cache.incr(now), cache.get(before, 0)
    except ValueError:  # the cache was full and dropped the entry at once
        return 0, 0
    if (used := count + last * (1 - passed / MINUTE)) <= rate:
        return 0, math.ceil(used)
    forget_request(now)
    return max(1, math.ceil(window_end(rate, count, last) - passed)), rate


def window_end(rate: int, count: int, last: int) -> float:
    """Return the second, of this minute or the next, at which a request is allowed again."""
    if count <= rate:  # the previous minute's remaining weight is the obstacle
        return MINUTE * (1 - (rate - count) / last)
    return MINUTE * (1 + max(0.0, 1 - (rate - 1) / (count - 1)))
