"""The request that is being answered: its id, which answer, log and audit share, and its route."""

import re
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import NamedTuple
from uuid import uuid4

from memory.limits import DAY, MINUTE, Limit

WINDOW_SECONDS = {MINUTE: 60, DAY: 86_400}
VALID_ID = re.compile(r"[A-Za-z0-9._:/+=-]{1,64}")


class LimitNote(NamedTuple):
    """What is left of a limit that a request was counted for."""

    limit: Limit
    most: int
    remaining: int
    reset_seconds: int


@dataclass
class RequestContext:
    id: str
    address: str = ""  # of the client, as the outermost trusted proxy saw it
    route: str = ""  # the address with names in place of values; "" where no view answers it
    limits: dict[str, LimitNote] = field(default_factory=dict)  # by name, that the answer tells
    trace: dict[str, str] = field(default_factory=dict)  # headers that name the caller's span


current_request: ContextVar[RequestContext | None] = ContextVar("current_request", default=None)


def begin_request(given_id: str) -> RequestContext:
    """Begin a request with the id that a proxy gave it; with a new one where that is none."""
    request = RequestContext(given_id if VALID_ID.fullmatch(given_id) else uuid4().hex)
    current_request.set(request)
    return request


def get_request_id() -> str:
    """Return the id of the request that is being answered; "" outside of one."""
    request = current_request.get()
    return request.id if request else ""


def render_limits(request: RequestContext) -> list[tuple[bytes, bytes]]:
    """Return the headers that tell of limits, as draft-ietf-httpapi-ratelimit-headers-11 has them."""
    if not request.limits:
        return []
    notes = request.limits.values()
    policies = (
        f'"{one.limit.name}";q={clip(one.most)};w={WINDOW_SECONDS[one.limit.window]}{name_unit(one.limit)}'
        for one in notes
    )
    states = (f'"{one.limit.name}";r={clip(one.remaining)};t={one.reset_seconds}' for one in notes)
    return [(b"ratelimit-policy", ", ".join(policies).encode()), (b"ratelimit", ", ".join(states).encode())]


def clip(number: int) -> int:
    """Return the number, or the highest that a structured field can tell (RFC 9651)."""
    return min(number, 10**15 - 1)


def name_unit(limit: Limit) -> str:
    """Return the parameter of a unit, which is requests where none is named."""
    return "" if limit.unit == "requests" else f';qu="{limit.unit}"'
