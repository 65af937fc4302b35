"""Who asks, and how often. Named in the settings of the REST framework."""

import math
import time
from contextlib import suppress
from typing import Any

from django.core.cache import cache
from rest_framework.authentication import BaseAuthentication
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from memory.actors import Actor
from memory.engines.keys import KeyEngine, actor_of
from memory.exceptions import RateLimited, Unauthenticated
from memory.models import ApiKey

SURFACE = "rest"


class KeyAuthentication(BaseAuthentication):
    """``Authorization: Bearer <key>``; ``request.auth`` is the Actor, ``request.user`` the key.

    The web UI's session opens nothing here, so there is nothing that another site could forge.
    """

    def authenticate(self, request: Request) -> tuple[ApiKey, Actor] | None:
        header = request.headers.get("Authorization")
        if not header:
            return None
        scheme, _, token = header.partition(" ")
        if scheme.lower() != "bearer" or not token.strip():
            raise Unauthenticated("The Authorization header must be: Bearer, a space, an API key.")
        key = KeyEngine().verify(token.strip())
        return key, actor_of(key, SURFACE)

    def authenticate_header(self, request: Request) -> str:
        return 'Bearer realm="day1"'


class HasKey(BasePermission):
    """What the key may do is checked in the engines, the same for every surface."""

    def has_permission(self, request: Request, view: Any) -> bool:
        if request.auth is None:
            raise Unauthenticated()
        return True


class KeyRate(BaseThrottle):
    """So many requests per minute and key, over a sliding minute.

    Counted in Django's cache: this process's memory, or Redis where there are several processes. What is
    refused does not count, so that waiting as told is enough.
    """

    MINUTE = 60

    def allow_request(self, request: Request, view: Any) -> bool:
        key = request.user
        if isinstance(key, ApiKey) and (wait := self._wait(str(key.pk), key.rate_per_minute)):
            raise RateLimited(retry_after=wait)
        return True

    def _wait(self, key: str, rate: int) -> int:
        """0, or the seconds until the next request will be let through."""
        minute, passed = divmod(time.time(), self.MINUTE)
        now, before = f"rate:{key}:{int(minute)}", f"rate:{key}:{int(minute) - 1}"
        cache.add(now, 0, 2 * self.MINUTE)
        try:
            count, last = cache.incr(now), cache.get(before, 0)
        except ValueError:  # the cache was full and dropped the entry at once
            return 0
        if count + last * (1 - passed / self.MINUTE) <= rate:
            return 0
        with suppress(ValueError):
            cache.decr(now)
        return max(1, math.ceil(self._until(rate, count, last) - passed))

    def _until(self, rate: int, count: int, last: int) -> float:
        """The second of this minute, or of the next, in which there is room again."""
        if count <= rate:  # what the last minute still weighs is in the way
            return self.MINUTE * (1 - (rate - count) / last)
        return self.MINUTE * (1 + max(0.0, 1 - (rate - 1) / (count - 1)))
